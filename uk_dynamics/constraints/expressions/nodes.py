# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Expression trees: nodes, their algebra, and how to walk them.

Equal trees are one object: a tree is compared, shared and looked up by identity. + − * / ** build
trees, simplified a little: constants are folded, sums and products flattened, like terms and
integer powers of like factors collected. This may remove a singularity that can be lifted (x/x is
1), never add one.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakValueDictionary

from uk_dynamics.constraints.expressions.whitelist import FUNCTIONS
from uk_dynamics.exceptions import ExpressionError


class Expression:
    """A node: :class:`Number`, :class:`Variable`, :class:`Sum`, :class:`Product`, ... ."""

    def __add__(self, other: Expression | float) -> Expression:
        return add(self, _node(other))

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return multiply(number(-1.0), self)

    def __sub__(self, other: Expression | float) -> Expression:
        return add(self, -_node(other))

    def __rsub__(self, other: float) -> Expression:
        return add(number(other), -self)

    def __mul__(self, other: Expression | float) -> Expression:
        return multiply(self, _node(other))

    def __truediv__(self, other: Expression | float) -> Expression:
        if other is ZERO:
            raise ExpressionError("a division by zero")
        return multiply(self, power(_node(other), number(-1.0)))

    def __rtruediv__(self, other: float) -> Expression:
        return number(other) / self

    def __pow__(self, exponent: Expression | float) -> Expression:
        return power(self, _node(exponent))


@dataclass(frozen=True, eq=False, repr=False)
class Number(Expression):
    """A finite constant."""

    value: float


@dataclass(frozen=True, eq=False, repr=False)
class Variable(Expression):
    """A joint coordinate, its rate, its acceleration, or the time."""

    name: str  # Name of a joint; ``t`` is the time where no joint is meant (see :data:`TIME_NAME`)
    order: int = 0  # 0 position, 1 rate, 2 acceleration


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Expression):
    """Terms added, at least two, no sum among them; a number comes last."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Product(Expression):
    """Factors multiplied, at least two, no product among them; a number comes first."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Power(Expression):
    """``base`` to the power of ``exponent``; quotients are powers of −1, square roots of ½."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True, eq=False, repr=False)
class Call(Expression):
    """A function of its arguments, one of those in ``whitelist.py``."""

    function: str
    arguments: tuple[Expression, ...]


TIME_NAME = ""  # no joint has an empty name, so time and a joint called t are never mixed up


def children(node: Expression) -> tuple[Expression, ...]:
    """Nodes directly below a node."""
    match node:
        case Sum(terms):
            return terms
        case Product(factors):
            return factors
        case Power(base, exponent):
            return base, exponent
        case Call(_, arguments):
            return arguments
    return ()


def topological(roots: Iterable[Expression]) -> list[Expression]:
    """All nodes below some roots, each once and after its children."""
    order: dict[Expression, None] = {}
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node in order:
                continue
            if ready:
                order[node] = None
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(children(node)))
    return list(order)


def variables(roots: Iterable[Expression]) -> tuple[Variable, ...]:
    """Variables that occur below some roots, each once, in the order of their occurrence."""
    return tuple(node for node in topological(roots) if isinstance(node, Variable))


_Node = TypeVar("_Node", bound=Expression)

_known: WeakValueDictionary[tuple[object, ...], Expression] = WeakValueDictionary()
_known_lock = threading.Lock()


def _unique(kind: type[_Node], *fields: object) -> _Node:
    """The one node of this kind with these fields."""
    key = (kind, *fields)
    with _known_lock:
        node = _known.get(key)
        if node is None:
            node = _known[key] = kind(*fields)
    assert isinstance(node, kind)
    return node


def number(value: float) -> Number:
    """A constant."""
    if not math.isfinite(value):
        raise ExpressionError("a constant here is too large for a number")
    return _unique(Number, float(value) + 0.0)  # + 0.0: there is one zero


def _node(value: Expression | float) -> Expression:
    return value if isinstance(value, Expression) else number(value)


def variable(name: str, order: int = 0) -> Variable:
    """A joint's position (order 0), rate (1) or acceleration (2)."""
    return _unique(Variable, name, order)


ZERO = number(0.0)
ONE = number(1.0)
TIME = variable(TIME_NAME)


def add(*terms: Expression) -> Expression:
    """The sum of the terms."""
    constant = 0.0
    coefficients: dict[Expression, float] = {}
    for term in _flat(Sum, terms):
        if isinstance(term, Number):
            constant += term.value
        else:
            coefficient, rest = _split_coefficient(term)
            coefficients[rest] = coefficients.get(rest, 0.0) + coefficient
    found = [multiply(number(c), rest) for rest, c in coefficients.items() if c != 0.0]
    if constant != 0.0:
        found.append(number(constant))
    if len(found) < 2:
        return found[0] if found else ZERO
    if any(isinstance(term, Sum) for term in found):
        return add(*found)
    return _unique(Sum, tuple(found))


