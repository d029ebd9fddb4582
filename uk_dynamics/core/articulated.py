"""Articulated-body elimination over clusters: from the leaves inward, from the root outward.

Joint velocities of a cluster are v = Z y; the columns of Z are motions that its own rows admit. Its
bodies then answer a motion a₀ of the body it stands on with the force I^A a₀ + p,

    D = Zᵀ H Z + Σ EᵀI^A E,   U = Σ I_b J_b Z + Σ I^A E,   I^A = Σ I_b + Σ I^A − U D⁻¹ Uᵀ

(sums over its bodies, and over the clusters c it carries, each on a body that moves with E y),
which is Featherstone's articulated-body algorithm (*Rigid Body Dynamics Algorithms*, section 7.3)
with clusters in place of joints. The cost is linear in the number of clusters.

Wrenches and motions of a cluster stand at a point of its own: at the world's origin digits would
be lost with the distance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs

from uk_dynamics.core.clusters import ClusterGroup
from uk_dynamics.core.reduced_inertia import NO_INERTIA, UndeterminedCoordinatesError
from uk_dynamics.core.tree_inertia import TreeInertia, motion_about, skew

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Articulated:
    """The eliminated clusters.

    Attributes:
        clusters: The partition of the joints.
        bases: Z of each cluster, (n, f); columns of zeros fill up what a group needs.
        joint_inertia: H of each cluster, the inertia its joints feel with everything behind cut
            off, (n, n).
    """

    def __init__(self, mass: TreeInertia, bases: Sequence[Array]) -> None:
        """Eliminate.

        Args:
            mass: Of the tree.
            bases: Z of each group of clusters, (g, n, f).

        Raises:
            UndeterminedCoordinatesError: Some admissible motion has no inertia.
        """
        clusters = mass.clusters
        self.clusters = clusters
        count = len(clusters)
        self._points = mass.origin[[joints[0] for joints in clusters.members]].reshape(-1, 3)
        inertia = mass.about(self._points[clusters.cluster])
        motion = motion_about(mass.motion, self._points[clusters.cluster])
        nothing = np.zeros((0, 0))
        self.bases = [nothing] * count
        self.joint_inertia = [nothing] * count
        self._rigid = [nothing] * count
        self._couplings = [nothing] * count
        moved: list[Array] = [nothing] * len(mass)
        coupled, inside = [nothing] * count, [nothing] * count
        for group, Z in zip(clusters.groups, bases, strict=True):
            J = motion[group.joints].transpose(0, 2, 1)[:, None] * group.moves[:, :, None, :]
            force = inertia[group.joints] @ J
            H = (J.transpose(0, 1, 3, 2) @ force).sum(axis=1)
            n = range(H.shape[1])
            H[:, n, n] += mass.armature[group.joints]
            U = force.sum(axis=1)
            rigid = inertia[group.joints].sum(axis=1)
            UZ, ZHZ = U @ Z, Z.transpose(0, 2, 1) @ H @ Z
            unused = ~Z.any(axis=1)
            f = range(Z.shape[2])
            ZHZ[:, f, f] += unused
            for place, k in enumerate(group.clusters):
                self.bases[k], self.joint_inertia[k] = Z[place], H[place]
                self._rigid[k], self._couplings[k] = rigid[place], U[place]
                coupled[k], inside[k] = UZ[place], ZHZ[place]
                for i, joint in enumerate(group.joints[place]):
                    moved[joint] = J[place, i]
        self._carry(moved)
        self._eliminate(inside, coupled)

    def _carry(self, moved: list[Array]) -> None:
        """How each cluster's base moves in the cluster it belongs to, and where it stands there."""
        clusters = self.clusters
        self.carried: list[list[int]] = [[] for _ in range(len(clusters))]
        parent = clusters.parent
        arms = np.where(parent[:, None] >= 0, self._points - self._points[parent], self._points)
        shifts = np.zeros((len(clusters), 6, 6))
        shifts[:] = np.eye(6)
        shifts[:, :3, 3:] = -skew(arms)
        self._shifts = list(shifts)
        self._leads: list[Array] = []
        for k, (above, body) in enumerate(zip(parent, clusters.base, strict=True)):
            if above < 0:
                self._leads.append(np.zeros((6, 0)))
                continue
            self.carried[above].append(k)
            # Motion of the joints above, and what it is at this cluster's point.
            self._leads.append(self._shifts[k] @ moved[body])

    def _eliminate(self, inside: list[Array], coupled: list[Array]) -> None:
        count = len(self.clusters)
        empty = np.zeros((0, 0))
        self._lower, self._whitened = [empty] * count, [empty] * count
        self._inertia = [empty] * count
        self._lead_bases = [empty] * count
        for k in range(count - 1, -1, -1):
            D, U, inertia = inside[k], coupled[k], self._rigid[k]
            for child in self.carried[k]:
                E = self._leads[child] @ self.bases[k]
                self._lead_bases[child] = E
                shift, beyond = self._shifts[child], self._inertia[child]
                force = beyond @ E
                D = D + E.T @ force
                U = U + shift.T @ force
                inertia = inertia + shift.T @ beyond @ shift
            if len(D):
                lower, failed = dpotrf(D, 1, 1)
                if failed or not (lower.diagonal() ** 2 > NO_INERTIA * D.diagonal()).all():
                    raise UndeterminedCoordinatesError(self._without_inertia(k))
                W = dtrtrs(lower, U.T, 1)[0]
                inertia = inertia - W.T @ W
                self._lower[k], self._whitened[k] = lower, W
            self._inertia[k] = inertia

    def _without_inertia(self, k: int) -> list[int]:
        moving = self.bases[k].any(axis=1)
        return [int(joint) for joint in self.clusters.members[k][moving]]

    def inward(self, X: Array, particular: Array | None = None) -> tuple[list[Array], list[Array]]:
        """Forces from the leaves to the root: R⁻¹ Zᵀ of what each cluster has to carry.

        Args:
            X: Generalized forces, (nv, …).
            particular: Accelerations that the rows prescribe, (nv, …); None is zero.

        Returns:
            Whitened forces of the clusters, (f, …) each, and their p as seen at their own point.
        """
        clusters = self.clusters
        count = len(clusters)
        whitened: list[Array] = [X] * count
        wrenches: list[Array] = [X] * count
        for k in range(count - 1, -1, -1):
            joints = clusters.members[k]
            generalized, wrench = X[joints], np.zeros((6, *X.shape[1:]))
            if particular is not None:
                given = particular[joints]
                generalized = generalized - self.joint_inertia[k] @ given
                wrench = self._couplings[k] @ given
            force = self.bases[k].T @ generalized
            for child in self.carried[k]:
                beyond = wrenches[child]
                if particular is not None:
                    beyond = beyond + self._inertia[child] @ (self._leads[child] @ given)
                force = force - self._lead_bases[child].T @ beyond
                wrench = wrench + self._shifts[child].T @ beyond
            if len(force):
                force = dtrtrs(self._lower[k], force, 1)[0].reshape(force.shape)
                wrench = wrench + self._whitened[k].T @ force
            whitened[k], wrenches[k] = force, wrench
        return whitened, wrenches

    def outward(self, whitened: list[Array], particular: Array | None = None) -> Array:
        """Accelerations from the root to the leaves, (nv, …), from what :meth:`inward` gave."""
        clusters = self.clusters
        tail = whitened[0].shape[1:] if whitened else ()
        result = np.zeros((len(clusters.cluster), *tail))
        motions: list[Array] = [result] * len(whitened)
        for k, force in enumerate(whitened):
            above = clusters.parent[k]
            if above < 0:
                motion = np.zeros((6, *tail))
            else:
                lead = self._leads[k] @ result[clusters.members[above]]
                motion = self._shifts[k] @ motions[above] + lead
            motions[k] = motion
            joints = clusters.members[k]
            if len(force):
                y = dtrtrs(self._lower[k], force - self._whitened[k] @ motion, 1, 1)[0]
                result[joints] = self.bases[k] @ y.reshape(force.shape)
            if particular is not None:
                result[joints] += particular[joints]
        return result

    def color(self, whitened: list[Array]) -> Array:
        """Generalized forces whose whitened parts these are, (nv, …); for whole bases only."""
        clusters = self.clusters
        tail = whitened[0].shape[1:] if whitened else ()
        result = np.zeros((len(clusters.cluster), *tail))
        wrenches: list[Array] = [result] * len(whitened)
        for k in range(len(whitened) - 1, -1, -1):
            force = self._lower[k] @ whitened[k]
            wrench = self._whitened[k].T @ whitened[k]
            for child in self.carried[k]:
                force = force + self._lead_bases[child].T @ wrenches[child]
                wrench = wrench + self._shifts[child].T @ wrenches[child]
            result[clusters.members[k]], wrenches[k] = force, wrench
        return result


def whole(group: ClusterGroup) -> Array:
    """Z of clusters whose joints are all free."""
    g, n = group.joints.shape
    return np.broadcast_to(np.eye(n), (g, n, n))
