# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motor efforts that cause internal forces and no motion: squeezing a load, preloading backlash."""

from collections.abc import Mapping

import numpy as np

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.servo import INDEPENDENT, INTERNAL_REACHED
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism


def internal_efforts(
    mechanism: Mechanism,
    state: State,
    forces: Mapping[str, float],
    *,
    active: ActiveConstraints | None = None,
) -> dict[str, float]:
    """Efforts whose only effect is to change multipliers of the loops, by motor.

    S u + Aᵀ δ = 0 with the desired change δ of the multipliers: the loops balance the motors. Other
    rows of the named constraints keep their multipliers; those of other constraints change as
    needed. Of all such efforts, those with the least sum of (effort/limit)² are returned. They
    depend on the configuration: a controller computes them in every period if the tasks file has
    ``allocation.internal_forces`` or after :meth:`ServoController.set_internal_forces`.

    Args:
        mechanism: With more motors than degrees of freedom.
        state: Positions and time.
        forces: Additional force in N, or torque in N·m, by constraint row, ``constraint.label``.
        active: Switchable constraints that are on; None: as in the mechanism file.

    Raises:
        UnknownNameError: There is no such row.
        InputError: The motors cannot cause these forces, whatever their limits; or redundant rows
            share them.
    """
    return mechanism.actuators.by_name(InternalEfforts(mechanism, forces).at(state, active))


def checked_internal_efforts(
    mechanism: Mechanism, forces: Mapping[str, float]
) -> "InternalEfforts | None":
    """As :func:`internal_efforts`, tried at the start of motions; None: all of them are zero."""
    found = InternalEfforts(mechanism, forces)
    if not any(forces.values()):
        return None
    found.at(mechanism.start())
    return found


class InternalEfforts:
    """Evaluates :func:`internal_efforts` at many states."""

    def __init__(self, mechanism: Mechanism, forces: Mapping[str, float]) -> None:
        names, constraints = mechanism.row_names, mechanism.constraints
        expect_names("constraint row", forces, names, file=mechanism.spec.file)
        for name, force in forces.items():
            if not np.isfinite(force):
                raise InputError(f"expected a finite number, found {force}", place=name)
        self.forces = dict(forces)  # desired internal forces by row, in N or N·m
        self._mechanism = mechanism
        self._dynamics = InterpretedDynamics(mechanism)
        given = np.zeros(len(names), dtype=bool)
        for part in constraints.slices.values():
            given[part] = any(name in forces for name in names[part])
        self.named = given
        self.added = np.array([forces.get(name, 0.0) for name in names])
        self.added /= constraints.reference_scale
        limits = mechanism.actuators.effort_limits
        self.unit = limits if np.isfinite(limits).all() else np.ones(len(limits))

    def added_to(
        self,
        preload: Array | None,
        state: State,
        active: ActiveConstraints | None,
        structure: Mapping[str, ReferenceSample],
    ) -> Array:
        """A preload plus the efforts of :meth:`at`, (motors,)."""
        efforts = self.at(state, active, structure)
        return efforts if preload is None else preload + efforts

    def at(
        self,
        state: State,
        active: ActiveConstraints | None = None,
        structure: Mapping[str, ReferenceSample] | None = None,
    ) -> Array:
        """Efforts at a state, (motors,), in N or N·m."""
        given, mechanism, unit = self.named, self._mechanism, self.unit
        acting = mechanism.hierarchy.acting(active)
        inputs = Inputs(active=active, references=structure)
        rows = self._dynamics.terms(state, inputs).A * acting[:, None]
        desired = -self.added[given] @ rows[given]
        left, sizes, _ = np.linalg.svd(rows[~given].T, full_matrices=False)
        basis = left[:, : int(np.sum(sizes > INDEPENDENT * sizes.max(initial=0.0)))]

        def unbalanced(vectors: Array) -> Array:
            """The part of generalized forces, (nv, ...), that other constraints do not balance."""
            return np.asarray(vectors - basis @ (basis.T @ vectors))

        demand = unbalanced(desired)
        size = float(np.abs(desired).max(initial=0.0))
        if size == 0.0:
            return np.zeros(len(unit))
        if float(np.abs(demand).max()) <= INTERNAL_REACHED * size:
            raise InputError(
                f"redundant rows share the force of {', '.join(self.forces)}: efforts do not"
                " determine it; leave rows out, or choose others",
                file=mechanism.spec.file,
                place="constraints",
            )
        driven = unbalanced(mechanism.actuators.matrix * unit)
        found = np.asarray(np.linalg.lstsq(driven, demand)[0], dtype=float)
        if float(np.abs(driven @ found - demand).max(initial=0.0)) > INTERNAL_REACHED * size:
            raise InputError(
                f"the motors cannot cause internal forces in {', '.join(self.forces)} without"
                " motion; name other rows of the loop, or add motors",
                file=mechanism.spec.file,
                place="actuators",
            )
        efforts: Array = unit * found
        return efforts
