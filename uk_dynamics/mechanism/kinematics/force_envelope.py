# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What forces at a frame the motors can hold within their effort limits: polytope and ellipsoid.

In statics virtual work vanishes in all motions Z that the loops allow:

    Zᵀ (S u + Jᵀ w + F) = 0,    |u| ≤ limits,

w being the force of the surroundings on the frame and F gravity and springs. The w for which there
are such u are a convex polytope: the section of the box of u with the equations that w cannot meet,
mapped to w (Chiacchio, Bouffard-Vercelli and Pierrot 1997 for redundant actuation).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.core.linalg import null_basis
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.kinematics.jacobian import twist_map
from uk_dynamics.mechanism.kinematics.loop_motion import LoopMotion
from uk_dynamics.mechanism.resolution import Point, ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, State

WRENCH = ("fx", "fy", "fz", "tx", "ty", "tz")
_MOST_CORNERS = 1 << 16
_RANK = 1e-9
_TINY = 1e-300
_OUTSIDE = 1e-9  # of the limits


@dataclass(frozen=True, eq=False)
class ForceEnvelope:
    """Loads on a frame that the motors can hold at rest, each with efforts within limits.

    Loads are those of the surroundings on the frame, in N and N·m, in world axes at the point.
    Along ``carried`` the structure carries any load without the motors; the polytope is what is
    left orthogonal to it.

    Attributes:
        rows: Components of the load, of fx, fy, fz, tx, ty, tz.
        vertices: Corners of the polytope, (n, k) with k rows; none where the motors cannot even
            hold the mechanism itself.
        carried: Orthonormal directions of loads that need no motor, (k, j).
        centre: Centre of the ellipsoid, (k,).
        axes: Its semi-axes as columns, (k, r), longest first: the loads that efforts with
            Σ (u/limit)² ≤ 1 hold; a subset of the polytope.
    """

    rows: tuple[str, ...]
    vertices: Array
    carried: Array
    centre: Array
    axes: Array

    def largest(self, direction: ArrayLike) -> float:
        """Largest load along a direction, (k,), in its units; 0 where none can be held.

        Infinite where the structure carries it.
        """
        d = np.asarray(direction, dtype=float)
        d = d / np.linalg.norm(d)
        across = d - self.carried @ (self.carried.T @ d)
        if np.linalg.norm(across) < _RANK:
            return float("inf") if len(self.vertices) else 0.0
        return _exit(self.vertices, across)

    @property
    def guaranteed(self) -> float:
        """Largest load that can be held whatever its direction among those that move, N or N·m."""
        if not len(self.vertices):
            return 0.0
        _, values, right = np.linalg.svd(self.vertices, full_matrices=False)
        basis = right[values > _RANK * values.max(initial=_TINY)].T  # of what they span
        if basis.shape[1] < len(self.rows) - self.carried.shape[1]:
            return 0.0
        flat = self.vertices @ basis
        if flat.shape[1] == 1:
            return float(max(0.0, min(flat.max(), -flat.min())))
        from scipy.spatial import ConvexHull

        return float(max(0.0, -ConvexHull(flat).equations[:, -1].max()))


