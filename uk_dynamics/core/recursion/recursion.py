# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The recursive Udwadia–Kalaba equation: levels of constraints, each enforced on the one below.

A recursion is immutable: enforcing a level gives a new one, and the old one is still the model
without it. That is how constraints are switched off: a direction that P has lost cannot be
recovered from it, but the level below still has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.recursion.blocks import Block, group, join
from uk_dynamics.core.recursion.update import Update, enforce_rigid, enforce_with_clearance

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Recursion:
    """Constraint levels enforced so far, in coordinates whitened by a mass factor."""

    # groups of coordinates that share constraints, each with what is left of its motion
    blocks: tuple[Block, ...]
    owner: Indices  # block of each coordinate, (nv,)
    # what was enforced, in this order; several per level where blocks are decoupled
    updates: tuple[Update, ...] = ()

    @classmethod
    def free(cls, size: int) -> Recursion:
        """No constraint yet: every whitened coordinate is a block of its own, P₀ = I.

        Args:
            size: Number of coordinates nv.
        """
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
    ) -> Recursion:
        """Add a level."""
        membership = np.zeros((len(self.owner), len(self.blocks)))
        membership[np.arange(len(self.owner)), self.owner] = 1.0
        touched = (H != 0.0) @ membership > 0.0
        blocks = list(self.blocks)
        updates = list(self.updates)
        merged: set[int] = set()
        added: list[Block] = []
        for members, members_rows in group(touched):
            joined = join([blocks[i] for i in members]) if members else _NOWHERE
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
        remaining = [block for index, block in enumerate(blocks) if index not in merged]
        return _recursion((*remaining, *added), len(self.owner), updates)

    def advance(self, a: Array, b: Array, since: int = 0) -> Array:
        """Accelerations under the constraints from those of a lower level, (4.14).

        Args:
            a: Whitened acceleration after the first ``since`` updates, (nv,); without constraints
                it is L⁻¹ F.
            b: Right-hand side of all rows.
            since: Updates that ``a`` fulfils already.

        Returns:
            Fresh, (nv,).
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


def _recursion(blocks: Sequence[Block], size: int, updates: Sequence[Update]) -> Recursion:
    owner = np.empty(size, dtype=np.intp)
    for index, block in enumerate(blocks):
        owner[block.coordinates] = index
    return Recursion(tuple(blocks), owner, tuple(updates))
