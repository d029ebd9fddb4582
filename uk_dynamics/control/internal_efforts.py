"""Efforts that press the joints of loops and move nothing: squeezing a load, taking up backlash."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import ActiveConstraints, Array, Inputs, State

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
    configuration: a controller takes them anew in every period where the tasks file has them as
    ``allocation.internal_forces``, or :meth:`ServoController.press` was called.

    Args:
        mechanism: With more motors than freedoms.
        state: Where it is.
        forces: Additional force in N, or torque in N·m, by constraint row, ``constraint.label``.
        active: Switchable constraints that are on; None: those that the mechanism file says.

    Raises:
        UnknownNameError: There is no such row.
        InputError: The motors cannot, whatever their limits; or redundant rows share that force.
    """
    return mechanism.actuators.by_name(InternalEfforts(mechanism, forces).at(state, active))


def pressing(mechanism: Mechanism, forces: Mapping[str, float]) -> InternalEfforts | None:
    """What presses these rows, tried where motions start; None where no force is asked for.

    Raises:
        UnknownNameError, InputError: As :func:`internal_efforts`.
    """
    found = InternalEfforts(mechanism, forces)
    if not any(forces.values()):
        return None
    found.at(mechanism.start())
    return found


class InternalEfforts:
    """The same at state after state; see :func:`internal_efforts`.

    Attributes:
        forces: What is asked for, by row, in N or N·m.
    """

    def __init__(self, mechanism: Mechanism, forces: Mapping[str, float]) -> None:
        """Look up the rows.

        Args:
            mechanism: With more motors than freedoms.
            forces: Additional force in N, or torque in N·m, by constraint row.

        Raises:
            UnknownNameError: There is no such row.
            InputError: A force is not finite.
        """
        names, constraints = mechanism.row_names, mechanism.constraints
        for name, force in forces.items():
            if name not in names:
                raise UnknownNameError("constraint row", name, names, file=mechanism.spec.file)
            if not np.isfinite(force):
                raise InputError(f"expected a finite number, found {force}", place=name)
        self.forces = dict(forces)
        self._mechanism = mechanism
        self._dynamics = InterpretedDynamics(mechanism)
        given = np.zeros(len(names), dtype=bool)
        for part in constraints.slices.values():
            given[part] = any(name in forces for name in names[part])
        self._given = given
        self._added = np.array([forces.get(name, 0.0) for name in names])
        self._added /= constraints.reference_scale
        limits = mechanism.actuators.effort_limits
        self._unit = limits if np.isfinite(limits).all() else np.ones(len(limits))

    def added_to(
        self,
        preload: Array | None,
        state: State,
        active: ActiveConstraints | None,
        structure: Mapping[str, ReferenceSample],
    ) -> Array:
        """The efforts of :meth:`at` and a preload, (motors,), together."""
        efforts = self.at(state, active, structure)
        return efforts if preload is None else preload + efforts

    def at(
        self,
        state: State,
        active: ActiveConstraints | None = None,
        structure: Mapping[str, ReferenceSample] | None = None,
    ) -> Array:
        """Efforts at a state, (motors,), in N or N·m.

        Args:
            state: Where the mechanism is.
            active: Switchable constraints that are on; None: those that the mechanism file says.
            structure: What replaces the references of structural constraints, by name.

        Raises:
            InputError: The motors cannot, whatever their limits; or redundant rows share a force.
        """
        given, mechanism, unit = self._given, self._mechanism, self._unit
        acting = mechanism.hierarchy.acting(active)
        inputs = Inputs(active=active, references=structure)
        rows = self._dynamics.terms(state, inputs).A * acting[:, None]
        wanted = -self._added[given] @ rows[given]
        left, sizes, _ = np.linalg.svd(rows[~given].T, full_matrices=False)
        taken = left[:, : int(np.sum(sizes > _INDEPENDENT * sizes.max(initial=0.0)))]

        def untaken(vectors: Array) -> Array:
            """What other constraints do not bear, of generalized forces (nv, ...)."""
            return np.asarray(vectors - taken @ (taken.T @ vectors))

        demand = untaken(wanted)
        size = float(np.abs(wanted).max(initial=0.0))
        if size == 0.0:
            return np.zeros(len(unit))
        if float(np.abs(demand).max()) <= _REACHED * size:
            raise InputError(
                f"redundant rows share the force of {', '.join(self.forces)}: no efforts decide it;"
                " leave rows out, or choose others",
                file=mechanism.spec.file,
                place="constraints",
            )
        driven = untaken(mechanism.actuators.matrix * unit)
        found = np.asarray(np.linalg.lstsq(driven, demand)[0], dtype=float)
        if float(np.abs(driven @ found - demand).max(initial=0.0)) > _REACHED * size:
            raise InputError(
                f"the motors cannot press {', '.join(self.forces)} without moving the machine; name"
                " other rows of the loop, or add motors",
                file=mechanism.spec.file,
                place="actuators",
            )
        efforts: Array = unit * found
        return efforts
