# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A kinematic tree: sums, the parts of its mass matrix, and joints that loops bind together.

Rows that close a loop involve the joints on both paths to the last common body. Joints that share a
row move together, so they make a cluster; all clusters together form a tree again (A. Jain,
*Robot and Multibody Dynamics*, chapter 15, aggregates bodies in this way).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.core.linalg.rotations import skew
from uk_dynamics.exceptions import InputError


class Tree:
    """Bodies in depth-first order, so that the subtree of a body is a range behind it."""

    def __init__(self, parents: Sequence[int] | Indices) -> None:
        """Number the subtrees; InputError: the bodies are not in depth-first order."""
        # of each body, smaller than itself, −1 at the root, (n,)
        self.parents: Indices = np.array(parents, dtype=np.intp)
        n = len(self.parents)
        ends, sizes = np.arange(1, n + 1), np.ones(n, dtype=np.intp)
        for body in range(n - 1, -1, -1):
            parent = self.parents[body]
            if parent >= body:
                raise InputError(f"body {body} comes before its parent {parent} in the tree")
            if parent >= 0:
                ends[parent] = max(ends[parent], ends[body])
                sizes[parent] += sizes[body]
        if not np.array_equal(ends - np.arange(n), sizes):
            raise InputError("the bodies of the tree are not numbered depth first")
        self.ends: Indices = ends  # behind the last body of each subtree, (n,)
        # A path sum is a running sum that takes back each body where its subtree ends.
        inside = np.flatnonzero(ends < n)
        rows = np.concatenate((np.arange(n), ends[inside]))
        columns = np.concatenate((np.arange(n), inside))
        signs = np.concatenate((np.ones(n), -np.ones(len(inside))))
        from scipy.sparse import csr_array  # takes long to import

        self._steps = csr_array((signs, (rows, columns)), shape=(n, n))

    def __len__(self) -> int:
        """Number of bodies."""
        return len(self.parents)

    def path_sum(self, x: Array) -> Array:
        """Sum over each body and all before it towards the root, (n, …)."""
        return np.cumsum(np.asarray(self._steps @ x), axis=0)

    def subtree_sum(self, x: Array) -> Array:
        """Sum over each body and all that it carries, (n, …)."""
        running = np.zeros((len(x) + 1, *x.shape[1:]))
        np.cumsum(x, axis=0, out=running[1:])
        return running[self.ends] - running[:-1]

    def compose(self, rotation: Array, translation: Array) -> None:
        """Placements in the parent, (n, 3, 3) and (n, 3), become those in the world, in place."""
        for body, above in enumerate(self.parents.tolist()):
            if above >= 0:
                translation[body] = translation[above] + rotation[above] @ translation[body]
                rotation[body] = rotation[above] @ rotation[body]


class Clusters:
    """A partition of the joints of a tree."""

    def __init__(self, tree: Tree, supports: Iterable[Sequence[int]]) -> None:
        """Bind joints: those of a row are both paths from its frames to their last common body."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        self.tree = tree  # the tree
        n = len(tree)
        bound = [(support[0], joint) for support in supports for joint in support[1:]]
        graph = coo_array((np.ones(len(bound)), np.array(bound, int).reshape(-1, 2).T), (n, n))
        _, cluster = connected_components(graph, directed=False)
        self.cluster: Indices = cluster.astype(np.intp)  # cluster of each joint, (n,)
        # joints of each cluster, ascending; parents come before the clusters they carry
        joints = np.argsort(cluster, kind="stable")
        self.members = tuple(np.split(joints, np.cumsum(np.bincount(cluster)))[:-1])
        self.place: Indices = np.empty(n, dtype=np.intp)  # place of each joint in its cluster, (n,)
        for joints in self.members:
            self.place[joints] = np.arange(len(joints))
        # the body that each cluster stands on, −1 for the world, (K,)
        self.base: Indices = np.array([tree.parents[j[0]] for j in self.members], dtype=np.intp)
        # the cluster of that body, −1 for the world, (K,)
        self.parent: Indices = np.where(self.base >= 0, self.cluster[self.base], -1)
        # joints of the largest cluster
        self.largest = max((len(joints) for joints in self.members), default=0)
        # of each cluster, 1 where joint j moves body i, (n, n) as [i, j]
        self.moves = tuple(self._moves(joints) for joints in self.members)

    def __len__(self) -> int:
        """Number of clusters."""
        return len(self.members)

    def _moves(self, joints: Indices) -> Array:
        bodies, ends = joints[:, None], self.tree.ends[joints]
        return ((joints <= bodies) & (bodies < ends)).astype(float)


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
        force = tree.subtree_sum(self.momentum(tree.path_sum(self.motion * x[:, None])))
        product: Array = np.einsum("ij,ij->i", self.motion, force) + self.armature * x
        return product

    def momentum(self, twist: Array) -> Array:
        """Momentum of each body at a spatial velocity, both at the world's origin, (n, 6)."""
        angular = twist[:, 3:]
        linear = self.mass[:, None] * (twist[:, :3] + np.cross(angular, self.center))
        spin = np.einsum("ijk,ik->ij", self.inertia, angular)
        return np.concatenate((linear, spin + np.cross(self.center, linear)), axis=1)

    def about(self, points: Array) -> Array:
        """Inertia of each body about a point in the world, (n, 3), linear part first, (n, 6, 6)."""
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
        motion, force = self._composite()
        moved: Array = np.einsum("ij,ij->i", motion, force)
        return moved + self.armature

    def dense(self) -> Array:
        """M itself, (n, n)."""
        motion, force = self._composite()
        bodies = np.arange(len(motion))
        below = (bodies[:, None] <= bodies) & (bodies < self.clusters.tree.ends[:, None])
        upper = np.where(below, motion @ force.T, 0.0)
        return upper + np.triu(upper, 1).T + np.diag(self.armature)

    def _composite(self) -> tuple[Array, Array]:
        """Motion of each joint, and the momentum of all that it moves by it, both (n, 6)."""
        # Summed about the middle of everything, where it loses least.
        middle = np.broadcast_to(self.center.mean(axis=0) if len(self) else 0.0, self.center.shape)
        bodies = self.clusters.tree.subtree_sum(self.about(middle))
        motion = motion_about(self.motion, middle)
        return motion, np.einsum("ijk,ik->ij", bodies, motion)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        """M as an array, for functions that take matrices."""
        return self.dense()


def motion_about(motion: Array, points: Array) -> Array:
    """Motions given at the world's origin as seen at points, (n, 6)."""
    linear = motion[:, :3] + np.cross(motion[:, 3:], points)
    return np.concatenate((linear, motion[:, 3:]), axis=1)
