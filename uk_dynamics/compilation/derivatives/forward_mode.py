# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of symbols, as symbols, with the zeros of the structure left out.

The derivative of a scalar has an entry for each direction that the scalar depends on, by the
direction's number. Where an algorithm knows derivatives more cheaply than its operations give them,
they are seeds, and what is behind them is never looked at (Griewank & Walther, *Evaluating
Derivatives*, chapters 3 and 7). From the seeds to a scalar both ways are there: forward mode for
operations that many scalars share, and reverse mode where one depends on many directions by few
seeds.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from uk_dynamics.compilation.trace.sparse_vectors import Scalar, Sparse, add_multiple, is_zero
from uk_dynamics.compilation.trace.symbols import FUNCTIONS, Symbol
from uk_dynamics.constraints.expressions import DERIVATIVES

_TINY = 1e-150  # roots and angles have corners at zero, where most derivatives are zero as well


class SymbolDerivatives:
    """Derivatives of the symbols of one graph, each computed once."""

    def __init__(self, seeds: Mapping[Symbol, Sparse]) -> None:
        """Begin with symbols whose derivatives are known; other inputs have none."""
        self._known = dict(seeds)
        self._seeds = frozenset(seeds)

    def __call__(self, value: Scalar) -> Sparse:
        """Differentiate a symbol or a constant."""
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

    def backward(self, value: Scalar) -> Sparse:
        """Differentiate by reverse mode: by the seeds first, then by what they depend on."""
        if not isinstance(value, Symbol):
            return {}
        adjoints: dict[Symbol, Scalar] = {value: 1.0}
        found: Sparse = {}
        for node in reversed(in_order_to(value, self._seeds)):
            adjoint = adjoints.pop(node, 0.0)
            if is_zero(adjoint):
                continue
            if node in self._seeds:
                add_multiple(found, adjoint, self._known[node])
                continue
            for operand, part in _shares(node, adjoint):
                if not is_zero(part):
                    known = adjoints.get(operand)
                    adjoints[operand] = part if known is None else known + part
        return {k: x for k, x in found.items() if not is_zero(x)}

    def _of(self, node: Symbol) -> Sparse:
        if node.operation == "choose":
            return self._of_choice(node)
        found: Sparse = {}
        for operand, partial in zip(node.operands, partials_of(node), strict=False):
            if isinstance(operand, Symbol):
                add_multiple(found, partial, self._known[operand])
        return {k: x for k, x in found.items() if not is_zero(x)}

    def _of_choice(self, node: Symbol) -> Sparse:
        condition, *values = node.operands
        yes, no = (self._known[x] if isinstance(x, Symbol) else {} for x in values)
        return {k: condition.choose(yes.get(k, 0.0), no.get(k, 0.0)) for k in yes.keys() | no}


def in_order_to(value: Symbol, ends: Collection[Symbol]) -> list[Symbol]:
    """Find the parts of a symbol that depend on some ends, these included; operands first."""
    moving: dict[Symbol, bool] = {}
    stack = [value]
    while stack:
        node = stack[-1]
        missing = [] if node in ends else [x for x in _symbols(node.operands) if x not in moving]
        if node not in moving and missing:
            stack += missing
            continue
        stack.pop()
        moving[node] = node in ends or any(moving[x] for x in _symbols(node.operands))
    return sorted((x for x, moves in moving.items() if moves), key=lambda x: x.number)


def _shares(node: Symbol, adjoint: Scalar) -> list[tuple[Symbol, Scalar]]:
    """Shares of the adjoint of an operation that its operands get."""
    if node.operation == "choose":
        condition, yes, no = node.operands
        parts = [(yes, condition.choose(adjoint, 0.0)), (no, condition.choose(0.0, adjoint))]
    else:
        parts = [
            (x, adjoint * partial)
            for x, partial in zip(node.operands, partials_of(node), strict=False)
        ]
    return [(x, part) for x, part in parts if isinstance(x, Symbol)]


def _symbols(operands: Iterable[object]) -> list[Symbol]:
    return [x for x in operands if isinstance(x, Symbol)]


def partials_of(node: Symbol) -> tuple[Scalar, ...]:
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
        case "pow":
            logarithm = x.log() if isinstance(x, Symbol) else math.log(x)
            return y * x ** (y - 1.0), node * logarithm
    return DERIVATIVES[operation](FUNCTIONS, _TINY, node, *operands)
