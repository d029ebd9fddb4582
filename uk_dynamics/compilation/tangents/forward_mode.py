"""Derivatives of symbols, as symbols: forward mode, with the zeros of the structure left out.

A tangent is the derivative of a scalar along each direction that it depends on, by the direction's
number. Where an algorithm knows tangents more cheaply than its operations give them, they are
seeds, and what is behind them is never looked at (Griewank & Walther, *Evaluating Derivatives*,
chapters 3 and 7).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from uk_dynamics.compilation.trace.sparse_vectors import Scalar, Sparse, add_multiple, is_zero
from uk_dynamics.compilation.trace.symbols import Symbol


class Tangents:
    """Tangents of the symbols of one graph, each computed once."""

    def __init__(self, seeds: Mapping[Symbol, Sparse]) -> None:
        """Begin with symbols whose tangents are known; other inputs have none."""
        self._known = dict(seeds)

    def __call__(self, value: Scalar) -> Sparse:
        """The tangent of a symbol or a constant."""
        if not isinstance(value, Symbol):
            return {}
        stack = [value]
        while stack:
            node = stack[-1]
            if node in self._known:
                stack.pop()
                continue
            missing = [x for x in _symbols(node.operands) if x not in self._known]
            if missing:
                stack += missing
                continue
            self._known[stack.pop()] = self._of(node)
        return self._known[value]

    def _of(self, node: Symbol) -> Sparse:
        if node.operation == "choose":
            return self._of_choice(node)
        tangent: Sparse = {}
        for operand, slope in zip(node.operands, _slopes(node), strict=False):
            if isinstance(operand, Symbol):
                add_multiple(tangent, slope, self._known[operand])
        return {k: x for k, x in tangent.items() if not is_zero(x)}

    def _of_choice(self, node: Symbol) -> Sparse:
        condition, *values = node.operands
        yes, no = (self._known[x] if isinstance(x, Symbol) else {} for x in values)
        return {k: condition.choose(yes.get(k, 0.0), no.get(k, 0.0)) for k in yes.keys() | no}


def _symbols(operands: Iterable[object]) -> list[Symbol]:
    return [x for x in operands if isinstance(x, Symbol)]


def _slopes(node: Symbol) -> tuple[Scalar, ...]:
    """Derivative of an operation with respect to each of its operands; none of conditions."""
    operation, operands = node.operation, node.operands
    x: Any = operands[0] if operands else None
    y: Any = operands[1] if len(operands) > 1 else None
    match operation:
        case "input" | "<" | "<=":
            return ()
        case "+":
            return 1.0, 1.0
        case "-":
            return 1.0, -1.0
        case "*":
            return y, x
        case "/":
            return 1.0 / y, -(node / y)
        case "negate":
            return (-1.0,)
        case "fabs":
            return ((x < 0.0).choose(-1.0, 1.0),)
        case "sqrt":
            return (0.5 / node,)
        case "sin":
            return (x.cos(),)
        case "cos":
            return (-x.sin(),)
        case "tan":
            return (1.0 + node * node,)
        case "sinh":
            return (x.cosh(),)
        case "cosh":
            return (x.sinh(),)
        case "tanh":
            return (1.0 - node * node,)
        case "exp":
            return (node,)
        case "log":
            return (1.0 / x,)
        case "asin":
            return (1.0 / (1.0 - x * x) ** 0.5,)
        case "acos":
            return (-1.0 / (1.0 - x * x) ** 0.5,)
        case "atan":
            return (1.0 / (1.0 + x * x),)
        case "atan2":
            square = x * x + y * y
            return y / square, -(x / square)
        case "pow":
            logarithm = x.log() if isinstance(x, Symbol) else math.log(x)
            return y * x ** (y - 1.0), node * logarithm
    raise NotImplementedError(f"the derivative of {operation}")
