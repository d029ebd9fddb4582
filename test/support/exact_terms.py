# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Traced terms with forty digits: what evaluators in doubles are measured against."""

from __future__ import annotations

import operator
from collections.abc import Mapping

import mpmath
import numpy as np

from uk_dynamics.compilation.trace.symbols import Symbol
from uk_dynamics.compilation.trace.terms import trace, trace_tasks

_DIGITS = 40
_OPERATIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "negate": operator.neg,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "sqrt": mpmath.sqrt,
}


def values(array, known: Mapping[str, mpmath.mpf]):
    """An array of symbols as a matrix of numbers with forty digits.

    Args:
        array: Of symbols and floats; one index is a column.
        known: Inputs by name, such as ``q[2]``.
    """
    found: dict[Symbol, mpmath.mpf] = {}

    def value(x):
        if not isinstance(x, Symbol):
            return mpmath.mpf(x)
        if x.operation == "input":
            return known[x.operands[0]]
        if x not in found:
            found[x] = _OPERATIONS[x.operation](*map(value, x.operands))
        return found[x]

    return mpmath.matrix([[value(x) for x in np.atleast_1d(row)] for row in array])


class ExactServo:
    """The servo law of one motor and one task row, on rows of the structure that are given."""

    def __init__(self, tasks) -> None:
        self._tasks = tasks
        self._terms, self._rows = trace(tasks.mechanism), trace_tasks(tasks)

    def effort(self, state, pull, taken):
        """The u with A_t q̈ = pull − bias of the task under the rows taken for independent.

        Args:
            state: t, q, v.
            pull: What the task asks for, a number.
            taken: Structural rows, (rank,).
        """
        with mpmath.workdps(_DIGITS):
            return float(self._effort(state, pull, [int(row) for row in taken]))

    def _effort(self, state, pull, taken):
        mechanism, constraints = self._tasks.mechanism, self._tasks.mechanism.constraints
        known = {"t": mpmath.mpf(state.t)}
        followed = np.concatenate(self._tasks.sample(state.t))
        for name, numbers in (("q", state.q), ("v", state.v), ("followed", followed)):
            known |= {f"{name}[{i}]": mpmath.mpf(float(x)) for i, x in enumerate(numbers)}
        n, k = mechanism.model.nv, len(taken)
        A = self._terms.A[taken]
        right = [
            -(bias + float(damping) * rate + float(stiffness) * residual)
            for bias, rate, residual, damping, stiffness in zip(
                values(self._terms.bias[taken], known),
                values(self._terms.rate[taken], known),
                values(self._terms.residual[taken], known),
                constraints.damping[taken],
                constraints.stiffness[taken],
                strict=True,
            )
        ]
        whole = mpmath.zeros(n + k)
        whole[:n, :n] = values(self._terms.M, known)
        whole[n:, :n] = values(A, known)
        whole[:n, n:] = whole[n:, :n].T
        motor = [mpmath.mpf(x) for x in mechanism.actuators.matrix[:, 0]] + [0] * k
        rest = mpmath.lu_solve(whole, mpmath.matrix([*values(self._terms.F, known), *right]))
        moved = mpmath.lu_solve(whole, mpmath.matrix(motor))
        A_t = values(self._rows.A, known)
        (bias,) = values(self._rows.bias, known)
        return (pull - bias - (A_t * rest[:n])[0]) / (A_t * moved[:n])[0]
