# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Nodes of the expression tree, and how to walk it.

Nodes are made by :mod:`uk_dynamics.constraints.expressions.algebra` only, which gives equal trees
the same object: a tree is compared, shared and looked up by identity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class Expression:
    """A node: :class:`Number`, :class:`Variable`, :class:`Sum`, :class:`Product`, ... ."""


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
    """A function of :mod:`uk_dynamics.constraints.expressions.functions` of its arguments."""

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


_RATES = ("{}", "d({})", "dd({})")


def to_text(node: Expression) -> str:
    """Write a tree as an expression; joints appear under their own names."""
    match node:
        case Number(value):
            return _number(value)
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


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
