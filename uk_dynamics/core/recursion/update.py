# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One step of the recursive Udwadia–Kalaba equation for one block: its gain and what is left.

    a_{r+1} = a_r + K (b̃ − H̃ a_r)                                             (4.14)

with P = Z W Wᵀ Zᵀ instead of P itself. Rank is decided on the singular values of H̃Z, which belong
to what is new in the rows; H̃ P H̃ᵀ would show their squares, and rounding would hide the small ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqp3, dgesdd, dormqr, dtrtrs

from uk_dynamics.core.recursion.blocks import Block

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


_NO_ROWS: Indices = np.empty(0, dtype=np.intp)
_NOTHING: Array = np.empty(0)


class Update(NamedTuple):
    """What the rows of one level do in one block.

    The gain is K = V T⁻ᵀ D with a triangle T that is solved with, never inverted: each step then
    leaves a residual of rounding only, and errors of the levels do not multiply.
    """

    rows: Indices  # indices of the independent rows, or of all rows with clearances, (r,)
    coordinates: Indices  # indices of the coordinates of the block, (n,)
    H: Array  # these whitened rows there, (r, n)
    inverse_scale: Array  # D, the diagonal, (r,)
    triangle: Array  # T, upper triangular, (r, r)
    response: Array  # V, (n, r)
    rigid: bool  # whether the rows hold exactly
    dependent: Indices = _NO_ROWS  # rows that depend on those or on earlier levels, (m − r,)
    # of what earlier levels and the independent rows before it leave of each scaled row, first of
    # the independent rows, then of the dependent ones, (m,)
    residual_norm: Array = _NOTHING

    @property
    def rank(self) -> int:
        """Number of rows that hold exactly now and did not before."""
        return len(self.rows) if self.rigid else 0

    @property
    def gain(self) -> Array:
        """K of (4.14) for the independent rows, (n, r)."""
        scaled = np.diag(self.inverse_scale)
        return self.response @ solve_triangle(self.triangle, scaled)

    def apply(self, a: Array, b: Array) -> None:
        """Enforce the rows on accelerations, in place."""
        if len(self.rows) == 0:
            return
        there = self.coordinates
        innovation = (b[self.rows] - self.H.dot(a[there])) * self.inverse_scale
        a[there] += self.response.dot(solve_triangle(self.triangle, innovation))


def solve_triangle(triangle: Array, x: Array) -> Array:
    """T⁻ᵀ x."""
    if x.size == 0:  # LAPACK knows no empty matrices
        return x
    result: Array = dtrtrs(triangle, x, 0, 1)[0]
    return result


def enforce_rigid(
    block: Block, rows: Indices, H: Array, inverse_scale: Array, tolerance: float
) -> tuple[Update, Block]:
    """Rows that hold exactly: K = (H̃P_r)ᵍ and P_{r+1} = (I − KH̃)P_r, (4.14), (4.15).

    tolerance: Rank is the number of singular values of the scaled H̃Z above it. Returns: The update
    and what it leaves of the block.
    """
    k, m = block.Z.shape[1], len(rows)
    if min(k, m) == 0:  # LAPACK knows no empty matrices
        nothing = np.empty((0, 0)), np.empty((len(block.coordinates), 0))
        update = Update(rows[:0], block.coordinates, H[:0], inverse_scale[:0], *nothing, True)
        return update._replace(dependent=rows, residual_norm=np.zeros(m)), block
    restricted = H.dot(block.Z).T * inverse_scale
    factors, pivots, tau, _, _ = dgeqp3(restricted, 3 * m + 3, 1)
    upper = np.triu(factors)
    rank = int(np.count_nonzero(dgesdd(upper, compute_uv=0)[1] > tolerance))
    order = pivots - 1
    triangle = upper[:rank, :rank]
    residual_norm = np.empty(m)
    residual_norm[:rank] = np.abs(triangle.diagonal())
    residual_norm[rank:] = np.sqrt(np.add.reduce(upper[rank:, rank:] ** 2, 0))
    Q = np.eye(k, order="F")
    if rank:
        Q = dormqr("L", "N", factors[:, :rank], tau[:rank], Q, k)[0]
    row_space, kernel = Q[:, :rank], Q[:, rank:]
    response, W = block.Z.dot(row_space), block.W
    if W is not None:
        # K = ZW (Q₁ᵀW)⁺ T⁻ᵀ D, and the W of what is left from the kernel of Q₁ᵀW.
        full, small = np.linalg.qr(W.T @ row_space, mode="complete")
        if rank:
            response = block.root @ dtrtrs(small[:rank], full[:, :rank].T)[0].T
        W = kernel.T @ W @ full[:, rank:]
    independent = order[:rank]
    update = Update(
        rows[independent],
        block.coordinates,
        H[independent],
        inverse_scale[independent],
        triangle,
        response,
        True,
        rows[order[rank:]],
        residual_norm,
    )
    return update, Block(block.coordinates, block.Z.dot(kernel), W)


def enforce_with_clearance(block: Block, rows: Indices, H: Array, R: Array) -> tuple[Update, Block]:
    """Compliant rows, A q̈ + Rλ = b: (4.17), (4.18) in square-root form.

    With B = R^{-1/2} H̃ZW and the triangle T of [Bᵀ; I] = QT, TᵀT = BBᵀ + I: the gain is
    ZW BᵀT⁻¹T⁻ᵀ R^{-1/2} and what is left is ZW (I + BᵀB)^{-1/2}.

    Returns: The update and what it leaves of the block.
    """
    inverse = 1.0 / np.sqrt(R)
    root = block.root
    B = (H @ root) * inverse[:, None]
    orthogonal, triangle = np.linalg.qr(np.vstack((B.T, np.eye(len(rows)))))
    _, values, right = np.linalg.svd(B, full_matrices=True)
    keep = np.ones(len(right))
    keep[: len(values)] = 1.0 / np.hypot(1.0, values)
    W = right.T * keep
    update = Update(
        rows, block.coordinates, H, inverse, triangle, root @ orthogonal[: root.shape[1]], False
    )
    return update, Block(block.coordinates, block.Z, W if block.W is None else block.W @ W)
