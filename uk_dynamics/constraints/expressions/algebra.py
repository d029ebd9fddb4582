# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Building expression trees: simplified a little, and equal trees are one object.

Simplification folds constants, flattens sums and products, collects like terms and integer powers
of like factors. It may remove a singularity that can be lifted (x/x is 1), never add one.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar
from weakref import WeakValueDictionary

from uk_dynamics.constraints.expressions import nodes
from uk_dynamics.constraints.expressions.functions import FUNCTIONS
from uk_dynamics.constraints.expressions.nodes import Expression, Number, Variable
from uk_dynamics.exceptions import ExpressionError

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


def variable(name: str, order: int = 0) -> Variable:
    """A joint's position (order 0), rate (1) or acceleration (2)."""
    return _unique(Variable, name, order)


ZERO = number(0.0)
ONE = number(1.0)
TIME = variable(nodes.TIME_NAME)


def add(*terms: Expression) -> Expression:
    """The sum of the terms."""
    constant = 0.0
    coefficients: dict[Expression, float] = {}
    for term in _flat_terms(terms):
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
    if any(isinstance(term, nodes.Sum) for term in found):
        return add(*found)
    return _unique(nodes.Sum, tuple(found))


def subtract(first: Expression, second: Expression) -> Expression:
    """``first`` minus ``second``."""
    return add(first, negate(second))


def negate(term: Expression) -> Expression:
    """Minus the term."""
    return multiply(number(-1.0), term)


def multiply(*factors: Expression) -> Expression:
    """The product of the factors; integer powers of one base are collected."""
    coefficient = 1.0
    powers: dict[Expression, float] = {}
    for factor in _flat_factors(factors):
        if isinstance(factor, Number):
            coefficient *= factor.value
        else:
            base, exponent = _split_power(factor)
            powers[base] = powers.get(base, 0.0) + exponent
    if coefficient == 0.0:
        return ZERO
    found = [power(base, number(n)) for base, n in powers.items() if n != 0.0]
    if any(isinstance(factor, nodes.Product) for factor in found):
        return multiply(number(coefficient), *found)
    if coefficient != 1.0 or not found:
        found.insert(0, number(coefficient))
    return found[0] if len(found) == 1 else _unique(nodes.Product, tuple(found))


def divide(first: Expression, second: Expression) -> Expression:
    """``first`` over ``second``."""
    if second is ZERO:
        raise ExpressionError("a division by zero")
    return multiply(first, power(second, number(-1.0)))


def power(base: Expression, exponent: Expression) -> Expression:
    """``base`` to the power of ``exponent``."""
    if exponent is ZERO or base is ONE:
        return ONE
    if exponent is ONE:
        return base
    if isinstance(base, Number) and isinstance(exponent, Number):
        return _constant(math.pow, f"{base.value:g} ** {exponent.value:g}", base, exponent)
    if isinstance(base, nodes.Power) and _is_integer(base.exponent) and _is_integer(exponent):
        return power(base.base, multiply(base.exponent, exponent))
    return _unique(nodes.Power, base, exponent)


def call(function: str, *arguments: Expression) -> Expression:
    """A function of :data:`FUNCTIONS` of its arguments."""
    if all(isinstance(argument, Number) for argument in arguments):
        shown = ", ".join(f"{a.value:g}" for a in arguments if isinstance(a, Number))
        return _constant(FUNCTIONS[function].value, f"{function}({shown})", *arguments)
    if function == "sqrt":
        return power(arguments[0], number(0.5))
    return _unique(nodes.Call, function, arguments)


def _constant(function: object, shown: str, *arguments: Expression) -> Number:
    assert callable(function)
    try:
        value = function(*(a.value for a in arguments if isinstance(a, Number)))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ExpressionError(f"{shown} has no value") from None
    return number(value)


def _flat_terms(terms: Iterable[Expression]) -> Iterator[Expression]:
    for term in terms:
        if isinstance(term, nodes.Sum):
            yield from term.terms
        else:
            yield term


def _flat_factors(factors: Iterable[Expression]) -> Iterator[Expression]:
    for factor in factors:
        if isinstance(factor, nodes.Product):
            yield from factor.factors
        else:
            yield factor


def _split_coefficient(term: Expression) -> tuple[float, Expression]:
    if isinstance(term, nodes.Product) and isinstance(term.factors[0], Number):
        rest = term.factors[1:]
        return term.factors[0].value, rest[0] if len(rest) == 1 else _unique(nodes.Product, rest)
    return 1.0, term


def _split_power(factor: Expression) -> tuple[Expression, float]:
    # Only integers: the square root of x, squared, has no value where x is negative, and x has.
    if isinstance(factor, nodes.Power) and isinstance(factor.exponent, Number):
        exponent = factor.exponent.value
        if exponent.is_integer():
            return factor.base, exponent
    return factor, 1.0


def _is_integer(exponent: Expression) -> bool:
    return isinstance(exponent, Number) and exponent.value.is_integer()


def substitute(expression: Expression, values: Mapping[Variable, Expression]) -> Expression:
    """The expression with variables replaced."""
    known: dict[Expression, Expression] = {}
    for node in nodes.topological([expression]):
        match node:
            case Variable():
                known[node] = values.get(node, node)
            case nodes.Sum(terms):
                known[node] = add(*(known[t] for t in terms))
            case nodes.Product(factors):
                known[node] = multiply(*(known[f] for f in factors))
            case nodes.Power(base, exponent):
                known[node] = power(known[base], known[exponent])
            case nodes.Call(function, arguments):
                known[node] = call(function, *(known[a] for a in arguments))
            case _:
                known[node] = node
    return known[expression]
