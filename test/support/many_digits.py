# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The equation of motion solved with 50 digits, from the traced terms, for differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

from uk_dynamics import Inputs, State
from uk_dynamics.compilation.trace.symbol_values import SymbolValues
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.dynamics import InterpretedDynamics, StructuralRows
from uk_dynamics.mechanism.resolution import ResolvedMechanism

DIGITS = 50
STEP = mpmath.mpf(10) ** -15  # differences are then off by 1e-30, and rounding by 1e-35

FUNCTIONS = {
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "exp": mpmath.exp,
    "log": mpmath.log,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "atan2": mpmath.atan2,
    "pow": mpmath.power,
    "fabs": abs,
    "choose": lambda condition, yes, no: yes if condition else no,
}


class ManyDigits:
    """M, F, A and b of a mechanism, and what follows from them, on numbers of many digits."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self.mechanism = mechanism
        terms = trace(mechanism)
        self.nv, self.m = len(terms.F), len(mechanism.constraints)
        arrays = (terms.M, terms.F, terms.A, terms.bias, terms.residual, terms.rate)
        self._shapes = [np.shape(x) for x in arrays]
        self._values = SymbolValues([x for a in arrays for x in np.ravel(a)], FUNCTIONS)
        self._rows = StructuralRows(mechanism)

    def solve(
        self,
        t: Any,
        q: Sequence[Any],
        v: Sequence[Any],
        tau: Sequence[Any],
        rows: Sequence[int],
        parameters: Sequence[Any] = (),
    ) -> tuple[Any, Any]:
        """Acceleration and multipliers of independent rows; references as at the float of t."""
        constraints = self.mechanism.constraints
        inputs = {"t": t}
        for name, values in (("q", q), ("v", v), ("p", parameters)):
            inputs |= {f"{name}[{i}]": x for i, x in enumerate(values)}
        reference = self._rows.reference(float(t), Inputs())
        followed = np.zeros(3 * self.m) if reference is None else np.concatenate(reference)
        inputs |= {f"followed[{i}]": x for i, x in enumerate(followed)}
        flat = iter(self._values(inputs))
        M, F, A, bias, residual, rate = (
            np.array([next(flat) for _ in range(int(np.prod(shape)))], dtype=object).reshape(shape)
            for shape in self._shapes
        )
        b = -(bias + constraints.damping * rate + constraints.stiffness * residual)
        nv, r = self.nv, len(rows)
        K, right = mpmath.matrix(nv + r), mpmath.matrix(nv + r, 1)
        for i in range(nv):
            right[i] = F[i] + tau[i]
            for j in range(nv):
                K[i, j] = M[max(i, j), min(i, j)]
        for k, row in enumerate(rows):
            right[nv + k] = b[row]
            for j in range(nv):
                K[nv + k, j], K[j, nv + k] = A[row, j], -A[row, j]
        found = mpmath.lu_solve(K, right)
        return found[:nv], found[nv:]

    def move(self, q: Sequence[float], step: Sequence[Any]) -> list[Any]:
        """Positions displaced along the velocity coordinates, to first order in the step."""
        moved = [mpmath.mpf(x) for x in q]
        for body in self.mechanism.model.bodies:
            at, k = body.position, body.velocity
            d = step[k : k + 6]
            if body.kind == "planar":
                c, s = moved[at + 2 : at + 4]
                moved[at] += c * d[0] - s * d[1]
                moved[at + 1] += s * d[0] + c * d[1]
                moved[at + 2], moved[at + 3] = c - s * d[2], s + c * d[2]
            elif body.kind == "floating":
                x, y, z, w = moved[at + 3 : at + 7]
                turn = mpmath.matrix(
                    [
                        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
                    ]
                ) * mpmath.matrix(d[:3])
                for i in range(3):
                    moved[at + i] += turn[i]
                a, b, c = (x / 2 for x in d[3:6])
                moved[at + 3] += w * a + y * c - z * b
                moved[at + 4] += w * b + z * a - x * c
                moved[at + 5] += w * c + x * b - y * a
                moved[at + 6] += -x * a - y * b - z * c
            else:
                moved[at] += d[0]
        return moved

    def slope(
        self, state: State, tau: Sequence[float], direction: Sequence[float], rows: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Derivative of acceleration and multipliers along (q, v, t, tau), (3 nv + 1,)."""
        nv = self.nv
        with mpmath.workdps(DIGITS):
            ends = []
            for sign in (1, -1):
                d = [sign * STEP * mpmath.mpf(float(x)) for x in direction]
                v = [mpmath.mpf(float(x)) + s for x, s in zip(state.v, d[nv : 2 * nv], strict=True)]
                force = [
                    mpmath.mpf(float(x)) + s for x, s in zip(tau, d[2 * nv + 1 :], strict=True)
                ]
                t = mpmath.mpf(state.t) + d[2 * nv]
                ends.append(self.solve(t, self.move(state.q, d[:nv]), v, force, rows))
            return _slopes(ends)

    def slope_of_parameters(
        self, state: State, tau: Sequence[float], direction: Sequence[float], rows: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same along the parameters that the mechanism varies, in the order of their names."""
        varied = self.mechanism.varied
        assert varied is not None
        with mpmath.workdps(DIGITS):
            q, v, force = ([mpmath.mpf(float(x)) for x in a] for a in (state.q, state.v, tau))
            ends = []
            for sign in (1, -1):
                p = [
                    mpmath.mpf(float(x)) + sign * STEP * mpmath.mpf(float(d))
                    for x, d in zip(varied.values, direction, strict=True)
                ]
                ends.append(self.solve(mpmath.mpf(state.t), q, v, force, rows, p))
            return _slopes(ends)


def _slopes(ends: Sequence[tuple[Any, Any]]) -> tuple[np.ndarray, np.ndarray]:
    (x1, l1), (x0, l0) = ends
    by_acceleration, by_multipliers = (
        np.array([float(x / (2 * STEP)) for x in difference]) for difference in (x1 - x0, l1 - l0)
    )
    return by_acceleration, by_multipliers


def independent_rows(mechanism: ResolvedMechanism, state: State) -> list[int]:
    """Rows that the solution takes as independent."""
    found = InterpretedDynamics(mechanism).prepare(state).factorization.independent
    return [int(r) for r in found]


def at_random(
    mechanism: ResolvedMechanism, seed: int
) -> tuple[State, np.ndarray, np.random.Generator]:
    """A closed state around the start: 0.05 rad or m in each coordinate, velocities of one."""
    rng, dynamics = np.random.default_rng(seed), InterpretedDynamics(mechanism)
    nv = mechanism.model.nv
    q = dynamics.model.integrate(start(mechanism).q, 0.05 * rng.normal(size=nv))
    state = dynamics.project(State(0.3, q, rng.normal(size=nv)))
    return state, rng.normal(size=nv), rng
