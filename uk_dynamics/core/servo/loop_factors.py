# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What unmeasured coordinates do when measured ones move: A δ = r with part of δ measured.

The columns of A split into measured ones A_m and others A_u of full column rank. With A_u = Q R the
first rows of Qᵀ A δ = Qᵀ r give δ_u from δ_m. The other rows, Q₂ᵀ A_m δ_m = Q₂ᵀ r, are empty where
no more coordinates are measured than can move freely. Where more are, they are conditions on the
measurements, and δ_m is the nearest to the measured one in units of the deviations.
"""

import functools
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgeqp3, dormqr, dtrtrs

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.core.linalg.rank_rule import KERNEL_ROUNDING


@dataclass(frozen=True)
class Split:
    """Which coordinates are measured, and how they are weighed; what is in neither part stays."""

    measured: Indices  # places of the measured coordinates, (d,)
    others: Indices  # places of the others, (u,)
    # how far each other coordinate moves for a unit of row, (u,): it makes metres and radians
    # comparable
    scale: Array
    deviation: Array  # standard deviation of each measurement, (d,), in m or rad
    conditions: int  # how many conditions the rows put on the measured coordinates alone


def undetermined(A: Array, scale: Array, measured: Indices, tolerance: float) -> Indices:
    """Coordinates that can move while the measured ones stand still, and rows (m, nv) hold.

    ``scale`` is of coordinates, (nv,); singular values up to this part of the largest are zero.
    """
    free = np.setdiff1d(np.arange(A.shape[1]), measured)
    _, values, rows = np.linalg.svd(A[:, free] * scale[free])
    rank = int(np.sum(values > tolerance * values[0])) if len(values) else 0
    found: Indices = free[np.linalg.norm(rows[rank:], axis=0) > KERNEL_ROUNDING]
    return found


def free_motions(A: Array, scale: Array, tolerance: float) -> int:
    """Dimension of the kernel of A (m, nv), by singular values relative to the largest."""
    values = np.linalg.svd(A * scale, compute_uv=False)
    return int(A.shape[1] - np.sum(values > tolerance * max(values, default=0.0)))


class LoopFactors:
    """Factorisation of the rows at one configuration, for steps, velocities and covariances."""

    def __init__(self, A: Array, split: Split, tolerance: float) -> None:
        """Factor rows, (m, nv), m at least u; A_u is singular below the tolerance of regularity."""
        self._split = split
        self._measured = A[:, split.measured]
        self._others = A[:, split.others] * split.scale
        self._count = len(split.others)
        self._size = A.shape[1]
        if self._count:
            self._factors, pivots, self._tau, _, _ = dgeqp3(self._others, 3 * len(A) + 3)
            self._order = pivots - 1
            pivot = np.abs(self._factors.diagonal())
            # smallest over largest pivot of the scaled A_u, about one over its condition
            self.regularity = float(pivot[-1] / pivot[0]) if pivot[0] > 0.0 else 0.0
        else:
            self.regularity = 1.0
        # whether that is below the tolerance; directions that the rows leave open are then not
        # moved at all
        self.singular = self.regularity < tolerance
        self._tolerance = tolerance

    @property
    def open_others(self) -> Indices:
        """Other coordinates that the rows leave (nearly) open here, by their place in v."""
        _, values, rows = np.linalg.svd(self._others)
        rank = int(np.sum(values >= 2.0 * self._tolerance * values[0])) if len(values) else 0
        moves = np.linalg.norm(rows[rank:], axis=0)
        found: Indices = self._split.others[moves > np.sqrt(KERNEL_ROUNDING)]
        return found

    def move(self, target: Array, wanted: Array) -> Array:
        """The δ, (nv,), with A δ = target whose measured part, (d,), is nearest to one wanted."""
        split = self._split
        if split.conditions:
            C, rest = self._condition(target)
            wanted = wanted + split.deviation * (C @ (rest - self._conditions @ wanted))
        delta = np.zeros(self._size)
        delta[split.measured] = wanted
        delta[split.others] = self._solve(target - self._measured @ wanted)
        return delta

    def sensitivity(self) -> Array:
        """How far each coordinate moves per measured one, J, (nv, d)."""
        split = self._split
        d = len(split.measured)
        moved = np.eye(d)
        if split.conditions:
            C, _ = self._condition(np.zeros(len(self._measured)))
            moved -= split.deviation[:, None] * (C @ self._conditions)
        J = np.zeros((self._size, d))
        J[split.measured] = moved
        J[split.others] = self._solve(-(self._measured @ moved))
        return J

    @functools.cached_property
    def _inverse(self) -> Array:
        """Truncated pseudoinverse of the scaled A_u, for singular ones."""
        return np.asarray(np.linalg.pinv(self._others, rcond=2.0 * self._tolerance), dtype=float)

    def _solve(self, b: Array) -> Array:
        """Least squares of A_u δ_u = b; b is (m,) or (m, k)."""
        scale = self._split.scale if b.ndim == 1 else self._split.scale[:, None]
        if not self._count:
            return np.zeros((0, *b.shape[1:]))
        if self.singular:
            return np.asarray(scale * (self._inverse @ b))
        solved = dtrtrs(self._factors[: self._count], self._rotated(b)[: self._count])[0]
        result = np.empty_like(solved)
        result[self._order] = solved
        return np.asarray(scale * result)

    def _rotated(self, b: Array) -> Array:
        work = 1 if b.ndim == 1 else b.shape[1]
        rotated = dormqr("L", "T", self._factors, self._tau, b, 64 * work)[0]
        return np.asarray(rotated[:, 0] if b.ndim == 1 and rotated.ndim == 2 else rotated)

    @functools.cached_property
    def _conditions(self) -> Array:
        """The conditions on measured coordinates alone, (m − u, d)."""
        return self._rotated(self._measured)[self._count :] if self._count else self._measured

    @functools.cached_property
    def _condition_inverse(self) -> Array:
        """Pseudoinverse of the conditions in units of the deviations, (d, m − u)."""
        # Their rank is known, but lower where the machine is singular. It is judged before
        # weighing: deviations may differ by orders of magnitude.
        left, values, _ = np.linalg.svd(self._conditions, full_matrices=False)
        known = values[: self._split.conditions]
        rank = int(np.sum(known > self._tolerance * values[0]))
        independent = left[:, :rank].T
        weighted = independent @ self._conditions * self._split.deviation
        inverse: Array = np.linalg.pinv(weighted) @ independent
        return inverse

    def _condition(self, target: Array) -> tuple[Array, Array]:
        rest = self._rotated(target)[self._count :] if self._count else target
        return self._condition_inverse, rest
