"""Symbols to C: one function of straight-line code, every operation once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from uk_dynamics.compilation.symbols import Symbol

_INFIX = {"+", "-", "*", "/", "<", "<="}


def assignments(targets: Sequence[tuple[str, Any]]) -> str:
    """C statements that compute symbols or constants into places.

    Args:
        targets: Pairs of an lvalue, such as ``F[2]``, and what goes there.
    """
    lines: list[str] = []
    named: dict[Symbol, str] = {}
    for place, value in targets:
        if isinstance(value, Symbol):
            _define(value, named, lines)
        lines.append(f"  {place} = {_operand(value, named)};")
    return "\n".join(lines) + "\n"


def number(value: float) -> str:
    """A float as C reads it back exactly."""
    if math.isinf(value):
        return "INFINITY" if value > 0.0 else "(-INFINITY)"
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


def _define(root: Symbol, named: dict[Symbol, str], lines: list[str]) -> None:
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if node in named:
            continue
        if node.operation == "input":
            named[node] = node.operands[0]
        elif ready:
            named[node] = f"x{len(named)}"
            lines.append(f"  const double {named[node]} = {_expression(node, named)};")
        else:
            stack.append((node, True))
            stack.extend((x, False) for x in reversed(node.operands) if isinstance(x, Symbol))


def _expression(node: Symbol, named: dict[Symbol, str]) -> str:
    operands = [_operand(x, named) for x in node.operands]
    if node.operation in _INFIX:
        return f"{operands[0]} {node.operation} {operands[1]}"
    if node.operation == "negate":
        return f"-{operands[0]}"
    if node.operation == "choose":
        return f"{operands[0]} != 0.0 ? {operands[1]} : {operands[2]}"
    return f"{node.operation}({', '.join(operands)})"


def _operand(value: Any, named: dict[Symbol, str]) -> str:
    return named[value] if isinstance(value, Symbol) else number(value)
