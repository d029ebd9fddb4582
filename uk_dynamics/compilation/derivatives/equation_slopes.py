# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The derivatives of the two equations of motion at a state, as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State


class EquationSlopes(NamedTuple):
    """Columns: the velocity coordinates of q, those of v, and t, D = 2 nv + 1; or parameters.

    Attributes:
        motion: −∂(M x − F − Aᵀλ), (nv, D).
        rows: −∂(A x − b), (m, D).
        rates: ∂ψ̇, (m, D).
    """

    motion: Array
    rows: Array
    rates: Array


class SlopeSource(Protocol):
    """Evaluates them for one mechanism."""

    def at(
        self,
        state: State,
        qdd: Array,
        multipliers: Array,
        reference: ReferenceSample | None,
        *,
        stabilize: bool,
    ) -> EquationSlopes:
        """At a state, with x and λ held; fresh arrays."""


class TracedSlopes:
    """The same without a compiler, operation by operation; some thousand times slower."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Trace by q, v and t; where the mechanism varies parameters, by these instead."""
        # not needed where everything is compiled
        from uk_dynamics.compilation.tangents.parameter_tangents import tangents_of
        from uk_dynamics.compilation.trace.symbol_values import SymbolValues

        varied = mechanism.varied
        traced = tangents_of(mechanism)
        self._parameters = np.zeros(0) if varied is None else varied.values
        parts = (traced.motion, traced.rows, traced.rates)
        self._parts = [(part, traced.directions) for part in parts]
        self._values = SymbolValues(
            [x for part, _ in self._parts for row in part for x in row.values()]
        )

    def at(
        self,
        state: State,
        qdd: Array,
        multipliers: Array,
        reference: ReferenceSample | None,
        *,
        stabilize: bool,
    ) -> EquationSlopes:
        """See :class:`SlopeSource`."""
        inputs = {"t": state.t, "stabilize": float(stabilize)}
        arrays = {"q": state.q, "v": state.v, "qdd": qdd, "multipliers": multipliers}
        arrays["p"] = self._parameters
        arrays["followed"] = np.zeros(3 * len(multipliers))
        if reference is not None:
            arrays["followed"] = np.concatenate(reference)
        for name, array in arrays.items():
            inputs |= {f"{name}[{i}]": float(x) for i, x in enumerate(array)}
        values = iter(self._values(inputs))
        return EquationSlopes(*(_dense(part, width, values) for part, width in self._parts))


def _dense(rows: Sequence[Mapping[int, object]], width: int, values: Iterator[float]) -> Array:
    result = np.zeros((len(rows), width))
    for whole, row in zip(result, rows, strict=True):
        for j in row:
            whole[j] = next(values)
    return result
