# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Articulated-body elimination over clusters: from the leaves inward, from the root outward.

Joint velocities of a cluster are v = Z y; the columns of Z are motions that its own rows admit.
With a₀ the motion of the body that the cluster stands on, each of its bodies moves by G_b (a₀, y),
and by S_c (a₀, y) that on which a cluster c stands that it carries. Then

    B = Σ G_bᵀ I_b G_b + Σ S_cᵀ I^A_c S_c,    I^A = B₀₀ − B₀y B_yy⁻¹ B_y0

is Featherstone's articulated-body algorithm (*Rigid Body Dynamics Algorithms*, section 7.3) with
clusters in place of joints. The cost is linear in the number of clusters.

Wrenches and motions of a cluster stand at a point of its own: at the world's origin digits would
be lost with the distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from uk_dynamics.arrays import Array
from uk_dynamics.core.linalg.mass_factor import (
    NO_INERTIA,
    DenseMass,
    SingularMass,
    UndeterminedCoordinatesError,
    mass_factor,
)
from uk_dynamics.core.linalg.rotations import skew
from uk_dynamics.core.tree.clusters import ClusterGroup, Clusters, TreeInertia, motion_about

_NOTHING: Array = np.zeros((0, 0))


class Articulated:
    """The eliminated clusters."""

    def __init__(self, mass: TreeInertia, bases: Sequence[Array]) -> None:
        """Eliminate.

        Raises UndeterminedCoordinatesError: Some admissible motion has no inertia.
        """
        clusters = mass.clusters
        count = len(clusters)
        self.clusters: Clusters = clusters  # the partition of the joints
        # Z of each group of clusters, (g, n, f); columns of zeros fill up what a group needs
        self.bases = bases
        points = mass.origin[[joints[0] for joints in clusters.members]].reshape(-1, 3)
        inertia = mass.about(points[clusters.cluster])
        motion = motion_about(mass.motion, points[clusters.cluster])
        parent = clusters.parent
        arms = np.where(parent[:, None] >= 0, points - points[parent], points)
        shifts = np.zeros((count, 6, 6))
        shifts[:] = np.eye(6)
        shifts[:, :3, 3:] = -skew(arms)
        self._inertias: list[Array] = []  # of each group: its joints', and how they move the base
        self._couplings: list[Array] = []
        rigid: list[Array] = []
        self._steps: list[Array] = [_NOTHING] * count  # S of each cluster
        self._leads: list[Array] = [_NOTHING] * count  # motion of its base by joint of the parent
        self._carried: list[list[int]] = [[] for _ in range(count)]
        for k in np.flatnonzero(parent >= 0):
            self._carried[parent[k]].append(int(k))
        for group, Z in zip(clusters.groups, bases, strict=True):
            J = motion[group.joints].transpose(0, 2, 1)[:, None] * group.moves[:, :, None, :]
            force = inertia[group.joints] @ J
            H = (J.transpose(0, 1, 3, 2) @ force).sum(axis=1)
            n, f = Z.shape[1:]
            H[:, range(n), range(n)] += mass.armature[group.joints]
            U = force.sum(axis=1)
            self._inertias.append(H)
            self._couplings.append(U)
            B = np.empty((len(Z), 6 + f, 6 + f))
            B[:, :6, :6] = inertia[group.joints].sum(axis=1)
            B[:, :6, 6:] = U @ Z
            B[:, 6:, :6] = B[:, :6, 6:].transpose(0, 2, 1)
            B[:, 6:, 6:] = Z.transpose(0, 2, 1) @ H @ Z
            B[:, range(6, 6 + f), range(6, 6 + f)] += ~Z.any(axis=1)
            self._lay_steps(group, Z, J, shifts)
            rigid.append(B)
        self._eliminate(clusters.in_order(rigid))

    def _lay_steps(self, group: ClusterGroup, Z: Array, J: Array, shifts: Array) -> None:
        """How the bases of the clusters that a group carries move."""
        clusters = self.clusters
        pairs = [
            (place, child) for place, k in enumerate(group.clusters) for child in self._carried[k]
        ]
        if not pairs:
            return
        places, children = np.array(pairs, dtype=np.intp).T
        moved = J[places, clusters.place[clusters.base[children]]]
        leads = shifts[children] @ moved
        steps = np.concatenate((shifts[children], leads @ Z[places]), axis=2)
        for child, lead, step in zip(children, leads, steps, strict=True):
            self._leads[child], self._steps[child] = lead, step

    def _eliminate(self, rigid: list[Array]) -> None:
        count = len(rigid)
        self._lower, self._whitened = [_NOTHING] * count, [_NOTHING] * count
        self._articulated = [_NOTHING] * count
        for k in range(count - 1, -1, -1):
            B = rigid[k]
            for child in self._carried[k]:
                step = self._steps[child]
                B = B + step.T @ (self._articulated[child] @ step)
            base = B[:6, :6]
            if len(B) > 6:
                lower, failed = dpotrf(B[6:, 6:], 1, 1)
                pivots = lower.diagonal()
                if failed or not (pivots * pivots > NO_INERTIA * B.diagonal()[6:]).all():
                    raise UndeterminedCoordinatesError(self._without_inertia(k))
                W = dtrtrs(lower, B[6:, :6], 1)[0]
                base = base - W.T @ W
                self._lower[k], self._whitened[k] = lower, W
            self._articulated[k] = base

    def _without_inertia(self, k: int) -> list[int]:
        for group, Z in zip(self.clusters.groups, self.bases, strict=True):
            for place in np.flatnonzero(group.clusters == k):
                moving = Z[place].any(axis=1)
                return [int(joint) for joint in group.joints[place][moving]]
        return []

    def inward(self, X: Array, particular: Array | None = None) -> list[Array]:
        """Forces from the leaves to the root: R⁻¹ Zᵀ of the load on each cluster.

        particular: Accelerations that the rows prescribe, (nv, …); None is zero. Returns: Whitened
        forces of the clusters, (f, …) each.
        """
        loads = self._loads(X, particular)
        drifts = None if particular is None else self._drifts(particular)
        whitened: list[Array] = [_NOTHING] * len(loads)
        for k in range(len(loads) - 1, -1, -1):
            load = loads[k]
            for child in self._carried[k]:
                beyond = loads[child]
                if drifts is not None:
                    beyond = beyond + self._articulated[child] @ drifts[child]
                load = load + self._steps[child].T @ beyond
            wrench = load[:6]
            if len(load) > 6:
                force = dtrtrs(self._lower[k], -load[6:], 1)[0].reshape(load[6:].shape)
                wrench = wrench + self._whitened[k].T @ force
                whitened[k] = force
            else:
                whitened[k] = load[6:]
            loads[k] = wrench
        return whitened

    def _loads(self, X: Array, particular: Array | None) -> list[Array]:
        """What every cluster carries by itself: its base's wrench, then −Zᵀ of joint forces."""
        loads: list[Array] = []
        for number, (group, Z) in enumerate(zip(self.clusters.groups, self.bases, strict=True)):
            forces = _flat(X[group.joints])
            own = np.zeros((len(Z), 6 + Z.shape[2], forces.shape[2]))
            if particular is not None:
                given = _flat(particular[group.joints])
                forces = forces - self._inertias[number] @ given
                own[:, :6] = self._couplings[number] @ given
            own[:, 6:] = -(Z.transpose(0, 2, 1) @ forces)
            loads.append(own.reshape(*own.shape[:2], *X.shape[1:]))
        return self.clusters.in_order(loads)

    def _drifts(self, particular: Array) -> list[Array]:
        """Motion of every cluster's base by what is prescribed to the joints of its parent."""
        members, parent = self.clusters.members, self.clusters.parent
        nothing = np.zeros((6, *particular.shape[1:]))
        return [
            nothing if above < 0 else self._leads[k] @ particular[members[above]]
            for k, above in enumerate(parent)
        ]

    def outward(self, whitened: list[Array], particular: Array | None = None) -> Array:
        """Accelerations from the root to the leaves, (nv, …), from what :meth:`inward` gave."""
        clusters = self.clusters
        tail = whitened[0].shape[1:] if whitened else ()
        drifts = None if particular is None else self._drifts(particular)
        motions: list[Array] = [_NOTHING] * len(whitened)  # a₀ and y
        start = np.zeros((6, *tail))
        for k, (force, above) in enumerate(zip(whitened, clusters.parent, strict=True)):
            motion = start if above < 0 else self._steps[k] @ motions[above]
            if drifts is not None:
                motion = motion + drifts[k]
            y = force
            if len(force):
                y = dtrtrs(self._lower[k], force - self._whitened[k] @ motion, 1, 1)[0]
            motions[k] = np.concatenate((motion, y.reshape(force.shape)))
        result = np.zeros((len(clusters.cluster), *tail))
        for group, Z in zip(clusters.groups, self.bases, strict=True):
            y = _flat(np.stack([motions[k] for k in group.clusters])[:, 6:])
            result[group.joints] = (Z @ y).reshape(*group.joints.shape, *tail)
        return result if particular is None else result + particular

    def multiply_factor(self, whitened: list[Array]) -> Array:
        """Generalized forces whose whitened parts these are, (nv, …); for whole bases only."""
        clusters = self.clusters
        tail = whitened[0].shape[1:] if whitened else ()
        result = np.zeros((len(clusters.cluster), *tail))
        wrenches: list[Array] = [_NOTHING] * len(whitened)
        for k in range(len(whitened) - 1, -1, -1):
            load = np.concatenate((self._whitened[k].T @ whitened[k], self._lower[k] @ whitened[k]))
            for child in self._carried[k]:
                load = load + self._steps[child].T @ wrenches[child]
            wrenches[k], result[clusters.members[k]] = load[:6], load[6:]
        return result


