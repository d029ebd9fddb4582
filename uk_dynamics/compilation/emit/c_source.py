# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Symbols to C: statements of straight-line code, every operation once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from uk_dynamics.compilation.trace.symbols import Symbol, as_objects

_INFIX = {"+", "-", "*", "/"}
_COMPARISONS = {"<", "<="}
VECTOR = "uk_block"  # type of several columns side by side


@dataclass(frozen=True)
class Dialect:
    """How C says the same for one state and for several at once."""

    real: str  # type of a number
    truth: str  # type of a condition
    prefix: str  # of mathematical functions
    constant: str  # what makes a number of that type from a literal; empty: nothing

    def literal(self, value: float) -> str:
        """A constant where C wants this type."""
        text = number(value)
        return f"{self.constant}({text})" if self.constant else text


#: One state.
SCALAR = Dialect("double", "double", "", "")
#: One state per lane, with the types and functions of ``lanes.c``.
LANES = Dialect("uk_lanes", "uk_mask", "uk_lanes_", "uk_all")


@dataclass(frozen=True)
class Statement:
    """One line of C."""

    text: str  # the line
    makes: tuple[str, ...]  # names that it declares
    reads: tuple[str, ...]  # names of others that it needs; inputs are not among them
    kind: str  # type of what it makes
    place: str = ""  # where it stores the name that it reads; empty: it makes one, or a vector
    choice: tuple[str, ...] = ()  # of a choice by lanes: condition, what if so, what else
    kinds: tuple[str, ...] = ()  # where it makes several: the type of each


def number(value: float) -> str:
    """A float as C reads it back exactly."""
    if math.isinf(value):
        return "INFINITY" if value > 0.0 else "(-INFINITY)"
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


class Writer:
    """Writes statements that compute symbols; those computed before keep their names."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._named: dict[Symbol, str] = {}
        self._vectors: set[Symbol] = set()
        self._statements: list[Statement] = []

    def statements(self, targets: Sequence[tuple[str, Any]]) -> list[Statement]:
        """What computes symbols or constants into places, and was not computed before.

        Places of vectors are given as where they begin and how many numbers are wanted.
        """
        for place, value in targets:
            if isinstance(value, Symbol):
                self._define(value)
            if isinstance(value, Symbol) and value in self._vectors:
                self._add(f"uk_put({place}, {self._named[value]});", (), (value,))
            elif isinstance(value, Symbol):
                self._add(f"{place} = {self._named[value]};", (), (value,), place=place)
            else:
                self._add(f"{place} = {self._dialect.literal(value)};", (), ())
        written, self._statements = self._statements, []
        return written

    def definitions(self, symbols: Sequence[Symbol]) -> list[Statement]:
        """What computes symbols for later statements."""
        for symbol in symbols:
            self._define(symbol)
        written, self._statements = self._statements, []
        return written

    def _add(
        self,
        text: str,
        makes: tuple[str, ...],
        operands: Sequence[Any],
        kind: str = "",
        place: str = "",
        choice: tuple[str, ...] = (),
    ) -> None:
        symbols = (x for x in operands if isinstance(x, Symbol) and x.operation != "input")
        reads = tuple(self._named[x] for x in symbols)
        self._statements.append(
            Statement(f"  {text}", makes, reads, kind or self._dialect.real, place, choice)
        )

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
            elif node.operation == "touch":
                self._define_touching(node)
            else:
                name = self._named[node] = f"x{len(self._named)}"
                kind = self._kind(node)
                text = f"const {kind} {name} = {self._expression(node)};"
                by_lanes = node.operation == "choose" and self._dialect.prefix
                choice = tuple(map(self._full, node.operands)) if by_lanes else ()
                self._add(text, (name,), node.operands, kind, choice=choice)

    def _kind(self, node: Symbol) -> str:
        if node.operation in _COMPARISONS:
            return self._dialect.truth
        among = node.operation != "lane" and any(x in self._vectors for x in node.operands)
        if among or node.operation == "row":
            self._vectors.add(node)
            return VECTOR
        return self._dialect.real

    def _define_sine_and_cosine(self, node: Symbol) -> None:
        """Both at once: code that needs one of them mostly needs the other."""
        (angle,) = node.operands
        names = []
        for function in ("sin", "cos"):
            symbol = node.graph.node(function, angle)
            self._named[symbol] = f"x{len(self._named)}"
            names.append(self._named[symbol])
        sine, cosine = names
        text = (
            f"{self._dialect.real} {sine}, {cosine};"
            f" uk_lanes_sincos({self._operand(angle)}, &{sine}, &{cosine});"
        )
        self._add(text, (sine, cosine), (angle,))

    def _define_touching(self, node: Symbol) -> None:
        """All numbers of two hulls at once."""
        pair, _, *place = node.operands
        numbers = node.touching(pair, as_objects(place)).ravel()
        names = [self._named.setdefault(x, f"x{len(self._named)}") for x in numbers]
        parent, child = (f"&{hull.name}" for hull in pair.hulls)
        real = self._dialect.real
        at, found = ", ".join(map(self._full, place)), ", &".join(names)
        text = (
            f"{real} {', '.join(names)};"
            f" {self._dialect.prefix or 'uk_'}touch({parent}, {child},"
            f" (const {real}[]){{{at}}}, ({real} *const[]){{&{found}}});"
        )
        self._add(text, tuple(names), place)

    def _expression(self, node: Symbol) -> str:
        prefix = self._dialect.prefix
        if node.operation == "lookup":
            table, index = node.operands
            return f"{prefix or 'uk_'}lookup({table.name}, {len(table)}, {self._full(index)})"
        operands = [self._operand(x) for x in node.operands]
        if node.operation in _INFIX:
            return f"{operands[0]} {node.operation} {operands[1]}"
        if node.operation == "negate":
            return f"-{operands[0]}"
        if node.operation == "row":
            return f"({VECTOR}){{{', '.join(operands)}}}"
        if node.operation == "lane":
            return f"{operands[0]}[{int(node.operands[1])}]"
        # a vector and a literal are not enough here: both must be vectors
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
