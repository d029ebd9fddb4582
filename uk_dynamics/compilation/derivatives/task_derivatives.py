# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How task rows change, at a given acceleration; as symbols and as numbers."""

from collections.abc import Mapping
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

#: Settings of the law that its conditions have as symbols, by what C calls them in its memory.
SETTINGS = {
    "damping": "task_damping",
    "stiffness": "task_stiffness",
    "preload": "preload",
    "weights": "weights",
}


class TracedTaskDerivatives(NamedTuple):
    """Derivatives as symbols, by the columns of ``effort_columns``.

    Symbols are the state, ``followed``, ``qdd``, ``multipliers`` of the rows, the ``efforts`` and
    the names of ``SETTINGS``.
    """

    rows: list[Sparse]  # of A_t q̈ + bias + damping·rate + stiffness·residual, mt rows
    force: list[Sparse]  # of A_tᵀ multipliers, nv rows
    wish: list[Sparse]  # of W (u − s) with the weights W and the preload s, one row for each motor


def task_derivatives(tasks: Tasks) -> TracedTaskDerivatives:
    """Trace derivatives of the conditions of the efforts by forward mode, with unknowns held."""
    count, nv, motors = len(tasks.constraints), tasks.model.nv, len(tasks.mechanism.actuators)
    x = StateInputs(tasks.model, count)
    found = tasks.constraints.evaluate(x.kinematics, x.t, x.q, x.v, x.reference)
    graph, columns = x.graph, effort_columns(nv, count, motors)
    sizes = {"qdd": nv, "multipliers": count, "efforts": motors}
    sizes |= {"damping": count, "stiffness": count, "preload": motors, "weights": motors}
    given: dict[str, Any] = {name: graph.variables(name, size) for name, size in sizes.items()}
    qdd, multipliers, efforts, damping, stiffness, preload, weights = given.values()
    if x.reference is not None:
        given |= dict(zip(("values", "rates", "accelerations"), x.reference, strict=True))
    known = state_seeds(x.tree, x.q, x.v) | {cast(Symbol, x.t): {cast(int, columns["t"]): 1.0}}
    for name in columns.keys() & given.keys():
        first = cast(slice, columns[name]).start
        known |= {symbol: {first + k: 1.0} for k, symbol in enumerate(given[name])}
    derivatives = SymbolDerivatives(known)
    rows = found.A @ qdd + found.bias + damping * found.rate + stiffness * found.residual
    conditions = (rows, found.A.T @ multipliers, weights * (efforts - preload))
    return TracedTaskDerivatives(*([derivatives(value) for value in part] for part in conditions))


class TaskValues:
    """Evaluates derivatives of the conditions of the efforts in Python, as dense matrices."""

    def __init__(self, tasks: Tasks) -> None:
        """Trace the conditions; milliseconds for each state then."""
        motors = len(tasks.mechanism.actuators)
        columns = effort_columns(tasks.model.nv, len(tasks.constraints), motors)
        self._values = MatrixValues(task_derivatives(tasks), column_count(columns))

    def at(
        self,
        state: State,
        reference: ReferenceSample | None,
        settings: Mapping[str, Array],
        **held: Array,
    ) -> tuple[Array, Array, Array]:
        """Evaluate derivatives as :class:`TracedTaskDerivatives` has them, (mt or nv or nu, n).

        Held are ``qdd``, ``multipliers`` and ``efforts``; settings have their names in C.
        """
        followed = np.zeros(3 * len(held["multipliers"])) if reference is None else reference
        arrays = {"q": state.q, "v": state.v, "followed": np.ravel(followed)} | held
        arrays |= {name: settings[field] for name, field in SETTINGS.items()}
        rows, force, wish = self._values({"t": state.t}, arrays)
        return rows, force, wish
