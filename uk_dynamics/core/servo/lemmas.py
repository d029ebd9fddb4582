# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The lemmas of the servo paper: consistency, controllability, and everything left arbitrary.

All of them concern the solutions of K x = r:

    (27)  A q̈ = b has a solution:                  ``solutions(A, b).consistent``
    (28)  ẍ = C⁺b + (I − C⁺C) c:                    ``solutions(C, b).at(c)``
    (29)  F = C⁺(b − C a) + (I − C⁺C) r:            ``solutions(C, b - C @ a).at(r)``
    (33)  (C B̄) u = b̄ has a solution:              ``solutions(C @ B, b).consistent``
    (35)  u = (C B̄)⁺b̄ + (I − (C B̄)⁺(C B̄)) s:      ``solutions(C @ B, b).at(s)``

:func:`servo_lemmas` answers them for tasks on a structure: there ẍ are coordinates of the motions
that the structure leaves, so that C = A_t Kᵀ, B̄ = K S with N = KᵀK. Lemma 2, that A and C are
consistent together, then needs one more condition: the structure does not fix a task by itself.
"""

from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array, Flags
from uk_dynamics.core.equation.fundamental_equation import Factorization
from uk_dynamics.core.linalg.rank_rule import (
    DEFAULT_CONSISTENCY_TOLERANCE,
    DEFAULT_TASK_RANK_TOLERANCE,
    LEAST_PART,
    NEGLIGIBLE_ACCELERATION,
    TINY,
    ZERO_ROW,
)


@dataclass(frozen=True, eq=False)
class LinearSolutions:
    """All solutions of K x = r."""

    # K⁺ r, the one of least norm, (n,); where there is none, a least-squares solution with rows of
    # unit norm
    least: Array
    null_basis: Array  # orthonormal basis of what may be added, (n, n − rank)
    rank: int  # rank of K
    residual: Array  # r − K x, whatever is added, (m,)
    contradicting: Flags  # rows that take part in a contradiction, (m,)

    @property
    def consistent(self) -> bool:
        """Whether there is a solution: K K⁺ r = r, (27) and (33)."""
        return not self.contradicting.any()

    @property
    def freedom(self) -> int:
        """How many numbers may be chosen: the arbitrary vector counts only in these directions."""
        return int(self.null_basis.shape[1])

    def at(self, arbitrary: Array) -> Array:
        """K⁺ r + (I − K⁺K) z, (n,): of all solutions the nearest to the arbitrary vector z."""
        return self.least + self.null_basis @ (self.null_basis.T @ arbitrary)


@dataclass(frozen=True, eq=False)
class ServoLemmas:
    """The lemmas applied to tasks at one state of a structure with motors."""

    # solutions of C ẍ = b̄, in the motions that the structure leaves: (27), (28), (29)
    tasks: LinearSolutions
    efforts: LinearSolutions  # solutions of (C B̄) u = b̄, in the units of S: (33), (35)
    held: Flags  # rows that the structure holds by itself, (mt,): no motor moves them

    @property
    def rank(self) -> int:
        """Rank of C B̄ = A_t N S: what the motors move."""
        return self.efforts.rank

    @property
    def task_rank(self) -> int:
        """Number of independent task rows: what would have to be moved."""
        return self.tasks.rank

    @property
    def necessary(self) -> bool:
        """Condition (34), rank ≥ 1. Theorem 1 calls it sufficient, which it is for one row only."""
        return self.rank >= 1

    @property
    def controllable(self) -> bool:
        """Whether the motors serve whatever the tasks may ask consistently."""
        return self.rank == self.task_rank


def solutions(
    K: Array,  # any matrix, (m, n)
    r: Array,  # right-hand side, (m,)
    *,
    # how large each row is elsewhere, (m,): a row that is next to nothing of it counts as zero.
    # Default: as large as now; see :func:`inverse_row_scale`
    natural_scale: Array | None = None,
    size: Array | None = None,  # how large the terms were whose difference r is, (m,); default |r|
    # smallest singular value that counts, of rows of unit norm
    rank_tolerance: float = DEFAULT_TASK_RANK_TOLERANCE,
    # a row contradicts others when its residual is above this part of ``size`` and |K||x|
    consistency_tolerance: float = DEFAULT_CONSISTENCY_TOLERANCE,
) -> LinearSolutions:
    """Solve K x = r; what is left arbitrary is in the result."""
    norms = np.linalg.norm(K, axis=1)
    if natural_scale is None:
        natural_scale = np.full(len(r), norms.max(initial=0.0))
        scale = norms.copy()
    else:
        scale = np.maximum(norms, LEAST_PART * natural_scale)
    inverse = np.where(norms > ZERO_ROW * natural_scale, 1.0 / (scale + TINY), 0.0)
    U, values, Vt = np.linalg.svd(K * inverse[:, None])
    rank = int(np.count_nonzero(values > rank_tolerance))
    least: Array = Vt[:rank].T @ ((U[:, :rank].T @ (inverse * r)) / values[:rank])
    residual = r - K @ least
    bound = np.abs(r) if size is None else size
    bound = bound + np.abs(K) @ np.abs(least)
    return LinearSolutions(
        least=least,
        null_basis=Vt[rank:].T,
        rank=rank,
        residual=residual,
        contradicting=np.abs(residual) > consistency_tolerance * bound,
    )


def servo_lemmas(
    factorization: Factorization,  # of M and the structural constraints
    qdd_free: Array,  # constrained acceleration a_s at zero effort, (nv,)
    # generalized forces per unit effort, (nv, nu); per part of its limit where motors are of
    # different kind
    S: Array,
    A_t: Array,  # task matrix, (mt, nv)
    b_t: Array,  # right-hand side of A_t q̈ = b_t, (mt,)
    *,
    # as for :func:`uk_dynamics.core.servo.servo_law.servo_efforts`
    rank_tolerance: float = DEFAULT_TASK_RANK_TOLERANCE,
    consistency_tolerance: float = DEFAULT_CONSISTENCY_TOLERANCE,  # as for :func:`solutions`
) -> ServoLemmas:
    """Apply the lemmas to tasks A_t q̈ = b_t on a structure: consistency, ranks, all solutions."""
    columns, task_size = factorization.admissible_coordinates(A_t.T)
    motor, _ = factorization.admissible_coordinates(S)
    C = columns.T
    norms = np.linalg.norm(C, axis=1)
    held = norms <= ZERO_ROW * task_size.max(initial=0.0)
    C[held] = 0.0
    missing = b_t - A_t @ qdd_free
    size = np.abs(b_t) + np.abs(A_t) @ np.abs(qdd_free) + NEGLIGIBLE_ACCELERATION
    tolerances = {"rank_tolerance": rank_tolerance, "consistency_tolerance": consistency_tolerance}
    return ServoLemmas(
        tasks=solutions(C, missing, natural_scale=task_size, size=size, **tolerances),
        efforts=solutions(
            C @ motor, missing, natural_scale=norms * np.linalg.norm(motor), size=size, **tolerances
        ),
        held=held,
    )
