"""Pinocchio's constraint solver on the same mechanism, as an independent answer for q̈."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import State

# Loops that the contact types of Pinocchio can express; in a planar mechanism the row across the
# plane is satisfied by construction, so a point contact does what a frame on x and z does.
_TYPES = {
    "point": pin.ContactType.CONTACT_3D,
    "weld": pin.ContactType.CONTACT_6D,
    "frame": pin.ContactType.CONTACT_3D,
}


class PinocchioOracle:
    """``constraintDynamics`` without stabilisation; compare at states on the constraints."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.model = mechanism.model.pinocchio
        self.data = self.model.createData()
        self.constraints = pin.StdVec_RigidConstraintModel()
        for constraint in mechanism.constraints.constraints:
            self.constraints.append(self._contact(constraint))
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for contact in self.constraints:
            self.constraint_data.append(contact.createData())
        # mu = 0 gives NaN on redundant rows, mu = 1e-12 drifts; these settings do neither.
        self.settings = pin.ProximalSettings(1e-12, 1e-8, 50)
        self._initialize()

    @staticmethod
    def expresses(mechanism: Mechanism) -> bool:
        """Whether there are constraints, all of them contacts of Pinocchio that always hold."""
        found = mechanism.constraints.constraints
        planar = {f"{c.name}.{label}" for c in found if c.kind == "frame" for label in "xz"}
        rows = {name for c in found if c.kind == "frame" for name in c.row_names}
        if mechanism.hierarchy.switchable:
            return False
        return bool(found) and all(c.kind in _TYPES for c in found) and rows == planar

    def _contact(self, constraint):
        first, second = (
            self.model.frames[self.model.getFrameId(f"{constraint.name}/{role}")]
            for role in ("child", "parent")
        )
        return pin.RigidConstraintModel(
            _TYPES[constraint.kind],
            self.model,
            int(first.parentJoint),
            first.placement,
            int(second.parentJoint),
            second.placement,
        )

    def _initialize(self) -> None:
        try:
            pin.initConstraintDynamics(
                self.model, self.data, self.constraints, self.constraint_data
            )
        except TypeError:  # Pinocchio 3
            pin.initConstraintDynamics(self.model, self.data, self.constraints)

    def acceleration(self, state: State, tau: np.ndarray) -> np.ndarray:
        """Constrained acceleration under generalized forces, (nv,); passive forces included."""
        passive = self._mechanism.passive.force(state.q, state.v)
        return pin.constraintDynamics(
            self.model,
            self.data,
            state.q,
            state.v,
            tau + passive,
            self.constraints,
            self.constraint_data,
            self.settings,
        ).copy()
