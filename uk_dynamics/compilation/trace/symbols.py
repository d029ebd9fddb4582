# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Scalars that remember how they were computed, so that array code written once becomes C.

NumPy arrays of dtype object hold them; its operators and ufuncs call the methods below. Constants
stay Python floats, so that multiplications by zero and one vanish while they are written, and equal
operations on equal operands are one node: common subexpressions never arise.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.expressions import FUNCTIONS as EXPRESSION_FUNCTIONS
from uk_dynamics.constraints.rows import POINTS, TOUCH, HullPair
from uk_dynamics.core.linalg import Table, choose

Objects = NDArray[np.object_]
Operand = Any  # a Symbol or a float

#: Numbers in a vector: the operands of ``row``, of which ``lane`` takes one out. Sums and products
#: with vectors are vectors.
WIDTH = 8


class Graph:
    """All nodes of one trace; a node is an operation and its operands."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Symbol] = {}

    def variable(self, name: str) -> Symbol:
        """The input that C calls ``name``, such as ``q[2]``."""
        return self.node("input", name)

    def variables(self, name: str, count: int) -> Objects:
        """Inputs ``name[0]`` … as an array, (count,)."""
        return as_objects([self.variable(f"{name}[{i}]") for i in range(count)])

    def node(self, operation: str, *operands: Any) -> Symbol:
        """The node of an operation, made when it is new."""
        key = (operation, *operands)
        found = self._known.get(key)
        if found is None:
            found = Symbol(self, len(self._known), operation, operands)
            self._known[key] = found
        return found


class Symbol:
    """A scalar that is computed later; comparisons give conditions for :meth:`choose`."""

    __slots__ = ("graph", "number", "operands", "operation")
    __hash__ = object.__hash__

    def __init__(
        self, graph: Graph, number: int, operation: str, operands: tuple[Any, ...]
    ) -> None:
        self.graph = graph
        self.number = number  # of the node; operands have smaller ones
        self.operation = operation  # an operator, the name of a C function, ``input`` or ``choose``
        self.operands = operands  # symbols and floats; of an input its name

    def __add__(self, other: Operand) -> Operand:
        if isinstance(other, Symbol):
            if other.operation == "negate":
                return self - other.operands[0]
            if self.operation == "negate":
                return other - self.operands[0]
            if self.operation == other.operation == "-" and self.operands == other.operands[::-1]:
                return 0.0
            return self._commutative("+", other)
        return self if other == 0.0 else self._commutative("+", float(other))

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Operand:
        if other is self:
            return 0.0
        if isinstance(other, Symbol):
            if other.operation == "negate":
                return self + other.operands[0]
            return self.graph.node("-", self, other)
        return self if other == 0.0 else self.graph.node("-", self, float(other))

    def __rsub__(self, other: Operand) -> Operand:
        return -self if other == 0.0 else self.graph.node("-", float(other), self)

    def __mul__(self, other: Operand) -> Operand:
        if isinstance(other, Symbol):
            if self.operation == "negate":
                return -(self.operands[0] * other)
            if other.operation == "negate":
                return -(self * other.operands[0])
            return self._commutative("*", other)
        if other == 0.0:
            return 0.0
        if other == 1.0:
            return self
        return -self if other == -1.0 else self._commutative("*", float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Operand:
        if isinstance(other, Symbol):
            return self.graph.node("/", self, other)
        return self * (1.0 / other)

    def __rtruediv__(self, other: Operand) -> Operand:
        return 0.0 if other == 0.0 else self.graph.node("/", float(other), self)

    def __pow__(self, exponent: Operand) -> Operand:
        if isinstance(exponent, Symbol):
            return self.graph.node("pow", self, exponent)
        if exponent == 0.5:
            return self.sqrt()
        if float(exponent).is_integer() and abs(exponent) <= 8:
            power = _integer_power(self, abs(int(exponent)))
            return power if exponent >= 0 else 1.0 / power
        return self.graph.node("pow", self, float(exponent))

    def __rpow__(self, base: Operand) -> Operand:
        return self.graph.node("pow", float(base), self)

    def __neg__(self) -> Operand:
        if self.operation == "negate":
            return self.operands[0]
        if self.operation == "-":
            return self.operands[1] - self.operands[0]
        return self.graph.node("negate", self)

    def __abs__(self) -> Symbol:
        return self.graph.node("fabs", self)

    def __lt__(self, other: Operand) -> Symbol:
        return self.graph.node("<", self, other)

    def __le__(self, other: Operand) -> Symbol:
        return self.graph.node("<=", self, other)

    def __gt__(self, other: Operand) -> Symbol:
        return self.graph.node("<", other, self)

    def __ge__(self, other: Operand) -> Symbol:
        return self.graph.node("<=", other, self)

    def __bool__(self) -> bool:
        raise TypeError(
            "a symbol has no truth value; use uk_dynamics.core.linalg.symbolic_functions"
        )

    def choose(self, yes: Operand, no: Operand) -> Operand:
        """``yes`` where this condition holds, else ``no``; both are computed."""
        return yes if yes is no else self.graph.node("choose", self, yes, no)

    def lookup(self, table: Table) -> Symbol:
        """The number of a table at this index."""
        return self.graph.node("lookup", table, self)

    def touching(self, pair: HullPair, place: Objects) -> Objects:
        """What is known of each point of two hulls where symbols are, of which this is one."""
        numbers = [self.graph.node("touch", pair, k, *place) for k in range(POINTS * TOUCH)]
        return as_objects(numbers).reshape(POINTS, TOUCH)

    def conjugate(self) -> Symbol:
        """Itself; NumPy's dot products ask for it."""
        return self

    def __getattr__(self, name: str) -> Any:
        # sqrt, sin … as NumPy calls them on objects
        function = _C_NAMES.get(name)
        if function is None:
            raise AttributeError(name)
        return lambda *operands: self.graph.node(function, self, *operands)

    @property
    def functions(self) -> Mapping[str, Callable[..., Operand]]:
        """What expressions may call, on symbols and floats."""
        return FUNCTIONS

    def _commutative(self, operation: str, other: Operand) -> Symbol:
        if isinstance(other, Symbol) and other.number > self.number:
            return self.graph.node(operation, other, self)
        return self.graph.node(operation, self, other)


