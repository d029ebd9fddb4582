"""Evaluation in any algebra: floats, arrays of an array library, or symbols of another package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

from uk_dynamics.constraints.expressions.nodes import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
    topological,
)


def evaluate(
    outputs: Sequence[Expression],
    values: Mapping[Variable, Any],
    functions: Mapping[str, Callable[..., Any]],
) -> list[Any]:
    """Walk the trees with the operators + * ** of the values."""
    known: dict[Expression, Any] = {}
    for node in topological(outputs):
        match node:
            case Number(value):
                known[node] = value
            case Variable():
                known[node] = values[node]
            case Sum(terms):
                known[node] = reduce(add, (known[t] for t in terms))
            case Product(factors):
                known[node] = reduce(mul, (known[f] for f in factors))
            case Power(base, exponent):
                known[node] = known[base] ** known[exponent]
            case Call(function, arguments):
                known[node] = functions[function](*(known[a] for a in arguments))
    return [known[output] for output in outputs]
