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
from collections.abc import Mapping
from typing import Any

from uk_dynamics.compilation.trace.sparse_vectors import Scalar, Sparse, add_multiple, is_zero
from uk_dynamics.compilation.trace.symbols import FUNCTIONS, Symbol, in_order
from uk_dynamics.constraints.expressions import DERIVATIVES
from uk_dynamics.exceptions import InputError

_TINY = 1e-150  # roots and angles have corners at zero, where most derivatives are zero as well


class SymbolDerivatives:
    """Derivatives of the symbols of one graph, each computed once."""

    def __init__(self, seeds: Mapping[Symbol, Sparse]) -> None:
        """Begin with symbols whose derivatives are known; other inputs have none."""
        self._known = dict(seeds)
        self._seeds = frozenset(seeds)

    def __call__(self, value: Scalar) -> Sparse:
        """Differentiate a symbol or a constant."""
        for node in in_order([value], inputs=True, known=self._known):
            self._known[node] = self._of(node)
        return self._known[value] if isinstance(value, Symbol) else {}

    def backward(self, value: Scalar) -> Sparse:
        """Differentiate by reverse mode: by the seeds first, then by what they depend on."""
        if not isinstance(value, Symbol):
            return {}
        nodes = in_order([value], known=self._seeds)
        moving = set(self._seeds)
        for node in nodes:
            if not moving.isdisjoint(node.operands):
                moving.add(node)
        adjoints: dict[Symbol, Scalar] = {value: 1.0}
        for node in reversed(nodes):
            for operand, part in _shares(node, adjoints.pop(node)) if node in adjoints else ():
                if operand in moving and not is_zero(part):
                    known = adjoints.get(operand)
                    adjoints[operand] = part if known is None else known + part
        found: Sparse = {}
        for seed in sorted(self._seeds & adjoints.keys(), key=lambda x: -x.number):
            add_multiple(found, adjoints[seed], self._known[seed])
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


def partials_of(node: Symbol) -> tuple[Scalar, ...]:
    """Derivative of an operation with respect to each of its operands; none of steps."""
    operation, operands = node.operation, node.operands
    x: Any = operands[0] if operands else None
    y: Any = operands[1] if len(operands) > 1 else None
    match operation:
        case "input" | "<" | "<=" | "nearbyint" | "lookup":
            return ()
        case "touch":
            problem = "points at which convex hulls touch come and go"
            raise InputError(f"{problem}: there are no derivatives of them")
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