# Method that NumPy (or an expression) calls: function of <math.h>
_C_NAMES = {name: name for name in ("sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")} | {
    "exp": "exp",
    "log": "log",
    "rint": "nearbyint",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
}


def _call(name: str, value: Callable[..., float]) -> Callable[..., Operand]:
    def function(*operands: Operand) -> Operand:
        symbols = [x for x in operands if isinstance(x, Symbol)]
        return symbols[0].graph.node(name, *operands) if symbols else value(*operands)

    return function


def _sign(x: Operand) -> Operand:
    if not isinstance(x, Symbol):
        return EXPRESSION_FUNCTIONS["sign"].value(x)
    return (x > 0.0).choose(1.0, (x < 0.0).choose(-1.0, 0.0))


def _extreme(smallest: bool) -> Callable[..., Operand]:
    def better(found: Operand, x: Operand) -> Operand:
        return choose(x < found if smallest else found < x, x, found)

    return lambda *operands: reduce(better, operands)


#: The functions of expressions by name.
FUNCTIONS: Mapping[str, Callable[..., Operand]] = {
    name: _call(name, f.value) for name, f in EXPRESSION_FUNCTIONS.items() if f.smooth
} | {"abs": abs, "sign": _sign, "min": _extreme(smallest=True), "max": _extreme(smallest=False)}


def _integer_power(base: Operand, exponent: int) -> Operand:
    if exponent == 0:
        return 1.0
    half = _integer_power(base, exponent // 2)
    return half * half if exponent % 2 == 0 else half * half * base


def sine_and_cosine(angle: Operand) -> tuple[Operand, Operand]:
    """Both of an angle; a float gives floats."""
    if isinstance(angle, Symbol):
        return angle.sin(), angle.cos()
    return math.sin(angle), math.cos(angle)


class Substitution:
    """Symbols with other values in the place of some of them."""

    def __init__(self, values: Mapping[Symbol, Operand]) -> None:
        """Begin with the symbols that are replaced."""
        self._known = dict(values)

    def __call__(self, value: Operand) -> Operand:
        """A symbol or a constant with them."""
        stack = [value] if isinstance(value, Symbol) else []  # depth first, for the order of sums
        while stack:
            node = stack[-1]
            operands = [x for x in node.operands if isinstance(x, Symbol)]
            missing = [x for x in operands if x not in self._known]
            if missing and node not in self._known:
                stack += missing
                continue
            stack.pop()
            if node not in self._known:
                self._known[node] = self._again(node)
        return self._known[value] if isinstance(value, Symbol) else value

    def _again(self, node: Symbol) -> Operand:
        if node.operation == "input":
            return node
        operands = [self._known[x] if isinstance(x, Symbol) else x for x in node.operands]
        if node.operation in _AGAIN:
            return _AGAIN[node.operation](*operands)
        if any(isinstance(x, Symbol) for x in operands):
            return node.graph.node(node.operation, *operands)
        return getattr(math, node.operation)(*operands)


#: Operations that Python has itself, on symbols as on numbers.
ARITHMETIC: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "negate": operator.neg,
    "<": operator.lt,
    "<=": operator.le,
}
_AGAIN: Mapping[str, Callable[..., Operand]] = {
    **ARITHMETIC,
    "choose": choose,
    "nearbyint": lambda x: x.rint() if isinstance(x, Symbol) else float(round(x)),
    "lookup": lambda table, x: table(x),
}


def as_objects(values: Any) -> Objects:
    """An array of dtype object, whatever the values are; shape as that of nested lists."""
    return cast(Objects, np.array(values, dtype=object))


def in_order(
    roots: Iterable[Any], *, inputs: bool = False, known: Collection[Symbol] = ()
) -> list[Symbol]:
    """All operations below some roots, operands first; with the inputs of them if wanted.

    What is known is left out, and so is what it alone needs.
    """
    stack = [x for x in roots if isinstance(x, Symbol) and x not in known]
    seen = set(stack)
    while stack:
        operands = stack.pop().operands
        fresh = {x for x in operands if isinstance(x, Symbol) and x not in known} - seen
        seen |= fresh
        stack += fresh
    wanted = (node for node in seen if inputs or node.operation != "input")
    return sorted(wanted, key=lambda node: node.number)
