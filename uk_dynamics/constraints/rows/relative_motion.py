# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The one primitive of all frame-based kinds: how a child frame moves relative to a parent frame.

Spatial vectors are taken at the world's origin, linear part first. With V the spatial velocity and
G = J̇ v the velocity-dependent spatial acceleration, the point of interest of a pair is the
child's origin p. A row is a wrench w = (f, n) fixed in the parent body; its rate is
w · (V_child − V_parent), so its Jacobian is w J with the columns of joints that move both frames
cancelled exactly.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.rows.vectors import Bilinear, motion_cross
from uk_dynamics.model.kinematics import Ancestry

AncestorMask = Array | Ancestry  # 1 where a velocity coordinate moves a frame, (frames, nv)


class FrameKinematics(Protocol):
    """What the rows need to know of a robot at one state (the model's workspace has it)."""

    @property
    def jacobian(self) -> Array:
        """World Jacobian of all joints, (6, nv): m/s or rad/s per unit of joint velocity."""

    @property
    def jacobian_rate(self) -> Array:
        """Time derivative of ``jacobian``, (6, nv)."""

    @property
    def rotation(self) -> Array:
        """Rotations of all frames, (frames, 3, 3)."""

    @property
    def translation(self) -> Array:
        """Origins of all frames in the world, (frames, 3), in m."""


class FramePairs:
    """K pairs of frames."""

    def __init__(
        self, parent: Sequence[int], child: Sequence[int], ancestor_mask: AncestorMask
    ) -> None:
        """Pair frames by their indices, (K,) each.

        ancestor_mask: 1 where a velocity coordinate moves a frame, (frames, nv).
        """
        self.parent: Indices = np.array(parent, dtype=np.intp)  # frame indices, (K,)
        self.child: Indices = np.array(child, dtype=np.intp)  # frame indices, (K,)
        self._ancestor_mask = ancestor_mask

    @cached_property
    def sign(self) -> Array:
        """How each velocity moves the child relative to the parent, (K, nv).

        1, or −1 where it moves the parent alone, 0 where it moves both or none.
        """
        return self._ancestor_mask[self.child] - self._ancestor_mask[self.parent]

    @cached_property
    def reach(self) -> Array:
        """How many of the two frames each velocity moves, (K, nv)."""
        return self._ancestor_mask[self.child] + self._ancestor_mask[self.parent]

    @cached_property
    def _masks(self) -> Array:
        return np.concatenate((self._ancestor_mask[self.parent], self.sign))

    def twist(self, kinematics: FrameKinematics, v: Array) -> "RelativeTwist":
        """Relative velocities and acceleration bias at a state with joint velocities v, (nv,).

        A wrench fixed in the parent body changes by V_p ×* w, and the line of action of a force
        follows the child's origin, which moves with velocity u in the parent body. Collecting
        both: bias = ΔG − V_p × ΔV + (ω_rel × u, 0).
        """
        count = len(self.parent)
        moved = self._masks * v
        twists = moved.dot(kinematics.jacobian.T)
        rate = moved[count:].dot(kinematics.jacobian_rate.T)
        origin = kinematics.translation.take(self.child, 0)
        return relative_twist(twists[:count], twists[count:], rate, origin)


def relative_twist(parent: Array, delta: Array, rate: Array, origin: Array) -> "RelativeTwist":
    """Motion of K pairs from V_p, ΔV and ΔG, (K, 6); ΔG is overwritten with the bias.

    See :meth:`FramePairs.twist`.
    """
    linear = _SPUN(delta, origin)
    linear += delta[:, :3]
    rate -= motion_cross(parent, delta)
    rate[:, :3] += _SPUN(delta, linear)
    return RelativeTwist(delta[:, 3:], linear, rate)


# angular part of a twist × a vector
_SPUN = Bilinear((0, 3, 0))


class RelativeTwist(NamedTuple):
    """Velocities of K pairs and the acceleration they have at zero joint acceleration."""

    # Angular velocity of the child relative to the parent, in the world, (K, 3), rad/s
    angular: Array
    linear: Array  # Velocity of the child's origin as seen from the parent body, (K, 3), m/s
    # Spatial vector (K, 6) whose product with a wrench row fixed in the parent frame is the second
    # derivative of that row at zero joint acceleration, m/s² and rad/s²
    bias: Array
