# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Forces and torques in the cut joints, from the multipliers of their rows."""

from __future__ import annotations

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism


class ConstraintWrenches:
    """Wrench of each frame-based constraint on the child's link.

    A row is a wrench w = (f, n) at the world's origin whose product with the child's motion
    relative to the parent's is the rate of the row, so the generalized force Aᵀλ is that of the
    wrench Σ λ w on the child and its opposite on the parent. It is given in the axes and at the
    origin of the child's link, whose name is the frame of the message: a force along the link's x
    axis is positive. Joint friction is not part of it, but its effect on the multipliers is.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._model = mechanism.model
        self._constraints = mechanism.constraints
        self._workspace = mechanism.model.workspace()
        self._links = {
            spec.name: spec.child.link
            for spec in mechanism.spec.constraints
            if spec.child is not None
        }
        self.names = tuple(self._links)
        self._wrenches = np.zeros((0, 6))

    def frame_id(self, name: str) -> str:
        """Link in whose frame the wrench of a constraint is given."""
        return self._links[name]

    def update(self, q: Array, multipliers: Array) -> None:
        """Set configuration (nq,) and joint multipliers (m,)."""
        self._workspace.update_positions(q)
        self._wrenches = multipliers[:, None] * self._constraints.wrenches(self._workspace)

    def on_child(self, name: str) -> Array:
        """Force in N and torque in N·m on the child's link, (6,)."""
        total = self._wrenches[self._constraints.slices[name]].sum(axis=0)
        frame = self._model.frame_index(self._links[name])
        rotation = self._workspace.rotation[frame]
        force = total[:3]
        torque = total[3:] - np.cross(self._workspace.translation[frame], force)
        return np.concatenate((force @ rotation, torque @ rotation))
