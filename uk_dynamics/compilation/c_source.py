"""Symbols to C: one function of straight-line code, every operation once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from uk_dynamics.compilation.symbols import Symbol

_INFIX = {"+", "-", "*", "/"}
_COMPARISONS = {"<", "<="}


@dataclass(frozen=True)
class Dialect:
    """How C says the same for one state and for several at once.

    Attributes:
        real: Type of a number.
        truth: Type of a condition.
        prefix: Of mathematical functions.
        constant: What makes a number of that type from a literal; empty: nothing.
    """

    real: str
    truth: str
    prefix: str
    constant: str

    def literal(self, value: float) -> str:
        """A constant where C wants this type."""
        text = number(value)
        return f"{self.constant}({text})" if self.constant else text


#: One state.
SCALAR = Dialect("double", "double", "", "")
#: One state per lane, with the types and functions of ``lanes.c``.
LANES = Dialect("uk_lanes", "uk_mask", "uk_lanes_", "uk_all")


def assignments(targets: Sequence[tuple[str, Any]], dialect: Dialect = SCALAR) -> str:
    """C statements that compute symbols or constants into places.

    Args:
        targets: Pairs of an lvalue, such as ``F[2]``, and what goes there.
        dialect: For one state or for several.
    """
    return Writer(dialect).written(targets)


def number(value: float) -> str:
    """A float as C reads it back exactly."""
    if math.isinf(value):
        return "INFINITY" if value > 0.0 else "(-INFINITY)"
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


class Writer:
    """Writes blocks of statements; symbols keep the names that they have."""

    def __init__(self, dialect: Dialect) -> None:
        """Begin.

        Args:
            dialect: For one state or for several.
        """
        self._dialect = dialect
        self._named: dict[Symbol, str] = {}
        self._lines: list[str] = []

    def written(self, targets: Sequence[tuple[str, Any]]) -> str:
        """Statements of the next block; see :func:`assignments`."""
        for place, value in targets:
            if isinstance(value, Symbol):
                self._define(value)
                found = self._named[value]
            else:
                found = self._dialect.literal(value)
            self._lines.append(f"  {place} = {found};")
        lines, self._lines = self._lines, []
        return "\n".join(lines) + "\n"

    def _define(self, root: Symbol) -> None:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node in self._named:
                continue
            if node.operation == "input":
                self._named[node] = node.operands[0]
            elif not ready:
                stack.append((node, True))
                stack.extend((x, False) for x in reversed(node.operands) if isinstance(x, Symbol))
            elif node.operation in ("sin", "cos"):
                self._define_sine_and_cosine(node)
            else:
                name = self._named[node] = f"x{len(self._named)}"
                kind = self._dialect.real
                if node.operation in _COMPARISONS:
                    kind = self._dialect.truth
                self._lines.append(f"  const {kind} {name} = {self._expression(node)};")

    def _define_sine_and_cosine(self, node: Symbol) -> None:
        """Both at once: whoever needs one of an angle mostly needs the other."""
        (angle,) = node.operands
        names = []
        for function in ("sin", "cos"):
            symbol = node.graph.node(function, angle)
            self._named[symbol] = f"x{len(self._named)}"
            names.append(self._named[symbol])
        sine, cosine = names
        self._lines.append(
            f"  {self._dialect.real} {sine}, {cosine};"
            f" uk_{self._dialect.prefix.removeprefix('uk_')}sincos"
            f"({self._operand(angle)}, &{sine}, &{cosine});"
        )

    def _expression(self, node: Symbol) -> str:
        operands = [self._operand(x) for x in node.operands]
        if node.operation in _INFIX:
            return f"{operands[0]} {node.operation} {operands[1]}"
        if node.operation == "negate":
            return f"-{operands[0]}"
        prefix = self._dialect.prefix
        # a vector beside a literal is not enough here: both must be vectors
        full = [self._full(x) for x in node.operands]
        if node.operation in _COMPARISONS:
            return f"{full[0]} {node.operation} {full[1]}"
        if node.operation == "choose":
            if not prefix:
                return f"{full[0]} != 0.0 ? {full[1]} : {full[2]}"
            return f"uk_pick({', '.join(full)})"
        return f"{prefix}{node.operation}({', '.join(full)})"

    def _operand(self, value: Any) -> str:
        return self._named[value] if isinstance(value, Symbol) else number(value)

    def _full(self, value: Any) -> str:
        return self._named[value] if isinstance(value, Symbol) else self._dialect.literal(value)
