# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The five pseudoinverse algorithms that de Falco, Pennestrì and Vita compare.

Orthogonal factors, (16)–(21): SVD, Varga's two QR, Householder; Greville's recursion over the rows,
(22); and modified Gram–Schmidt, column by column as least-squares solutions. Q of modified
Gram–Schmidt is orthogonal only to rounding times the condition number. Solutions stay as accurate
as Householder's when Q is never used as if it were orthogonal, but one column after the other, on
the running residual (Å. Björck, *BIT* 7 (1967), 1–21).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg.lapack import dgeqp3, dgeqrf, dorgqr, dtrtri, dtrtrs

from uk_dynamics.arrays import Array
from uk_dynamics.exceptions import InputError, expect_names


@dataclass(frozen=True, eq=False)
class Pseudoinverse:
    """The Moore–Penrose inverse of a matrix whose rank was decided.

    What is inverted is not A but the matrix of exactly this rank that the algorithm put in its
    place, here as a product of two full-rank factors.
    """

    matrix: Array  # A⁺, (n, m)
    left: Array  # its columns span the range, (m, rank)
    right: Array  # its rows span the range of the transpose, (rank, n)

    @property
    def rank(self) -> int:
        """Rank that the tolerance left."""
        return int(self.left.shape[1])

    @property
    def truncated(self) -> Array:
        """The matrix that was inverted, A without what fell under the tolerance, (m, n)."""
        return self.left @ self.right

    @property
    def transposed(self) -> "Pseudoinverse":
        """The pseudoinverse of Aᵀ."""
        return Pseudoinverse(self.matrix.T, self.right.T, self.left.T)


def pivoted_qr(A: Array, rank_tolerance: float) -> tuple[Array, Array]:
    """Full-rank factors Q₁ T of A, from A P = Q R cut off where its pivots become small.

    rank_tolerance: Pivots |R_kk| up to this part of the first one are zero. Returns: Q₁, (m, r),
    orthonormal, and T = R₁ Pᵀ, (r, n).
    """
    m, n = A.shape
    if A.size == 0:
        return np.zeros((m, 0)), np.zeros((0, n))
    factors, pivots, tau, _, _ = dgeqp3(A)
    sizes = np.abs(factors.diagonal())
    rank = int(np.count_nonzero(sizes > rank_tolerance * sizes[0]))
    if rank == 0:
        return np.zeros((m, 0)), np.zeros((0, n))
    T = np.empty((rank, n))
    T[:, pivots - 1] = np.triu(factors[:rank])
    return dorgqr(factors[:, :rank], tau[:rank])[0], T


def full_rank_qr(A: Array) -> tuple[Array, Array]:
    """A = Q R without pivoting.

    A: Of full column rank r > 0, (m, r). Returns: Q, (m, r), orthonormal, and R, (r, r), upper
    triangular.
    """
    rank = A.shape[1]
    factors, tau, _, _ = dgeqrf(A)
    return dorgqr(factors, tau)[0], np.triu(factors[:rank])


