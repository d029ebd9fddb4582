# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How task rows change with the state and with what they follow, at a given acceleration."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from uk_dynamics.compilation.tangents.equation_trace import state_seeds
from uk_dynamics.compilation.tangents.forward_mode import Tangents
from uk_dynamics.compilation.trace.sparse_vectors import Sparse
from uk_dynamics.compilation.trace.symbols import Symbol
from uk_dynamics.compilation.trace.terms import StateInputs
from uk_dynamics.mechanism import Tasks


class TaskTangents(NamedTuple):
    """Derivatives along the velocity coordinates, v, t and the references: 2 nv + 1 + 3 mt columns.

    Symbols in the state, ``followed``, ``qdd``, ``multipliers`` of the rows and their gains
    ``damping`` and ``stiffness``.
    """

    rows: list[Sparse]  # of A_t q̈ + bias + damping·rate + stiffness·residual, mt rows
    force: list[Sparse]  # of A_tᵀ multipliers, nv rows


def task_tangents(tasks: Tasks) -> TaskTangents:
    """Trace them by forward mode."""
    count, nv = len(tasks.constraints), tasks.model.nv
    x = StateInputs(tasks.model, count)
    found = tasks.constraints.evaluate(x.kinematics, x.t, x.q, x.v, x.reference)
    graph = x.graph
    qdd, multipliers = graph.variables("qdd", nv), graph.variables("multipliers", count)
    damping, stiffness = (graph.variables(name, count) for name in ("damping", "stiffness"))
    known = state_seeds(x.tree, x.q, x.v) | {cast(Symbol, x.t): {2 * nv: 1.0}}
    if x.reference is not None:
        for k, symbol in enumerate(np.concatenate(x.reference)):
            known[symbol] = {2 * nv + 1 + k: 1.0}
    tangents = Tangents(known)
    rows = found.A @ qdd + found.bias + damping * found.rate + stiffness * found.residual
    return TaskTangents(
        [tangents(value) for value in rows],
        [tangents(value) for value in found.A.T @ multipliers],
    )
