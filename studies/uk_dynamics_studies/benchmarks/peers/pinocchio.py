# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Pinocchio's own constrained dynamics: by sparse Cholesky factors, and by articulated bodies."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pinocchio as pin

from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.peers.peer import PeerError, closures

Algorithm = Literal["constraintDynamics", "lcaba"]

# mu = 0 gives NaN on redundant rows, mu = 1e-12 drifts; these do neither. lcaba divides by mu
# early, and is best with a larger one.
_SETTINGS = {"constraintDynamics": (1e-12, 1e-8, 50), "lcaba": (1e-12, 1e-4, 100)}
_TYPES = {"point": pin.ContactType.CONTACT_3D, "weld": pin.ContactType.CONTACT_6D}


class PinocchioPeer:
    """Accelerations without stabilisation: compare at states on the constraints."""

    def __init__(self, mechanism: Mechanism, algorithm: Algorithm = "constraintDynamics") -> None:
        """Convert the loops."""
        if not hasattr(pin, algorithm):
            raise PeerError(f"Pinocchio {pin.__version__} has no {algorithm}")
        self._mechanism = mechanism
        self.model = mechanism.model.pinocchio
        try:
            self.data = self.model.createData()
        except MemoryError:
            raise PeerError(f"Pinocchio has no memory for {self.model.nv} velocities") from None
        self.constraints = pin.StdVec_RigidConstraintModel()
        for kind, constraint in closures(mechanism):
            first, second = (
                self.model.frames[self.model.getFrameId(f"{constraint.name}/{role}")]
                for role in ("child", "parent")
            )
            self.constraints.append(
                pin.RigidConstraintModel(
                    _TYPES[kind],
                    self.model,
                    int(first.parentJoint),
                    first.placement,
                    int(second.parentJoint),
                    second.placement,
                )
            )
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for contact in self.constraints:
            self.constraint_data.append(contact.createData())
        self.settings = pin.ProximalSettings(*_SETTINGS[algorithm])
        self._solve: Any = getattr(pin, algorithm)
        if algorithm == "lcaba":
            pin.computeJointMinimalOrdering(self.model, self.data, self.constraints)
        else:
            self._initialize()

    @staticmethod
    def expresses(mechanism: Mechanism) -> bool:
        """Whether all constraints are contacts of Pinocchio that always hold, without springs."""
        if mechanism.forces.active:
            return False
        try:
            closures(mechanism)
        except PeerError:
            return False
        return True

    def _initialize(self) -> None:
        try:
            pin.initConstraintDynamics(
                self.model, self.data, self.constraints, self.constraint_data
            )
        except TypeError:  # Pinocchio 3
            pin.initConstraintDynamics(self.model, self.data, self.constraints)

    def mass_matrix(self, state: State) -> Array:
        """M, (nv, nv)."""
        return np.array(pin.crba(self.model, self.model.createData(), state.q))

    def bias(self, state: State) -> Array:
        """Coriolis, centrifugal and gravity forces, (nv,)."""
        data = self.model.createData()
        return np.array(pin.nonLinearEffects(self.model, data, state.q, state.v))

    def acceleration(self, state: State, tau: Array) -> Array:
        """Constrained acceleration under generalized forces, (nv,); passive forces included."""
        passive = self._mechanism.passive.force(state.q, state.v)
        return np.array(self.bare(state.q, state.v, tau + passive))

    def bare(self, q: Array, v: Array, force: Array) -> Array:
        """The solver alone; a view of its memory."""
        acceleration: Array = self._solve(
            self.model,
            self.data,
            q,
            v,
            force,
            self.constraints,
            self.constraint_data,
            self.settings,
        )
        return acceleration

    def differentiate(self) -> object:
        """Derivatives of the last solution, without those of passive forces."""
        return pin.computeConstraintDynamicsDerivatives(
            self.model, self.data, self.constraints, self.constraint_data, self.settings
        )

    def slopes(self, state: State, tau: Array) -> tuple[Array, Array, Array]:
        """Derivatives by q and v, passive forces included, and by forces, (nv, nv) each.

        For loops of points the first column of those by q is wrong where the first joint turns
        (Pinocchio 3.7, 4.1): ``loop_span_indexes`` of RigidConstraintModel begins with nv zeros,
        so that a part of that column is added nv times more.
        """
        self.acceleration(state, tau)  # whose solution is differentiated
        self.differentiate()
        by_q, by_v, by_force = (
            np.array(part) for part in (self.data.ddq_dq, self.data.ddq_dv, self.data.ddq_dtau)
        )
        passive, space, step = self._mechanism.passive, self._mechanism.model, 1e-6
        for column, axis in enumerate(step * np.eye(len(state.v))):
            q = [space.integrate(state.q, sign * axis) for sign in (1.0, -1.0)]
            moved = passive.force(q[0], state.v) - passive.force(q[1], state.v)
            faster = passive.force(state.q, state.v + axis) - passive.force(state.q, state.v - axis)
            by_q[:, column] += by_force @ moved / (2.0 * step)
            by_v[:, column] += by_force @ faster / (2.0 * step)
        return by_q, by_v, by_force
