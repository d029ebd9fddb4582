# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The mass matrix of a tree as what it is made of: motions of joints, inertias of bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.core.linalg.rotations import skew
from uk_dynamics.core.tree.clusters import Clusters


@dataclass(frozen=True)
class TreeInertia:
    """M of bodies behind one joint each, in world axes; nothing here grows faster than n."""

    # spatial velocity of each joint's motion per velocity at the world's origin, linear part first,
    # (n, 6)
    motion: Array
    origin: Array  # of each joint in the world, (n, 3), in m
    mass: Array  # of each body, (n,), in kg
    center: Array  # centres of mass in the world, (n, 3), in m
    inertia: Array  # about the centres of mass, (n, 3, 3), in kg m²
    armature: Array  # of each joint, (n,)
    clusters: Clusters  # which joints loops bind together

    def __len__(self) -> int:
        """Number of velocities, as of a matrix."""
        return len(self.motion)

    def multiply(self, x: Array) -> Array:
        """M x, (n,)."""
        tree = self.clusters.tree
        twist = tree.path_sum(self.motion * x[:, None])
        force = tree.subtree_sum(self.momentum(twist))
        product: Array = np.einsum("ij,ij->i", self.motion, force) + self.armature * x
        return product

    def momentum(self, twist: Array) -> Array:
        """Momentum of each body at a spatial velocity, both at the world's origin, (n, 6)."""
        angular = twist[:, 3:]
        linear = self.mass[:, None] * (twist[:, :3] + np.cross(angular, self.center))
        spin = np.einsum("ijk,ik->ij", self.inertia, angular)
        return np.concatenate((linear, spin + np.cross(self.center, linear)), axis=1)

    def about(self, points: Array) -> Array:
        """Spatial inertia of each body about a point of its own, linear part first, (n, 6, 6).

        Args:
            points: In the world, (n, 3), in m.
        """
        lever = skew(self.center - points)
        first = self.mass[:, None, None] * lever
        result = np.zeros((len(self.mass), 6, 6))
        result[:, (0, 1, 2), (0, 1, 2)] = self.mass[:, None]
        result[:, :3, 3:] = -first
        result[:, 3:, :3] = first
        result[:, 3:, 3:] = self.inertia - first @ lever
        return result

    def diagonal(self) -> Array:
        """Diagonal of M, (n,)."""
        tree = self.clusters.tree
        # Summed about the middle of everything, where it loses least.
        middle = self.center.mean(axis=0) if len(self) else np.zeros(3)
        bodies = tree.subtree_sum(self.about(np.broadcast_to(middle, self.center.shape)))
        motion = motion_about(self.motion, np.broadcast_to(middle, self.center.shape))
        moved: Array = np.einsum("ij,ijk,ik->i", motion, bodies, motion)
        return moved + self.armature

    def dense(self) -> Array:
        """M itself, (n, n)."""
        columns = [self.multiply(unit) for unit in np.eye(len(self))]
        M = np.array(columns).reshape(len(self), len(self))
        return 0.5 * (M + M.T)

    def copy(self) -> Array:
        """M as a fresh array."""
        return self.dense()

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        """M as an array, for functions that take matrices."""
        return self.dense()


def motion_about(motion: Array, points: Array) -> Array:
    """Motions given at the world's origin as seen at points, (n, 6)."""
    linear = motion[:, :3] + np.cross(motion[:, 3:], points)
    return np.concatenate((linear, motion[:, 3:]), axis=1)