def whole(group: ClusterGroup) -> Array:
    """Z of clusters whose joints are all free."""
    g, n = group.joints.shape
    return np.broadcast_to(np.eye(n), (g, n, n))


def _flat(x: Array) -> Array:
    """One or several right-hand sides as columns, (g, n, k)."""
    return x.reshape(*x.shape[:2], math.prod(x.shape[2:]))


class ArticulatedMass:
    """L⁻¹ is the way inward and L⁻ᵀ the way outward; each costs time linear in nv."""

    def __init__(self, inertia: TreeInertia) -> None:
        """Hold a tree; it is eliminated when first needed."""
        self.inertia = inertia  # the tree
        self.size = len(inertia)  # number of velocity coordinates nv

    @cached_property
    def _tree(self) -> Articulated:
        return Articulated(self.inertia, [whole(group) for group in self.inertia.clusters.groups])

    def whiten(self, x: Array) -> Array:
        """L⁻¹ x."""
        result = np.empty(x.shape, order="F")
        parts = self._tree.inward(x)
        for joints, part in zip(self.inertia.clusters.members, parts, strict=True):
            result[joints] = part
        return result

    def unwhiten(self, x: Array) -> Array:
        """L⁻ᵀ x."""
        return self._tree.outward([x[joints] for joints in self.inertia.clusters.members])

    def multiply_factor(self, x: Array) -> Array:
        """L x."""
        return self._tree.multiply_factor([x[joints] for joints in self.inertia.clusters.members])

    def solve(self, x: Array) -> Array:
        """M⁻¹ x."""
        return self._tree.outward(self._tree.inward(x))

    def dense(self) -> Array:
        """M itself, (nv, nv)."""
        return self.inertia.dense()


def factor_inertia(M: Array | TreeInertia) -> DenseMass | SingularMass | ArticulatedMass:
    """The mass factor of a matrix, or that of a tree whose matrix would be large.

    Raises:
        InputError: The matrix has entries that are not finite, or a clearly negative eigenvalue.
    """
    return ArticulatedMass(M) if isinstance(M, TreeInertia) else mass_factor(M)
