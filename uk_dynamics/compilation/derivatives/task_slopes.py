# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The derivatives of task rows at a state, as numbers."""

from __future__ import annotations

import numpy as np

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, State


class TaskSlopes:
    """By the state and by what tasks follow: columns q, v, t, values, rates, accelerations."""

    def __init__(self, tasks: Tasks) -> None:
        """Trace them; milliseconds for each state."""
        # traces, which few need
        from uk_dynamics.compilation.tangents.task_tangents import task_tangents
        from uk_dynamics.compilation.trace.symbol_values import SymbolValues

        traced = task_tangents(tasks)
        self._places = [[(i, j) for i, row in enumerate(part) for j in row] for part in traced]
        self._shapes = [
            (len(part), 2 * tasks.model.nv + 1 + 3 * len(traced.rows)) for part in traced
        ]
        self._values = SymbolValues([x for part in traced for row in part for x in row.values()])

    def at(
        self,
        state: State,
        qdd: Array,
        multipliers: Array,
        reference: ReferenceSample | None,
        damping: Array,
        stiffness: Array,
    ) -> tuple[Array, Array]:
        """Of A_t q̈ + bias + damping·rate + stiffness·residual, and of A_tᵀ multipliers."""
        followed = np.zeros(3 * len(damping)) if reference is None else np.concatenate(reference)
        arrays = {"q": state.q, "v": state.v, "followed": followed, "qdd": qdd}
        arrays |= {"multipliers": multipliers, "damping": damping, "stiffness": stiffness}
        inputs = {"t": state.t}
        for name, array in arrays.items():
            inputs |= {f"{name}[{i}]": float(x) for i, x in enumerate(array)}
        values = iter(self._values(inputs))
        found = []
        for places, shape in zip(self._places, self._shapes, strict=True):
            whole = np.zeros(shape)
            for place in places:
                whole[place] = next(values)
            found.append(whole)
        return found[0], found[1]
