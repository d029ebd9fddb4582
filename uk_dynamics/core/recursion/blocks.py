# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which coordinates are coupled: modules that share no constraint are computed apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


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


def group(touched: NDArray[np.bool_]) -> tuple[Group, ...]:
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
