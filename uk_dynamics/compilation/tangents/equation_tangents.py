# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How the two equations of constrained motion change with the state, at a given solution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics.compilation.tangents.block_tangents import BlockRow, block_tangents
from uk_dynamics.compilation.trace.sparse_vectors import Sparse, add_multiple, sparse
from uk_dynamics.mechanism.resolution import ResolvedMechanism


class EquationTangents(NamedTuple):
    """Derivatives along the velocity coordinates, v and t: columns 0 … nv−1, nv … 2nv−1, 2nv.

    They are symbols in ``t``, ``q``, ``v``, ``followed``, ``stabilize``, the acceleration ``qdd``
    and the ``multipliers``, one sparse vector per row.
    """

    motion: list[Sparse]  # of −G, nv rows
    rows: list[Sparse]  # of −H, m rows
    rates: list[Sparse]  # of the rates of the rows, m rows
    directions: int  # 2 nv + 1


def equation_tangents(mechanism: ResolvedMechanism) -> EquationTangents:
    """Trace them for the rows that act by themselves; switched ones act as well."""
    found = block_tangents(mechanism, 1)
    motion, rows, rates = ([_sparse(row) for row in part] for part in found)
    return EquationTangents(motion, rows, rates, 2 * mechanism.model.nv + 1)


def _sparse(row: BlockRow) -> Sparse:
    entries = sparse(np.concatenate([row.by_position, row.by_velocity]))
    add_multiple(entries, 1.0, row.others)
    return entries
