# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Blocks of a mechanism: velocities, as those of a leg, that no row has with those of another."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from uk_dynamics.mechanism.resolution import ResolvedMechanism

_LEAST = 4_000  # products of the elimination as a whole, from which on blocks are looked for
_LARGE = 50_000  # from which on they may have more rows than velocities: these may not be sure
_WORTH = 0.3  # of what elimination costs as a whole: the most that blocks may cost


class Blocks(NamedTuple):
    """Velocities that blocks share, and of each block its own and the rows that have some of them.

    A last block has velocities without rows.
    """

    shared: list[int]
    columns: list[list[int]]
    rows: list[list[int]]

    def sizes(self) -> dict[str, int]:
        """What C has to know of them besides, by name."""
        cells = [len(r) * len(c) for r, c in zip(self.rows, self.columns, strict=True)]
        return {
            "BLOCKS": len(self.rows),
            "BLOCK_ROWS": sum(map(len, self.rows)),
            "BLOCK_CELLS": sum(cells),
            "MOST_BLOCK_ROWS": max(map(len, self.rows)),
            "SHARED": len(self.shared),
            "SHARED_ROOM": max(len(self.shared), 1),
        }

    def cost(self) -> int:
        """Products that the elimination of rows takes, about."""
        of_blocks = sum(
            _products(len(rows), len(columns), len(columns) + len(self.shared))
            + min(len(rows), len(columns)) * len(self.shared) ** 2
            for rows, columns in zip(self.rows, self.columns, strict=True)
        )
        return of_blocks + len(self.shared) ** 3


def lasting_rows(
    mechanism: ResolvedMechanism, supports: Sequence[Collection[int]]
) -> dict[int, Collection[int]]:
    """Those that steps over contacts do not switch, with their velocities; none where none do."""
    constraints, one_sided = mechanism.constraints, mechanism.hierarchy.one_sided
    every = np.arange(len(constraints))
    switched = {int(r) for name in one_sided for r in every[constraints.slices[name]]}
    return {r: x for r, x in enumerate(supports) if switched and r not in switched}


def blocks_of(supports: Mapping[int, Collection[int]], velocities: int) -> Blocks | None:
    """The blocks that cost least; None: that is little, or they cost three tenths of it or more.

    supports: Of each row the velocities that its whitened form has, with all before them towards
    the root, which have smaller numbers: so what is shared begins at the root.
    """
    whole = _products(len(supports), velocities, velocities)
    if whole < _LEAST:
        return None
    shared: set[int] = set()
    found = []
    while True:
        one = _apart(supports, shared, velocities)
        found.append(one)
        largest = max((c for c, r in zip(one.columns, one.rows, strict=True) if r), default=[])
        if len(largest) < 2:
            break
        shared.add(largest[0])
    best = min(found, key=Blocks.cost)
    redundant = any(len(r) > len(c) for c, r in zip(best.columns, best.rows, strict=True))
    worth = best.cost() < _WORTH * whole and not (redundant and whole < _LARGE)
    return best if worth else None


def _products(rows: int, columns: int, length: int) -> int:
    return rows * min(rows, columns) * length


def _apart(supports: Mapping[int, Collection[int]], shared: set[int], velocities: int) -> Blocks:
    """Blocks with these velocities shared."""
    blocks: list[tuple[set[int], list[int]]] = []
    for r, support in supports.items():
        columns, rows = set(support) - shared, [r]
        if not columns:
            continue
        for other in [x for x in blocks if x[0] & columns]:
            blocks.remove(other)
            columns |= other[0]
            rows = other[1] + rows
        blocks.append((columns, rows))
    rest = set(range(velocities)).difference(shared, *(columns for columns, _ in blocks))
    blocks += [(rest, [])] if rest else []
    return Blocks(sorted(shared), [sorted(x) for x, _ in blocks], [sorted(x) for _, x in blocks])
