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

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.core.linalg.mass_factor import NO_INERTIA, UndeterminedCoordinatesError
from uk_dynamics.core.linalg.rotations import skew
from uk_dynamics.core.tree.clusters import TreeInertia, motion_about


@dataclass
class _Cluster:
    """A cluster with all that it carries, as the body that it stands on feels it."""

    joints: Indices  # (n,)
    basis: Array  # Z, (n, f)
    inertia: Array  # H of its joints, (n, n)
    coupling: Array  # wrench on its base by accelerations of its joints, (6, n)
    lower: Array  # of B_yy = R Rᵀ, (f, f)
    whitened: Array  # R⁻¹ B_y0, (f, 6)
    articulated: Array  # I^A, (6, 6)
    carried: "list[_Carried]"


@dataclass
class _Carried:
    """How the base of a cluster moves with the cluster that carries it."""

    number: int
    lead: Array  # by accelerations of the carrier's joints, (6, n)
    step: Array  # S: by those of the carrier's base and of its y, (6, 6 + f)
    articulated: Array = field(repr=False)  # I^A of the one carried, (6, 6)


class Articulated:
    """The eliminated clusters."""

    def __init__(self, mass: TreeInertia, bases: Sequence[Array]) -> None:
        """Eliminate.

        bases: Z of each cluster, (n, f).

        Raises UndeterminedCoordinatesError: Some admissible motion has no inertia.
        """
        clusters = mass.clusters
        points = mass.origin[[joints[0] for joints in clusters.members]].reshape(-1, 3)
        self._size = len(clusters.cluster)
        bodies = mass.about(points[clusters.cluster])
        motion = motion_about(mass.motion, points[clusters.cluster])
        carried: list[list[_Carried]] = [[] for _ in clusters.members]
        found: list[_Cluster] = []
        # J of the bodies of each cluster about its point, (n, 6, n)
        moved = [
            motion[joints].T * moves[:, None, :]
            for joints, moves in zip(clusters.members, clusters.moves, strict=True)
        ]
        for k in range(len(clusters) - 1, -1, -1):
            joints, Z, J = clusters.members[k], bases[k], moved[k]
            n, f = Z.shape
            force = bodies[joints] @ J
            H = (J.transpose(0, 2, 1) @ force).sum(axis=0)
            H[range(n), range(n)] += mass.armature[joints]
            U = force.sum(axis=0)
            B = np.empty((6 + f, 6 + f))
            B[:6, :6] = bodies[joints].sum(axis=0)
            B[:6, 6:] = U @ Z
            B[6:, :6] = B[:6, 6:].T
            B[6:, 6:] = Z.T @ H @ Z
            for one in carried[k]:
                B += one.step.T @ one.articulated @ one.step
            lower, whitened = _factor(B, [int(j) for j in joints[Z.any(axis=1)]])
            yielding = B[:6, :6] - whitened.T @ whitened
            found.append(_Cluster(joints, Z, H, U, lower, whitened, yielding, carried[k]))
            above = clusters.parent[k]
            if above >= 0:
                shift = np.eye(6)
                shift[:3, 3:] = -skew(points[k] - points[above])
                lead = shift @ moved[above][clusters.place[clusters.base[k]]]
                step = np.concatenate((shift, lead @ bases[above]), axis=1)
                carried[above].append(_Carried(k, lead, step, yielding))
        self._clusters = found[::-1]  # from the root outward

    def inward(self, X: Array, particular: Array | None = None) -> list[Array]:
        """Forces from the leaves to the root: R⁻¹ Zᵀ of the load on each cluster.

        particular: Accelerations that the rows prescribe, (nv, …); None is zero. Returns: Whitened
        forces of the clusters, (f, …) each.
        """
        count = len(self._clusters)
        whitened: list[Array] = [X[:0]] * count
        wrenches: list[Array] = [X[:0]] * count
        for k in range(count - 1, -1, -1):
            own = self._clusters[k]
            force, f = X[own.joints], own.basis.shape[1]
            load = np.zeros((6 + f, *X.shape[1:]))
            if particular is not None:
                given = particular[own.joints]
                force = force - own.inertia @ given
                load[:6] = own.coupling @ given
            load[6:] = -(own.basis.T @ force)
            for one in own.carried:
                beyond = wrenches[one.number]
                if particular is not None:
                    beyond = beyond + one.articulated @ (one.lead @ given)
                load += one.step.T @ beyond
            whitened[k] = _solve(own.lower, -load[6:])
            wrenches[k] = load[:6] + own.whitened.T @ whitened[k]
        return whitened

    def outward(self, whitened: list[Array], particular: Array | None = None) -> Array:
        """Accelerations from the root to the leaves, (nv, …), from what :meth:`inward` gave."""
        tail = whitened[0].shape[1:] if whitened else ()
        bases: list[Array] = [np.zeros((6, *tail))] * len(whitened)  # motion of each
        result = np.zeros((self._size, *tail))
        for k, own in enumerate(self._clusters):
            y = _solve(own.lower, whitened[k] - own.whitened @ bases[k], transposed=True)
            result[own.joints] = own.basis @ y
            motion = np.concatenate((bases[k], y))
            for one in own.carried:
                bases[one.number] = one.step @ motion
                if particular is not None:
                    bases[one.number] += one.lead @ particular[own.joints]
        return result if particular is None else result + particular


def _factor(B: Array, moving: list[int]) -> tuple[Array, Array]:
    """R of B_yy = R Rᵀ, and R⁻¹ B_y0; joints that move are for the error."""
    if len(B) == 6:
        return B[6:, 6:], B[6:, :6]
    lower, failed = dpotrf(B[6:, 6:], 1, 1)
    if failed or not (lower.diagonal() ** 2 > NO_INERTIA * B.diagonal()[6:]).all():
        raise UndeterminedCoordinatesError(moving)
    return lower, dtrtrs(lower, B[6:, :6], 1)[0]


def _solve(lower: Array, x: Array, *, transposed: bool = False) -> Array:
    """R⁻¹ x or R⁻ᵀ x, (f, …)."""
    if not x.size:  # LAPACK knows no empty matrices
        return x
    return np.asarray(dtrtrs(lower, x, 1, int(transposed))[0]).reshape(x.shape)