def multiply(*factors: Expression) -> Expression:
    """The product of the factors; integer powers of one base are collected."""
    coefficient = 1.0
    powers: dict[Expression, float] = {}
    for factor in _flat(Product, factors):
        if isinstance(factor, Number):
            coefficient *= factor.value
        else:
            base, exponent = _split_power(factor)
            powers[base] = powers.get(base, 0.0) + exponent
    if coefficient == 0.0:
        return ZERO
    found = [power(base, number(n)) for base, n in powers.items() if n != 0.0]
    if any(isinstance(factor, Product) for factor in found):
        return multiply(number(coefficient), *found)
    if coefficient != 1.0 or not found:
        found.insert(0, number(coefficient))
    return found[0] if len(found) == 1 else _unique(Product, tuple(found))


def power(base: Expression, exponent: Expression) -> Expression:
    """``base`` to the power of ``exponent``."""
    if exponent is ZERO or base is ONE:
        return ONE
    if exponent is ONE:
        return base
    if isinstance(base, Number) and isinstance(exponent, Number):
        return _constant(math.pow, f"{base.value:g} ** {exponent.value:g}", base, exponent)
    if isinstance(base, Power) and _is_integer(base.exponent) and _is_integer(exponent):
        return power(base.base, multiply(base.exponent, exponent))
    return _unique(Power, base, exponent)


def call(function: str, *arguments: Expression) -> Expression:
    """A function of :data:`FUNCTIONS` of its arguments."""
    if all(isinstance(argument, Number) for argument in arguments):
        shown = ", ".join(f"{a.value:g}" for a in arguments if isinstance(a, Number))
        return _constant(FUNCTIONS[function].value, f"{function}({shown})", *arguments)
    if function == "sqrt":
        return power(arguments[0], number(0.5))
    return _unique(Call, function, arguments)


def _constant(function: object, shown: str, *arguments: Expression) -> Number:
    assert callable(function)
    try:
        value = function(*(a.value for a in arguments if isinstance(a, Number)))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ExpressionError(f"{shown} has no value") from None
    return number(value)


def _flat(kind: type[Expression], parts: Iterable[Expression]) -> Iterator[Expression]:
    """Parts of sums in a sum, or of products in a product."""
    for part in parts:
        yield from children(part) if isinstance(part, kind) else (part,)


def _split_coefficient(term: Expression) -> tuple[float, Expression]:
    if isinstance(term, Product) and isinstance(term.factors[0], Number):
        rest = term.factors[1:]
        return term.factors[0].value, rest[0] if len(rest) == 1 else _unique(Product, rest)
    return 1.0, term


def _split_power(factor: Expression) -> tuple[Expression, float]:
    # Only integers: the square root of x, squared, has no value where x is negative, and x has.
    match factor:
        case Power(base, Number(exponent)) if exponent.is_integer():
            return base, exponent
    return factor, 1.0


def _is_integer(exponent: Expression) -> bool:
    return isinstance(exponent, Number) and exponent.value.is_integer()


_RATES = ("{}", "d({})", "dd({})")


def to_text(node: Expression) -> str:
    """Write a tree as an expression; joints appear under their own names."""
    match node:
        case Number(value):
            whole = value.is_integer() and abs(value) < 1e15
            return str(int(value)) if whole else repr(value)
        case Variable(name, order):
            return "t" if name == TIME_NAME else _RATES[order].format(name)
        case Sum(terms):
            return _sum(terms)
        case Product(factors):
            sign = "-" if isinstance(factors[0], Number) and factors[0].value == -1.0 else ""
            return sign + "*".join(_factor(f) for f in (factors[1:] if sign else factors))
        case Power(base, exponent):
            if isinstance(exponent, Number) and exponent.value == 0.5:
                return f"sqrt({to_text(base)})"
            negative = isinstance(base, Number) and base.value < 0.0
            shown = f"({to_text(base)})" if negative else _atom(base)
            return f"{shown}**{_atom(exponent)}"
        case Call(function, arguments):
            return f"{function}({', '.join(to_text(a) for a in arguments)})"
    raise TypeError(f"no text for {type(node).__name__}")


def _sum(terms: tuple[Expression, ...]) -> str:
    text = to_text(terms[0])
    for term in terms[1:]:
        part = to_text(term)
        text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return text


def _factor(node: Expression) -> str:
    return f"({to_text(node)})" if isinstance(node, Sum) else to_text(node)


def _atom(node: Expression) -> str:
    text = to_text(node)
    plain = isinstance(node, Number | Variable | Call) or text.startswith("sqrt(")
    return text if plain else f"({text})"
