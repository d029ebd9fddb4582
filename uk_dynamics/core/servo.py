"""The closed-form servo law, in the dynamics that the structure has constrained already.

Motors act within q̈ = a_s + N S u, with a_s the motion of the structure at u = 0 and N what it
lets forces do. A task A_t q̈ = b_t then asks of the efforts u (servo paper (32), (35))

    C u = b_t − A_t a_s,  C = A_t N S,    u = G (b_t − A_t a_s) + (I − G C) s,

with G the pseudoinverse of C that makes uᵀ W u least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.fundamental_equation import NEGLIGIBLE_ACCELERATION, Factorization
from uk_dynamics.core.row_basis import ZERO_ROW, RowBasis

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# What motors leave of a task row counts as met below this part of the row's own size.
_MET = 1e-6


@dataclass(frozen=True, eq=False)
class ServoSolution:
    """Motor efforts and how far they serve the tasks.

    Attributes:
        efforts: u, (nu,), N m or N; where the tasks contradict each other or the motors cannot
            serve them, the residual's Euclidean norm is least.
        residual: What is missing, b_t − A_t q̈ with these efforts, (mt,).
        rank: Rank of A_t N S: what the motors move.
        task_rank: Rank of A_t within the admissible motions: what would have to be moved.
        controllable: Whether the motors can serve each row whatever (attainable) b_t asks, (mt,).
        reachable: Whether they serve each row now: controllable, and no residual, (mt,).
    """

    efforts: Array
    residual: Array
    rank: int
    task_rank: int
    controllable: Flags
    reachable: Flags

    @property
    def fully_reachable(self) -> bool:
        """Whether all rows are: both ranks agree and the residual of (33) vanishes."""
        return bool(self.reachable.all())


def servo_efforts(
    factorization: Factorization,
    qdd_free: Array,
    S: Array,
    A_t: Array,
    b_t: Array,
    *,
    weights: Array | None = None,
    preload: Array | None = None,
    rank_tolerance: float = 1e-6,
) -> ServoSolution:
    """Efforts that make the structure follow the tasks.

    Args:
        factorization: Of M and the structural constraints.
        qdd_free: Constrained acceleration a_s with the motors at rest, (nv,).
        S: Generalized forces per unit effort, (nv, nu).
        A_t: Task matrix, (mt, nv).
        b_t: Right-hand side of A_t q̈ = b_t, (mt,).
        weights: Diagonal of W, positive, (nu,); default ones.
        preload: s, the efforts to come close to where the tasks leave freedom, (nu,).
        rank_tolerance: A row of A_t N S is dependent when at most this part of its norm (or of a
            tenth of what perfectly placed motors would give it) is left.

    Returns:
        The efforts, with ranks and reachability.
    """
    root = np.ones(S.shape[1]) if weights is None else np.sqrt(weights)
    task, task_size = factorization.admissible_coordinates(A_t.T)
    motor, _ = factorization.admissible_coordinates(S / root)
    task_norms = np.linalg.norm(task, axis=0)
    fixed = task_norms <= ZERO_ROW * task_size  # the structure holds these rows by itself
    task[:, fixed] = 0.0
    task_rank = RowBasis(task, task_size, rank_tolerance).rank
    C = task.T @ motor
    attainable = task_norms * np.linalg.norm(motor)
    basis = RowBasis(np.asfortranarray(C.T), attainable, rank_tolerance)
    free = A_t @ qdd_free
    wanted = b_t - free
    scaled, range_basis = _least_efforts(basis, C, wanted)
    if preload is not None:
        scaled += _null_part(basis, root * preload)
    residual = wanted - C @ scaled
    if basis.rank == task_rank:
        controllable = np.ones(len(b_t), dtype=bool)
    else:
        unserved = task.T - range_basis @ (range_basis.T @ task.T)
        controllable = np.linalg.norm(unserved, axis=1) <= _MET * np.maximum(task_norms, 1e-300)
        controllable |= fixed
    size = np.abs(b_t) + np.abs(A_t) @ np.abs(qdd_free) + NEGLIGIBLE_ACCELERATION
    return ServoSolution(
        efforts=scaled / root,
        residual=residual,
        rank=basis.rank,
        task_rank=task_rank,
        controllable=controllable,
        reachable=controllable & (np.abs(residual) <= _MET * size),
    )


def _least_efforts(basis: RowBasis, C: Array, wanted: Array) -> tuple[Array, Array]:
    """C⁺ b with the rank of the basis, (nu,), and an orthonormal basis of the range of C."""
    mt, nu = C.shape
    if basis.rank == 0:
        return np.zeros(nu), np.zeros((mt, 0))
    if basis.rank == mt:
        return basis.basis_product(basis.coordinates(wanted)), np.eye(mt)
    selector = np.eye(nu, basis.rank, order="F")
    rows = basis.rotate_back(selector)
    q, r = np.linalg.qr(C @ rows)
    efforts: Array = rows @ np.linalg.solve(r, q.T @ wanted)
    return efforts, q


def _null_part(basis: RowBasis, x: Array) -> Array:
    """(I − C⁺C) x, (nu,)."""
    rotated = basis.rotate(x)
    rotated[: basis.rank] = 0.0
    return basis.rotate_back(rotated)
