# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Clusters: the joints of a tree that loops bind together, each cluster on one body of another.

Rows that close a loop involve the joints on both paths to the last common body. Joints that share a
row move together, so they make a cluster; all clusters together form a tree again (A. Jain,
*Robot and Multibody Dynamics*, chapter 15, aggregates bodies in this way).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.tree.tree import Tree

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class ClusterGroup:
    """Clusters of one size, so that arrays can hold all of them."""

    clusters: Indices  # their numbers, (g,)
    joints: Indices  # of each, ascending, (g, n)
    moves: Array  # 1 where joint j moves body i of the cluster, (g, n, n) as [:, i, j]


class Clusters:
    """A partition of the joints of a tree."""

    def __init__(self, tree: Tree, supports: Iterable[Sequence[int]]) -> None:
        """Bind joints together.

        Args:
            tree: The tree.
            supports: Joints of each row: both paths from its frames to their last common body.
        """
        self.tree = tree  # the tree
        n = len(tree)
        leader = list(range(n))

        def find(joint: int) -> int:
            while leader[joint] != joint:
                leader[joint] = leader[leader[joint]]
                joint = leader[joint]
            return joint

        for support in supports:
            for joint in support[1:]:
                first, second = sorted((find(support[0]), find(joint)))
                leader[second] = first
        found: dict[int, list[int]] = {}
        for joint in range(n):
            found.setdefault(find(joint), []).append(joint)
        # joints of each cluster, ascending; parents come before the clusters they carry
        self.members = tuple(np.array(joints, dtype=np.intp) for joints in found.values())
        self.cluster: Indices = np.empty(n, dtype=np.intp)  # cluster of each joint, (n,)
        self.place: Indices = np.empty(n, dtype=np.intp)  # place of each joint in its cluster, (n,)
        for number, joints in enumerate(self.members):
            self.cluster[joints] = number
            self.place[joints] = np.arange(len(joints))
        # the body that each cluster stands on, −1 for the world, (K,)
        self.base: Indices = np.array([tree.parents[j[0]] for j in self.members], dtype=np.intp)
        # the cluster of that body, −1 for the world, (K,)
        self.parent: Indices = np.where(self.base >= 0, self.cluster[self.base], -1)
        # joints of the largest cluster
        self.largest = max((len(joints) for joints in self.members), default=0)
        # clusters by size
        self.groups = tuple(self._group(size) for size in sorted({len(j) for j in self.members}))

    def __len__(self) -> int:
        """Number of clusters."""
        return len(self.members)

    def in_order(self, by_group: Sequence[Array]) -> list[Array]:
        """What arrays hold for the clusters of each group, cluster by cluster."""
        found = [by_group[0]] * len(self) if by_group else []
        for group, values in zip(self.groups, by_group, strict=True):
            for k, value in zip(group.clusters, values, strict=True):
                found[k] = value
        return found

    def _group(self, size: int) -> ClusterGroup:
        numbers = np.array([k for k, j in enumerate(self.members) if len(j) == size], dtype=np.intp)
        joints = np.stack([self.members[k] for k in numbers])
        ends = self.tree.ends[joints]
        moves = (joints[:, None, :] <= joints[:, :, None]) & (joints[:, :, None] < ends[:, None, :])
        return ClusterGroup(numbers, joints, moves.astype(float))
