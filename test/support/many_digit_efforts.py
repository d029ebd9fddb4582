# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The efforts of the servo law with 50 digits: least (u − s)ᵀ W (u − s) that serve the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

from support.many_digits import DIGITS, FUNCTIONS, STEP, ManyDigits
from uk_dynamics import State, Tasks
from uk_dynamics.compilation.trace.symbol_values import SymbolValues
from uk_dynamics.compilation.trace.terms import trace_tasks


class ManyDigitEfforts:
    """The closed form, with some motors held at the efforts that they have."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks, self._mechanism = tasks, ManyDigits(tasks.mechanism)
        rows = trace_tasks(tasks)
        self._shapes = [np.shape(x) for x in rows]
        self._values = SymbolValues([x for a in rows for x in np.ravel(a)], FUNCTIONS)

    def slope(
        self,
        state: State,
        direction: Sequence[float],
        rows: Sequence[int],
        held: dict[int, float],
    ) -> np.ndarray:
        """Along the columns of ``effort_columns``, from no preload, (motors,)."""
        followed = np.concatenate(self._tasks.sample(state.t))
        with mpmath.workdps(DIGITS):
            ends = [
                self._efforts(
                    state,
                    followed,
                    [sign * STEP * mpmath.mpf(float(x)) for x in direction],
                    rows,
                    held,
                )
                for sign in (1, -1)
            ]
            return np.array([float(x / (2 * STEP)) for x in ends[0] - ends[1]])

    def _efforts(
        self,
        state: State,
        followed: np.ndarray,
        d: list[Any],
        rows: Sequence[int],
        held: dict[int, float],
    ) -> Any:
        tasks, nv = self._tasks, self._mechanism.nv
        q = self._mechanism.move(state.q, d[:nv])
        v = [mpmath.mpf(float(x)) + y for x, y in zip(state.v, d[nv : 2 * nv], strict=True)]
        t = mpmath.mpf(state.t) + d[2 * nv]
        S = tasks.mechanism.actuators.matrix
        nu = S.shape[1]
        inputs = {"t": t}
        constraints = tasks.constraints
        gains = (constraints.damping, constraints.stiffness)
        given = [np.array(followed), *gains, np.zeros(nu), tasks.allocation.weights]
        rest = iter(d[2 * nv + 1 :])
        follows, damping, stiffness, preload, weights = (
            np.array([mpmath.mpf(float(x)) + next(rest) for x in part], dtype=object)
            for part in given
        )
        for name, values in (("q", q), ("v", v), ("followed", follows)):
            inputs |= {f"{name}[{i}]": x for i, x in enumerate(values)}
        flat = iter(self._values(inputs))
        A, bias, residual, rate = (
            np.array([next(flat) for _ in range(int(np.prod(shape)))], dtype=object).reshape(shape)
            for shape in self._shapes
        )

        def acceleration(efforts: Sequence[Any]) -> Any:
            force = [sum(S[i, k] * efforts[k] for k in range(nu)) for i in range(nv)]
            qdd, _ = self._mechanism.solve(t, q, v, force, rows)
            return np.array(list(qdd), dtype=object)

        resting = [mpmath.mpf(held.get(k, 0.0)) for k in range(nu)]
        free = [k for k in range(nu) if k not in held]
        still = acceleration(resting)
        columns = [
            acceleration([x + (j == k) for j, x in enumerate(resting)]) - still for k in free
        ]
        C = mpmath.matrix((A @ np.array(columns).T).tolist())
        asked = -(bias + damping * rate + stiffness * residual)
        wanted = mpmath.matrix((asked - A @ still).tolist())
        W = [weights[k] for k in free]
        scaled = mpmath.matrix([[C[i, k] / W[k] for k in range(len(free))] for i in range(C.rows)])
        wanted -= C * mpmath.matrix([preload[k] for k in free])
        found = scaled.T * mpmath.lu_solve(scaled * C.T, wanted)
        for k, x in zip(free, found, strict=True):
            resting[k] = preload[k] + x
        return np.array(resting, dtype=object)
