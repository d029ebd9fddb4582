# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Evaluation of a large tree: nothing in it grows faster than the number of joints.

Pinocchio's memory grows with the third power of nv: at 1,500 velocities it asks for 100 GB.
"""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.core.linalg import skew
from uk_dynamics.core.tree import Clusters, Tree, TreeInertia
from uk_dynamics.model.kinematics.bodies import Body, BodyFrame
from uk_dynamics.model.kinematics.chart import bracket
from uk_dynamics.model.kinematics.workspace import Workspace


class TreeWorkspace(Workspace):
    """A workspace for trees of joints with one freedom each, and a floating root."""

    # M(q) as bodies and joints, never written out; as ``mass`` it makes an array when asked to
    inertia: TreeInertia

    def __init__(
        self,
        found: Sequence[Body],  # bodies by velocity, as :func:`by_freedom` makes them
        frames: Sequence[BodyFrame],  # named frames
        carriers: Indices,  # the body of each, −1 for the world
        *,
        armature: Array,  # rotor inertia by velocity, (nv,), in kg m² or kg
        gravity: Array,  # (3,), in m/s²
        # which joints loops couple; None: each is a cluster of its own
        clusters: Clusters | None = None,
    ) -> None:
        """Copy the numbers of a model."""
        self.clusters = clusters or Clusters(Tree([body.parent for body in found]), [])
        self.tree = self.clusters.tree
        self._rotation = _stacked([body.rotation for body in found], (3, 3))
        self._translation = _stacked([body.translation for body in found], (3,))
        self._axis = _stacked([body.axis for body in found], (3,))
        self._floats = bool(found) and found[0].kind == "floating"
        self._turns = np.array([body.kind == "revolute" for body in found], dtype=bool)
        self._turns[3 : 6 * self._floats] = True  # the root about its axes
        # The body in which the axis of each freedom is fixed, after which it turns.
        self._settled = np.arange(len(found))
        self._settled[: 6 * self._floats] = 5
        self._nq = len(found) + self._floats
        self._mass = np.array([body.mass for body in found])
        self._center = _stacked([body.center for body in found], (3,))
        self._inertias = _stacked([body.inertia for body in found], (3, 3))
        self._armature, self._gravity = armature, gravity
        # R(q) = 1 + sin q [a] + (1 − cos q) [a]², applied to the fixed rotation at once
        cross = skew(self._axis)
        self._sine = self._rotation @ cross
        self._versine = self._sine @ cross
        self._slide = np.einsum("ijk,ik->ij", self._rotation, self._axis)
        self._carrier = carriers
        self._frame_rotation = _stacked([frame.rotation for frame in frames], (3, 3))
        self._frame_translation = _stacked([frame.translation for frame in frames], (3,))
        start = np.zeros(self._nq)
        start[6 : 7 * self._floats] = 1.0
        self.update_positions(start)

    def update(self, q: Array, v: Array) -> None:
        """Fill everything for positions q (nq,) and velocities v (nv,)."""
        self.update_positions(q)
        tree, motion = self.tree, self.inertia.motion
        twist = tree.path_sum(motion * v[:, None])
        motion_rate = bracket(twist[self._settled], motion)
        rate = tree.path_sum(motion_rate * v[:, None])
        self.jacobian_rate = motion_rate.T
        nothing = np.zeros((1, 6))
        # spatial velocity of each body at the world's origin, then of the world, (nv + 1, 6), and
        # their derivatives at zero joint acceleration
        self.twist, self.twist_rate = (np.concatenate((x, nothing)) for x in (twist, rate))
        self.bias = np.einsum("ij,ij->i", motion, tree.subtree_sum(self._forces(twist, rate)))

    def update_positions(self, q: Array) -> None:
        """Fill mass, jacobian, rotation and translation for positions q (nq,)."""
        place, q = q[:7], q[self._floats :]
        if self._floats:
            q = np.concatenate((np.zeros(6), q[6:]))
        turning = np.where(self._turns, q, 0.0)[:, None, None]
        rotation = self._rotation + np.sin(turning) * self._sine
        rotation += (1.0 - np.cos(turning)) * self._versine
        translation = self._translation + np.where(self._turns, 0.0, q)[:, None] * self._slide
        if self._floats:
            translation[0] += rotation[0] @ place[:3]
            rotation[0] = rotation[0] @ pin.Quaternion(place[3:]).toRotationMatrix()
        self.tree.compose(rotation, translation)
        axis = np.einsum("ijk,ik->ij", rotation, self._axis)
        motion = np.zeros((len(q), 6))
        motion[:, :3] = np.where(self._turns[:, None], np.cross(translation, axis), axis)
        motion[:, 3:] = np.where(self._turns[:, None], axis, 0.0)
        self.jacobian = motion.T
        center = translation + np.einsum("ijk,ik->ij", rotation, self._center)
        inertia = rotation @ self._inertias @ rotation.transpose(0, 2, 1)
        self.inertia = TreeInertia(
            motion, translation, self._mass, center, inertia, self._armature, self.clusters
        )
        self.mass = self.inertia  # type: ignore[assignment]
        # The world stands last, where index −1 finds it.
        rotation = np.concatenate((rotation, np.eye(3)[None]))
        translation = np.concatenate((translation, np.zeros((1, 3))))
        carrier = rotation[self._carrier]
        self.rotation = carrier @ self._frame_rotation
        self.translation = translation[self._carrier] + np.einsum(
            "ijk,ik->ij", carrier, self._frame_translation
        )

    def kinetic_energy(self, q: Array, v: Array) -> float:
        """Half vᵀ M(q) v with armature, in J; leaves the last update alone."""
        mass = self._elsewhere(q).inertia
        twist = self.tree.path_sum(mass.motion * v[:, None])
        moving = float(np.einsum("ij,ij->", twist, mass.momentum(twist)))
        return 0.5 * (moving + float(self._armature @ (v * v)))

    def potential_energy(self, q: Array) -> float:
        """Energy of gravity, zero with all masses at the world origin, in J."""
        return -float(self._mass @ (self._elsewhere(q).inertia.center @ self._gravity))

    def _elsewhere(self, q: Array) -> "TreeWorkspace":
        other = object.__new__(TreeWorkspace)
        other.__dict__.update(self.__dict__)
        other.update_positions(q)
        return other

    def _forces(self, twist: Array, rate: Array) -> Array:
        """Forces of the bodies at zero joint acceleration, with weight, at the world's origin."""
        mass = self.inertia
        omega, alpha = twist[:, 3:], rate[:, 3:]
        speed = twist[:, :3] + np.cross(omega, mass.center)
        acceleration = rate[:, :3] + np.cross(alpha, mass.center) + np.cross(omega, speed)
        force = mass.mass[:, None] * (acceleration - self._gravity)
        spin = np.einsum("ijk,ik->ij", mass.inertia, omega)
        moment = np.einsum("ijk,ik->ij", mass.inertia, alpha) + np.cross(omega, spin)
        return np.concatenate((force, moment + np.cross(mass.center, force)), axis=1)


def _stacked(items: list[Array], shape: tuple[int, ...]) -> Array:
    return np.array(items, dtype=float).reshape(-1, *shape)
