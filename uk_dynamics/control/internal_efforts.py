"""Efforts that press the joints of loops and move nothing: squeezing a load, taking up backlash."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import ActiveConstraints, Array, State

_REACHED = 1e-8  # of the forces asked for
_INDEPENDENT = 1e-9  # of the largest row


def internal_efforts(
    mechanism: Mechanism,
    state: State,
    forces: Mapping[str, float],
    *,
    active: ActiveConstraints | None = None,
) -> dict[str, float]:
    """Efforts whose only effect is that rows of loops bear more, by motor.

    S u + Aᵀ δ = 0 with the wanted δ: what motors add, the loops take. Rows of the same constraints
    that are not named bear no more than before, those of other constraints what it takes. Among
    such efforts those are given whose sum of (effort/limit)² is least. They depend on the
    configuration: give them anew to ``ServoController.command(state, preload=...)`` as it moves.

    Args:
        mechanism: With more motors than freedoms.
        state: Where it is.
        forces: Additional force in N, or torque in N·m, by constraint row, ``constraint.label``.
        active: Switchable constraints that are on; None: those that the mechanism file says.

    Raises:
        UnknownNameError: There is no such row.
        InputError: The motors cannot, whatever their limits; or redundant rows share that force.
    """
    names = mechanism.row_names
    for name in forces:
        if name not in names:
            raise UnknownNameError("constraint row", name, names, file=mechanism.spec.file)
    actuators, constraints = mechanism.actuators, mechanism.constraints
    acting = mechanism.hierarchy.acting(active)
    rows = mechanism.terms(state).A * acting[:, None]
    given = np.zeros(len(names), dtype=bool)
    for part in constraints.slices.values():
        given[part] = any(name in forces for name in names[part])
    added = np.array([forces.get(name, 0.0) for name in names]) / constraints.reference_scale
    wanted = -added[given] @ rows[given]
    left, sizes, _ = np.linalg.svd(rows[~given].T, full_matrices=True)
    taken = left[:, : int(np.sum(sizes > _INDEPENDENT * sizes.max(initial=0.0)))]

    def untaken(vectors: Array) -> Array:
        """What other constraints do not bear, of generalized forces (nv, ...)."""
        return np.asarray(vectors - taken @ (taken.T @ vectors))

    limits = actuators.effort_limits
    unit = limits if np.isfinite(limits).all() else np.ones(len(limits))
    demand = untaken(wanted)
    size = float(np.abs(wanted).max(initial=0.0))
    if size and float(np.abs(demand).max()) <= _REACHED * size:
        raise InputError(
            f"redundant rows share the force of {', '.join(forces)}: no efforts decide it;"
            " leave rows out, or choose others",
            file=mechanism.spec.file,
            place="constraints",
        )
    found = unit * np.linalg.lstsq(untaken(actuators.matrix * unit), demand)[0]
    lack = float(np.abs(untaken(actuators.matrix @ found) - demand).max(initial=0.0))
    if lack > _REACHED * max(size, 1e-300):
        raise InputError(
            f"the motors cannot press {', '.join(forces)} without moving the machine; name other"
            " rows of the loop, or add motors",
            file=mechanism.spec.file,
            place="actuators",
        )
    return actuators.by_name(found)
