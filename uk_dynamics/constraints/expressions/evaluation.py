# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Back-ends: evaluation in any algebra, and one flat Python function with shared parts.

The function is written from the tree, never from a user's text: its source holds numbers, local
names made here, and names of whitelisted functions, nothing else. On the few scalars of a
mechanism's rows plain floats are several times faster than arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

from uk_dynamics.constraints.expressions import nodes
from uk_dynamics.constraints.expressions.functions import FUNCTIONS
from uk_dynamics.constraints.expressions.nodes import Expression, Number, Variable

FlatFunction = Callable[[Sequence[float]], tuple[float, ...]]
"""All values in, all results out; raises ArithmeticError or ValueError outside a domain."""

_LARGEST_UNROLLED = 4  # powers up to here are written as products
_PIECE = 50


def evaluate(
    outputs: Sequence[Expression],
    values: Mapping[Variable, Any],
    functions: Mapping[str, Callable[..., Any]],
) -> list[Any]:
    """Walk the trees with + * ** and the functions of the values; constants are floats."""
    known: dict[Expression, Any] = {}
    for node in nodes.topological(outputs):
        known[node] = value_of(node, known, values, functions)
    return [known[output] for output in outputs]


def value_of(
    node: Expression,
    known: Mapping[Expression, Any],
    values: Mapping[Variable, Any],
    functions: Mapping[str, Callable[..., Any]],
) -> Any:
    """Value of a node by those of its children."""
    match node:
        case Number(value):
            return value
        case Variable():
            return values[node]
        case nodes.Sum(terms):
            return reduce(add, (known[t] for t in terms))
        case nodes.Product(factors):
            return reduce(mul, (known[f] for f in factors))
        case nodes.Power(base, exponent):
            return known[base] ** known[exponent]
        case nodes.Call(function, arguments):
            return functions[function](*(known[a] for a in arguments))
    raise TypeError(f"no value for {type(node).__name__}")


def python_function(outputs: Sequence[Expression], places: Mapping[Variable, int]) -> FlatFunction:
    """Write and compile the function; ``places`` says where variables stand in its argument."""
    names: dict[Expression, str] = {}
    lines = ["def flat(values):"]
    for index, node in enumerate(nodes.topological(outputs)):
        if isinstance(node, Number):
            names[node] = f"({node.value!r})"
        else:
            names[node] = f"n{index}"
            lines.extend(_statements(f"n{index}", node, names, places))
    lines.append(f" return ({''.join(f'{names[output]}, ' for output in outputs)})")
    known = {f"f_{name}": function.value for name, function in FUNCTIONS.items()}
    # math.pow, not **, which answers a complex number for a negative base.
    namespace = {"__builtins__": {}, "f_pow": math.pow, **known}
    exec(compile("\n".join(lines), "<expression>", "exec"), namespace)
    flat: FlatFunction = namespace["flat"]  # type: ignore[assignment]
    return flat


def _statements(
    target: str, node: Expression, names: Mapping[Expression, str], places: Mapping[Variable, int]
) -> Iterator[str]:
    match node:
        case nodes.Sum(operands):
            operator = "+"
        case nodes.Product(operands):
            operator = "*"
        case _:
            yield f" {target} = {_code(node, names, places)}"
            return
    # In pieces: Python's compiler does not take an expression of any length.
    pieces = (operands[i : i + _PIECE] for i in range(0, len(operands), _PIECE))
    assign = "="
    for piece in pieces:
        yield f" {target} {assign} {f' {operator} '.join(names[o] for o in piece)}"
        assign = f"{operator}="


def _code(node: Expression, names: Mapping[Expression, str], places: Mapping[Variable, int]) -> str:
    match node:
        case Variable():
            return f"values[{places[node]}]"
        case nodes.Power(base, exponent):
            return _power(names[base], exponent, names)
        case nodes.Call(function, arguments):
            return f"f_{function}({', '.join(names[a] for a in arguments)})"
    raise TypeError(f"no code for {type(node).__name__}")


def _power(base: str, exponent: Expression, names: Mapping[Expression, str]) -> str:
    if not isinstance(exponent, Number):
        return f"f_pow({base}, {names[exponent]})"
    n = exponent.value
    whole, half = divmod(abs(n), 1.0)
    if half not in (0.0, 0.5) or whole > _LARGEST_UNROLLED:
        return f"f_pow({base}, {n!r})"
    parts = [base] * int(whole) + ([f"f_sqrt({base})"] if half else [])
    text = " * ".join(parts)
    return text if n > 0.0 else f"1.0 / ({text})"
