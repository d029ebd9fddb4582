# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Symbols evaluated in Python: on floats, on arrays of many states, or on any other numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from uk_dynamics.compilation.trace.sparse_vectors import Scalar
from uk_dynamics.compilation.trace.symbols import Symbol

_ARITHMETIC: Mapping[str, Callable[..., Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "negate": lambda x: -x,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "choose": np.where,
    "fabs": np.abs,
    "pow": np.power,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
}


class SymbolValues:
    """A program that computes some symbols, ready to run many times."""

    def __init__(
        self, roots: Sequence[Scalar], functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        """Order the operations; ``functions`` replace NumPy's for other kinds of numbers."""
        known = {**_ARITHMETIC, **(functions or {})}
        place: dict[Symbol, int] = {}
        self._inputs: list[tuple[int, str]] = []
        self._program: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self._constants: list[Any] = []
        for symbol in _in_order(roots):
            place[symbol] = len(place)
            if symbol.operation == "input":
                self._inputs.append((place[symbol], symbol.operands[0]))
                continue
            operation = symbol.operation
            function = known.get(operation) or getattr(np, operation)
            operands = tuple(
                place[x] if isinstance(x, Symbol) else _Constant(x) for x in symbol.operands
            )
            self._program.append((function, operands))
        self._symbols = list(place)
        self._roots = [place[x] if isinstance(x, Symbol) else _Constant(x) for x in roots]

    def __call__(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Values of the roots, from those of the inputs by name such as ``q[2]``."""
        values: list[Any] = []
        names = dict(self._inputs)
        program = iter(self._program)
        for k in range(len(self._symbols)):
            if k in names:
                values.append(inputs[names[k]])
                continue
            function, operands = next(program)
            values.append(
                function(*(x.value if isinstance(x, _Constant) else values[x] for x in operands))
            )
        return [x.value if isinstance(x, _Constant) else values[x] for x in self._roots]


class _Constant:
    """A number among places."""

    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value


def _in_order(roots: Sequence[Scalar]) -> list[Symbol]:
    """All symbols that some need, operands first."""
    stack = [x for x in roots if isinstance(x, Symbol)]
    found = set(stack)
    while stack:
        fresh = {x for x in stack.pop().operands if isinstance(x, Symbol)} - found
        found |= fresh
        stack += fresh
    return sorted(found, key=lambda x: x.number)
