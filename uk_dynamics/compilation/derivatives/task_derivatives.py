# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How task rows change, at a given acceleration; as symbols and as numbers."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from uk_dynamics.compilation.derivatives.equation_derivatives import MatrixValues
from uk_dynamics.compilation.derivatives.equation_trace import state_seeds
from uk_dynamics.compilation.derivatives.forward_mode import SymbolDerivatives
from uk_dynamics.compilation.trace.sparse_vectors import Sparse
from uk_dynamics.compilation.trace.symbols import Symbol
from uk_dynamics.compilation.trace.terms import StateInputs
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import column_count, effort_columns
from uk_dynamics.mechanism.resolution import Array, State


class TracedTaskDerivatives(NamedTuple):
    """Derivatives as symbols, by the columns of ``effort_columns``.

    Symbols are the state, ``followed``, ``qdd``, ``multipliers`` of the rows and their gains
    ``damping`` and ``stiffness``.
    """

    rows: list[Sparse]  # of A_t q̈ + bias + damping·rate + stiffness·residual, mt rows
    force: list[Sparse]  # of A_tᵀ multipliers, nv rows


def task_derivatives(tasks: Tasks) -> TracedTaskDerivatives:
    """Trace derivatives of the task rows by forward mode."""
    count, nv = len(tasks.constraints), tasks.model.nv
    x = StateInputs(tasks.model, count)
    found = tasks.constraints.evaluate(x.kinematics, x.t, x.q, x.v, x.reference)
    graph, columns = x.graph, effort_columns(nv, count)
    qdd, multipliers = graph.variables("qdd", nv), graph.variables("multipliers", count)
    damping, stiffness = (graph.variables(name, count) for name in ("damping", "stiffness"))
    known = state_seeds(x.tree, x.q, x.v) | {cast(Symbol, x.t): {cast(int, columns["t"]): 1.0}}
    given: dict[str, Any] = {"damping": damping, "stiffness": stiffness}
    if x.reference is not None:
        given |= dict(zip(("values", "rates", "accelerations"), x.reference, strict=True))
    for name, symbols in given.items():
        first = cast(slice, columns[name]).start
        known |= {symbol: {first + k: 1.0} for k, symbol in enumerate(symbols)}
    derivatives = SymbolDerivatives(known)
    rows = found.A @ qdd + found.bias + damping * found.rate + stiffness * found.residual
    return TracedTaskDerivatives(
        [derivatives(value) for value in rows],
        [derivatives(value) for value in found.A.T @ multipliers],
    )


class TaskValues:
    """Evaluates derivatives of the task rows in Python, as dense matrices."""

    def __init__(self, tasks: Tasks) -> None:
        """Trace the rows; milliseconds for each state then."""
        columns = effort_columns(tasks.model.nv, len(tasks.constraints))
        self._values = MatrixValues(task_derivatives(tasks), column_count(columns))
        rows = tasks.constraints
        self._gains = {"damping": rows.damping, "stiffness": rows.stiffness}

    def at(
        self, state: State, qdd: Array, multipliers: Array, reference: ReferenceSample | None
    ) -> tuple[Array, Array]:
        """Evaluate derivatives of the rows, (mt, n), and of A_tᵀ multipliers, (nv, n)."""
        followed = np.zeros(3 * len(multipliers)) if reference is None else reference
        arrays = {"q": state.q, "v": state.v, "qdd": qdd, "multipliers": multipliers}
        arrays |= self._gains | {"followed": np.ravel(followed)}
        rows, force = self._values({"t": state.t}, arrays)
        return rows, force