class StaticLoads:
    """Envelopes of one mechanism at one state after another; not to be shared between threads."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Prepare; InputError: a motor has no effort limit, or there are none."""
        motors = mechanism.actuators
        if not len(motors):
            raise InputError("has no motors", place=mechanism.name)
        limits = zip(motors.names, motors.effort_limits, strict=True)
        if unlimited := [name for name, limit in limits if limit == np.inf]:
            problem = f"{', '.join(unlimited)}: expected an effort_limit, found none"
            raise InputError(problem, place="actuators")
        self._S, self._limits = motors.matrix, motors.effort_limits
        self._motion = LoopMotion(mechanism)
        self._dynamics = InterpretedDynamics(mechanism)

    def envelope(
        self, frame: Point, state: State, rows: Sequence[str] | None = None, *, weight: bool = True
    ) -> ForceEnvelope:
        """The envelope at a state, taken at rest; see :meth:`Mechanism.force_envelope`."""
        still = State(state.t, state.q, np.zeros(len(state.v)))
        motion, limits = self._motion, self._limits
        motion.update(still.q, None, still.t)
        Z = motion.velocities()
        J = twist_map(motion, frame, still.v)[0] @ Z
        places = _places(rows, J)
        load = self._dynamics.terms(still).F if weight else still.v
        K, N, own = J[places].T, Z.T @ self._S, Z.T @ load
        # K w = −(N u + own) in the range of K, and N u + own = 0 outside of it
        left, values, right = np.linalg.svd(K)
        rank = int(np.count_nonzero(values > _RANK * values.max(initial=_TINY)))
        inverse = right[:rank].T / values[:rank] @ left[:, :rank].T
        outside = left[:, rank:].T
        idle = outside @ N * limits
        efforts = _corners(outside @ N, -outside @ own, limits)
        vertices = -(efforts @ N.T + own) @ inverse.T
        shift = limits * (np.linalg.pinv(idle) @ (-outside @ own))
        axes, lengths, _ = np.linalg.svd(
            inverse @ N * limits @ null_basis(idle, _RANK), full_matrices=False
        )
        return ForceEnvelope(
            rows=tuple(WRENCH[k] for k in places),
            vertices=_unique(vertices),
            carried=right[rank:].T,
            centre=-inverse @ (N @ shift + own),
            axes=axes[:, :rank] * lengths[:rank],
        )


def _corners(E: Array, e: Array, limits: Array) -> Array:
    """Corners of the part of the box |u| ≤ limits where E u = e, (n, motors)."""
    m = len(limits)
    scaled = E * limits
    left, values, _ = np.linalg.svd(scaled)
    rank = int(np.count_nonzero(values > _RANK * values.max(initial=_TINY)))
    wanted = left.T @ e
    if np.abs(wanted[rank:]).max(initial=0.0) > _OUTSIDE * (1.0 + np.abs(values).max(initial=0.0)):
        return np.zeros((0, m))  # what the motors do not move is not in balance
    rows, wanted = (left.T @ scaled)[:rank], wanted[:rank]
    if 2 ** (m - rank) * math.comb(m, rank) > _MOST_CORNERS:
        raise InputError(f"expected fewer motors for a polytope, found {m}", place="actuators")
    free = m - rank
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=free))).reshape(2**free, free)
    found = []
    for inner in itertools.combinations(range(m), rank):
        at_limits = [k for k in range(m) if k not in inner]
        square, others = rows[:, inner], rows[:, at_limits]
        if rank and np.linalg.cond(square) > 1.0 / _RANK:
            continue
        u = np.zeros((len(signs), m))
        u[:, at_limits] = signs
        if rank:
            u[:, inner] = np.linalg.solve(square, wanted[:, None] - others @ signs.T).T
        found.append(u[np.abs(u).max(axis=1, initial=0.0) <= 1.0 + _OUTSIDE])
    return np.concatenate(found) * limits if found else np.zeros((0, m))


def _exit(vertices: Array, direction: Array) -> float:
    """Largest s with s · direction inside the convex hull of some points; 0 where none is."""
    from scipy.optimize import linprog

    n = len(vertices)
    if not n:
        return 0.0
    equations = np.block([[vertices.T, -direction[:, None]], [np.ones((1, n)), np.zeros((1, 1))]])
    right = np.append(np.zeros(len(direction)), 1.0)
    found = linprog(np.append(np.zeros(n), -1.0), A_eq=equations, b_eq=right, bounds=(0.0, None))
    return 0.0 if found.x is None else float(found.x[-1])


def _places(rows: Sequence[str] | None, J: Array) -> list[int]:
    if rows is None:
        size = np.abs(J[:3]).max(axis=1, initial=0.0)
        moving = size > 1e-6 * size.max(initial=0.0)
        if not moving.any():
            raise InputError("does not move here; name rows, of torques", place="frame")
        return [int(k) for k in np.flatnonzero(moving)]
    expect_names("component of a load", rows, WRENCH)
    return [WRENCH.index(name) for name in rows]


def _unique(points: Array) -> Array:
    """Points without those that are given twice, to rounding."""
    if not len(points):
        return points
    size = np.abs(points).max() or 1.0
    _, first = np.unique(np.round(points / size, 9), axis=0, return_index=True)
    return points[np.sort(first)]