def by_singular_values(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """A = U Σ Vᵀ, so A⁺ = V Σ⁺ Uᵀ.

    rank_tolerance: Singular values up to this part of the largest are zero.
    """
    U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int(np.count_nonzero(sigma > rank_tolerance * sigma[0]))
    U, sigma, Vt = U[:, :rank], sigma[:rank], Vt[:rank]
    return Pseudoinverse((Vt.T / sigma) @ U.T, U * sigma, Vt)


def by_two_qr(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """A = U₁ G₁ and G₁ᵀ = V₁ G₂ᵀ, so A⁺ = V₁ G₂⁻¹ U₁ᵀ with the inverse formed.

    The first factorisation pivots: without it, small diagonal entries do not show the rank.

    rank_tolerance: Pivots of the first factorisation up to this part of the largest are zero.
    """
    U, G = pivoted_qr(A, rank_tolerance)
    if U.shape[1] == 0:
        return Pseudoinverse(np.zeros(A.shape[::-1]), U, G)
    V, upper = full_rank_qr(G.T)
    return Pseudoinverse(V @ dtrtri(upper)[0].T @ U.T, U, G)


def by_householder(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """Columns x_i = A⁺ e_i: the shortest of the vectors that leave the least of A x = e_i.

    With rows of A written as T Q₁ᵀ the shortest solution is x = Q₁ y, (18), and y solves the
    overdetermined T y ≈ e_i of full rank, (16), by a second factorisation kept for all i. The
    normal equations that the paper writes are never formed. Where m > n the roles of rows and
    columns change.

    rank_tolerance: Pivots of the first factorisation up to this part of the largest are zero.
    """
    m, n = A.shape
    if m > n:
        return by_householder(A.T, rank_tolerance).transposed
    Q, Tt = pivoted_qr(A.T, rank_tolerance)
    T = Tt.T
    if Q.shape[1] == 0:
        return Pseudoinverse(np.zeros((n, m)), T, Q.T)
    W, upper = full_rank_qr(T)
    return Pseudoinverse(Q @ dtrtrs(upper, W.T)[0], T, Q.T)


def by_gram_schmidt(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """As :func:`by_householder`, with both factorisations by modified Gram–Schmidt.

    Pivots of the first one up to the tolerance, a part of the largest, are zero.
    """
    m, n = A.shape
    if m > n:
        return by_gram_schmidt(A.T, rank_tolerance).transposed
    Q, T = _orthogonalize(A, rank_tolerance)
    return Pseudoinverse(_shortest(Q, _least_squares(T)), T, Q.T)


def _orthogonalize(A: Array, rank_tolerance: float) -> tuple[Array, Array]:
    """A = T Qᵀ, row of largest residual norm first: Q (n, r) and T (m, r)."""
    rows = A.copy()
    m, n = A.shape
    Q, T = np.empty((n, m)), np.zeros((m, m))
    first = 0.0
    for k in range(m):
        squares = np.add.reduce(rows * rows, 1)
        pivot = int(squares.argmax())
        size = float(np.sqrt(squares[pivot]))
        first = first or size
        if size <= rank_tolerance * first:
            return Q[:, :k], T[:, :k]
        q = rows[pivot] / size
        part = rows @ q
        rows -= np.outer(part, q)
        rows[pivot] = 0.0  # what the projection leaves of the pivot row is rounding
        Q[:, k], T[:, k] = q, part
    return Q, T


def _least_squares(T: Array) -> Array:
    """The y_i that leave the least of T y_i = e_i, as columns, (r, m)."""
    m, rank = T.shape
    if rank == 0:
        return np.zeros((0, m))
    # The right-hand sides are orthogonalised like further columns.
    work = np.hstack((T, np.eye(m)))
    upper = np.zeros((rank, rank + m))
    for k in range(rank):
        size = np.sqrt(work[:, k] @ work[:, k])
        q = work[:, k] / size
        upper[k, k] = size
        upper[k, k + 1 :] = q @ work[:, k + 1 :]
        work[:, k + 1 :] -= np.outer(q, upper[k, k + 1 :])
    y: Array = dtrtrs(upper[:, :rank], upper[:, rank:])[0]
    return y


def _shortest(Q: Array, y: Array) -> Array:
    """The shortest x with Qᵀ x = y for each column of y, (n, m)."""
    x = np.zeros((len(Q), y.shape[1]))
    for k in range(len(y) - 1, -1, -1):
        x += np.outer(Q[:, k], y[k] - Q[:, k] @ x)
    return x


def by_greville(A: Array, rank_tolerance: float, *, projections: int = 1) -> Pseudoinverse:
    """Each row aᵢ = dᵢ Aᵢ₋₁ + cᵢ adds a column bᵢ: Aᵢ⁺ = [Aᵢ₋₁⁺ − bᵢ dᵢ, bᵢ].

    Rows come in the order given, without pivoting, so every leading block is inverted on the way:
    where one of them is nearly singular, digits are lost that A itself would not lose.

    For a dependent row the paper writes dᵢ Aᵢ₋₁⁺ / (1 + dᵢ dᵢᵀ); the sizes fit only for the
    transpose, Aᵢ₋₁⁺ dᵢᵀ.

    Args:
        A: (m, n), with entries.
        rank_tolerance: A row is dependent when |cᵢ| is at most this part of the longest row.
        projections: How often a row is projected off those before it. The paper does so once; a
            second projection removes the rounding of the first and recovers most digits.
    """
    m, n = A.shape
    inverse = np.zeros((n, m))
    least = rank_tolerance**2 * float(np.einsum("ij,ij->i", A, A).max())
    independent: list[int] = []
    left = np.zeros((m, min(m, n)))  # rows in terms of the independent ones
    for i, a in enumerate(A):
        d = a @ inverse[:, :i]
        c = a - d @ A[:i]
        for _ in range(projections - 1):
            again = c @ inverse[:, :i]
            d += again
            c -= again @ A[:i]
        if c @ c > least and len(independent) < n:
            b = c / (c @ c)
            left[i, len(independent)] = 1.0
            independent.append(i)
        else:
            b = inverse[:, :i] @ d / (1.0 + d @ d)
            left[i] = d @ left[:i]
        inverse[:, :i] -= np.outer(b, d)
        inverse[:, i] = b
    return Pseudoinverse(inverse, left[:, : len(independent)], A[independent])


PseudoinverseMethod = Literal["svd", "varga", "greville", "householder", "gram_schmidt"]

ALGORITHMS: dict[PseudoinverseMethod, Callable[[Array, float], Pseudoinverse]] = {
    "svd": by_singular_values,
    "varga": by_two_qr,
    "greville": by_greville,
    "householder": by_householder,
    "gram_schmidt": by_gram_schmidt,
}


def pseudoinverse(
    A: Array, method: PseudoinverseMethod = "svd", *, rank_tolerance: float, projections: int = 1
) -> Pseudoinverse:
    """The Moore–Penrose inverse of A cut down to its rank.

    The algorithms measure small parts differently: singular values against the largest, pivots of
    QR against the first, Greville the residual norm of a row against the longest row. Rows of one
    length make the measures alike.

    Args:
        A: (m, n), of any rank; it is not changed.
        method: ``svd``, ``varga`` (two QR factorisations), ``greville`` (row by row),
            ``householder`` or ``gram_schmidt`` (least squares by that factorisation).
        rank_tolerance: Relative size up to which a part counts as zero, at least 0, below 1.
        projections: Of ``greville``, see :func:`by_greville`; the others need no second one.

    Raises:
        InputError: Unknown method, a tolerance out of range, or entries that are not finite.
    """
    expect_names("pseudoinverse", [method], ALGORITHMS)
    if not 0.0 <= rank_tolerance < 1.0:
        raise InputError(
            f"expected a rank tolerance of at least 0 and below 1, found {rank_tolerance}"
        )
    m, n = A.shape
    if A.size == 0:
        return Pseudoinverse(np.zeros((n, m)), np.zeros((m, 0)), np.zeros((0, n)))
    if not math.isfinite(float(np.abs(A).sum())):
        raise InputError("the matrix to invert is not finite")
    if method == "greville":
        return by_greville(A, rank_tolerance, projections=projections)
    return ALGORITHMS[method](A, rank_tolerance)
