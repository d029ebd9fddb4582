# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Symbols evaluated in Python: on floats, on arrays of many states, or on any other numbers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from uk_dynamics.compilation.trace.sparse_vectors import Scalar
from uk_dynamics.compilation.trace.symbols import ARITHMETIC, in_order

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **ARITHMETIC,
    "choose": np.where,
    "fabs": np.abs,
    "pow": np.power,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "nearbyint": np.rint,
    "lookup": lambda table, x: table.values[np.asarray(x, dtype=np.intp)],
}


class SymbolValues:
    """A program that computes some symbols, ready to run many times."""

    def __init__(
        self, roots: Sequence[Scalar], functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        """Order the operations; ``functions`` replace NumPy's for other kinds of numbers."""
        known = {**_FUNCTIONS, **(functions or {})}
        self._roots, self._symbols = roots, in_order(roots, inputs=True)
        names = {symbol.operation for symbol in self._symbols} - {"input"}
        self._functions = {name: known.get(name) or getattr(np, name) for name in names}

    def __call__(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Values of the roots, from those of the inputs by name such as ``q[2]``."""
        values: dict[Any, Any] = {}
        value = values.get  # with itself as the other choice: what is no symbol
        for symbol in self._symbols:
            operands = symbol.operands
            if symbol.operation == "input":
                values[symbol] = inputs[operands[0]]
            else:
                values[symbol] = self._functions[symbol.operation](*map(value, operands, operands))
        return [value(x, x) for x in self._roots]
