# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The recursive Udwadia–Kalaba equation: levels of constraints, each enforced on the one below.

A recursion is immutable: enforcing a level gives a new one, and the old one is still the model
without it. That is how constraints are switched off: a direction that P has lost cannot be
recovered from it, but the level below still has it.

A step enforces one block of rows,

    a_{r+1} = a_r + K (b̃ − H̃ a_r)                                             (4.14)

with P = Z W Wᵀ Zᵀ instead of P itself. Rank is decided on the singular values of H̃Z, which belong
to what is new in the rows; H̃ P H̃ᵀ would show their squares, and rounding would hide the small ones.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dgeqp3, dgesdd, dormqr, dtrtrs

from uk_dynamics.arrays import Array, Flags, Indices


@dataclass(frozen=True)
class Block:
    """Coordinates coupled by constraints, and what these leave of their motion.

    P = Z W Wᵀ Zᵀ restricted to the block is the projector P_r of (4.15); with clearances it is the
    covariance of (4.18).
    """

    coordinates: Indices  # their indices, (n,)
    Z: Array  # orthonormal basis of the kernel of the rigid rows, (n, k)
    # what clearances leave of each direction, (k, k); None stands for the identity
    W: Array | None = None

    @property
    def root(self) -> Array:
        """Z W, a square root of P, (n, k)."""
        return self.Z if self.W is None else self.Z @ self.W


class Group(NamedTuple):
    """Blocks that the rows of one level tie together."""

    blocks: tuple[int, ...]  # indices of the blocks, ascending
    rows: Indices  # indices of the rows within the level, ascending


def group(touched: Flags) -> tuple[Group, ...]:
    """Connected groups of blocks and rows, in the order of their first rows.

    touched: Whether a row has entries in a block, (m, blocks).
    """
    groups: list[tuple[set[int], list[int]]] = []
    for row, blocks in enumerate(touched):
        members = set(np.flatnonzero(blocks).tolist())
        rows = [row]
        apart = []
        for others, other_rows in groups:
            if members & others:
                members |= others
                rows += other_rows
            else:
                apart.append((others, other_rows))
        groups = [*apart, (members, rows)]
    ordered = sorted((sorted(rows), sorted(members)) for members, rows in groups)
    return tuple(Group(tuple(members), np.array(rows, dtype=np.intp)) for rows, members in ordered)


def join(blocks: list[Block]) -> Block:
    """Several blocks as one; their operators stay decoupled."""
    if len(blocks) == 1:
        return blocks[0]
    W = None
    if any(block.W is not None for block in blocks):
        W = _diagonal([np.eye(b.Z.shape[1]) if b.W is None else b.W for b in blocks])
    coordinates = np.concatenate([block.coordinates for block in blocks])
    return Block(coordinates, _diagonal([block.Z for block in blocks]), W)


def _diagonal(parts: list[Array]) -> Array:
    heights = [len(part) for part in parts]
    widths = [part.shape[1] for part in parts]
    result = np.zeros((sum(heights), sum(widths)))
    row = column = 0
    for part, height, width in zip(parts, heights, widths, strict=True):
        result[row : row + height, column : column + width] = part
        row += height
        column += width
    return result


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
    factors, pivots, tau, _, _ = dgeqp3(H.dot(block.Z).T * inverse_scale, 3 * m + 3, 1)
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
    """Compliant rows, A q̈ + Rλ = b: the update and what it leaves of the block.

    (4.17), (4.18) in square-root form: with B = R^{-1/2} H̃ZW and the triangle T of [Bᵀ; I] = QT,
    TᵀT = BBᵀ + I, the gain is ZW BᵀT⁻¹T⁻ᵀ R^{-1/2} and what is left is ZW (I + BᵀB)^{-1/2}.
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


@dataclass(frozen=True)
class Recursion:
    """Constraint levels enforced so far, in coordinates whitened by a mass factor."""

    # groups of coordinates that share constraints, each with what is left of its motion
    blocks: tuple[Block, ...]
    owner: Indices  # block of each coordinate, (nv,)
    # what was enforced, in this order; several per level where blocks are decoupled
    updates: tuple[Update, ...] = ()

    @classmethod
    def free(cls, size: int) -> "Recursion":
        """No constraint on nv coordinates yet: each, whitened, is a block of its own, P₀ = I."""
        coordinates = np.arange(size)
        one = np.ones((1, 1))
        return cls(tuple(Block(coordinates[i : i + 1], one) for i in range(size)), coordinates)

    @property
    def rank(self) -> int:
        """Number of rows that hold exactly and were independent when they were enforced."""
        return sum(update.rank for update in self.updates)

    def enforce(
        self,
        rows: Indices,  # where its rows stand among all rows, (m,)
        H: Array,  # the rows Ã L⁻ᵀ, (m, nv). Exact zeros are what decouples modules
        inverse_scale: Array,  # one over the scale of each row, (m,)
        tolerance: float,  # rank is the number of singular values of the scaled H̃Z above it
        # diagonal of R of (4.17), (m,), 0 for rows that hold exactly; None is 0
        clearance: Array | None = None,
    ) -> "Recursion":
        """Add a level."""
        membership = np.zeros((len(self.owner), len(self.blocks)))
        membership[np.arange(len(self.owner)), self.owner] = 1.0
        touched = (H != 0.0) @ membership > 0.0
        updates = list(self.updates)
        merged: set[int] = set()
        added: list[Block] = []
        for members, members_rows in group(touched):
            joined = join([self.blocks[i] for i in members]) if members else _NOWHERE
            part = H[members_rows][:, joined.coordinates]
            ids = rows[members_rows]
            rigid = np.ones(len(ids), bool) if clearance is None else clearance[members_rows] == 0.0
            if rigid.any():
                update, joined = enforce_rigid(
                    joined, ids[rigid], part[rigid], inverse_scale[members_rows][rigid], tolerance
                )
                updates.append(update)
            if clearance is not None and not rigid.all():
                soft = ~rigid
                update, joined = enforce_with_clearance(
                    joined, ids[soft], part[soft], clearance[members_rows][soft]
                )
                updates.append(update)
            if members:
                merged.update(members)
                added.append(joined)
        left = (*(block for index, block in enumerate(self.blocks) if index not in merged), *added)
        owner = np.empty_like(self.owner)
        for index, block in enumerate(left):
            owner[block.coordinates] = index
        return Recursion(left, owner, tuple(updates))

    def advance(self, a: Array, b: Array, since: int = 0) -> Array:
        """Accelerations under the constraints from those of a lower level, (4.14); fresh, (nv,).

        ``a`` is the whitened acceleration after the first ``since`` updates, (nv,); without
        constraints it is L⁻¹ F. ``b`` is of all rows.
        """
        result = a.copy()
        for update in self.updates[since:]:
            update.apply(result, b)
        return result

    def project(self, x: Array) -> Array:
        """P x: what the constraints leave of whitened forces, (nv,) or (nv, k)."""
        result = np.empty_like(x)
        for block in self.blocks:
            root = block.root
            result[block.coordinates] = root @ (root.T @ x[block.coordinates])
        return result

    def root(self) -> Array:
        """The matrix Z W with P = Z W Wᵀ Zᵀ of all blocks, (nv, nv − rank)."""
        columns = [block.Z.shape[1] for block in self.blocks]
        result = np.zeros((len(self.owner), sum(columns)))
        start = 0
        for block, count in zip(self.blocks, columns, strict=True):
            result[block.coordinates, start : start + count] = block.root
            start += count
        return result


_NOWHERE = Block(np.empty(0, dtype=np.intp), np.empty((0, 0)))
