# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Signorini's and Coulomb's conditions of many contacts at once, solved exactly.

With one normal and two tangential directions each, the contacts move as u = W r + q, where W is the
response of the constrained mechanism to contact forces r (its Delassus matrix, seen within the
loops) and q the motion without them. Of accelerations, velocities or impulses alike it asks that

    u_n ≥ 0,  r_n ≥ 0,  u_n r_n = 0,
    |r_t| ≤ μ r_n,  and r_t = −μ r_n u_t/|u_t| where u_t ≠ 0.

These are the zeros of a function that is smooth but at changes of mode (Alart and Curnier 1991):

    r_n − [r_n − ρ u_n]₊ = 0,    r_t − P(r_t − ρ u_t; μ [r_n − ρ u_n]₊) = 0

with P the projection onto a disc. Newton's method on it is a pivoting method: with the modes of the
solution it takes a step per bend of the cones, and ends within rounding. W may be singular, as
where loops and contacts share a load: u is unique then, and r of least norm. Where Newton's steps
do not lead down, a sequence of convex problems leads to a better start.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from uk_dynamics.arrays import Array, largest

# Of the size of q and W r: what a solution may miss.
_REACHED = 1e-12
_ADMITTED = 1e-8
_NEWTON_STEPS = 60
_SHORTEST = 1e-4  # part of a Newton step
_POLISHED = 1e-10
# How far s follows in each convex problem: less where it would go to and fro.
_FOLLOWED = (*(1.0,) * 12, *(0.5,) * 12, *(0.2,) * 16)
_NEAREST = 1e-11  # to the cones, relative to the size of the problem
_LEAST_DEPTH = 1e-100
_CENTERING = 40  # Newton steps before t falls
_RANK = 1e-13  # of singular values
_ASYMMETRY = 1e-9  # of its largest entry: rounding of W


class Mode(Enum):
    """What a contact does."""

    OPEN = "open"
    """It separates, or carries no force."""
    STICK = "stick"
    """It is closed and does not slide."""
    SLIP = "slip"
    """It is closed and slides."""


@dataclass(frozen=True, eq=False)
class ConeProblem:
    """n contacts, each with the directions normal, first and second tangent in that order."""

    W: Array  # response to contact forces, (3n, 3n); zero columns and rows where nothing moves
    q: Array  # motion without them, (3n,)
    friction: Array  # μ, (n,)

    @property
    def count(self) -> int:
        """Number of contacts."""
        return len(self.friction)

    def motion(self, r: Array) -> Array:
        """U = W r + q, (n, 3)."""
        found: Array = (self.W @ r.ravel() + self.q).reshape(-1, 3)
        return found


@dataclass(frozen=True, eq=False)
class ConeSolution:
    """Forces and motion of the contacts."""

    forces: Array  # r, (n, 3)
    motion: Array  # u, (n, 3)
    error: float  # what is left of the conditions, relative to the size of the problem
    iterations: int  # Newton steps and sweeps

    @property
    def solved(self) -> bool:
        """Whether the conditions hold."""
        return self.error <= _ADMITTED

    def modes(self, friction: Array) -> tuple[Mode, ...]:
        """What each contact does, of friction coefficients (n,)."""
        size = np.abs(self.forces).max(initial=0.0)
        found = []
        for force, mu in zip(self.forces, friction, strict=True):
            if not force[0] > _REACHED * size:
                found.append(Mode.OPEN)
            elif mu * force[0] - np.hypot(*force[1:]) > 1e-9 * mu * force[0]:
                found.append(Mode.STICK)
            else:
                found.append(Mode.SLIP)
        return tuple(found)


def solve_cone_problem(problem: ConeProblem, start: Array | None = None) -> ConeSolution:
    """Forces that fulfil the conditions, from a start such as those of the last instant.

    Args:
        problem: Finite numbers.
        start: Forces to begin with, (n, 3); None: zero.

    Returns:
        The best found; ``solved`` says whether the conditions hold. Where none fulfil them (a
        sliding contact that jams), there is nothing to find.
    """
    r = np.zeros((problem.count, 3)) if start is None else np.array(start, dtype=float)
    if not problem.count:
        return ConeSolution(r, r.copy(), 0.0, 0)
    scaled = _Scaled.of(problem)
    best, error, iterations = _newton(scaled, r)
    convex = None
    for part in _FOLLOWED if error > _REACHED and _is_convex(problem.W) else ():
        if error <= (_REACHED if convex is None else _POLISHED):
            break
        convex = convex or _Convex(problem)
        r = convex.advance(part)
        polished, found, steps = _newton(scaled, r)
        iterations += steps + 1
        if found < error:
            best, error = polished, found
    return ConeSolution(best, problem.motion(best), error, iterations)


def _is_convex(W: Array) -> bool:
    """Whether W is symmetric and not negative, unlike those with known directions of sliding."""
    size = largest(W)
    if np.abs(W - W.T).max(initial=0.0) > _ASYMMETRY * size:
        return False
    return float(np.linalg.eigvalsh(W)[0]) >= -_ASYMMETRY * size


@dataclass(frozen=True, eq=False)
class _Scaled:
    """A problem with the step ρ of each direction."""

    problem: ConeProblem
    step: Array  # ρ, (n, 3), the inverse of each contact's own response
    size: Array  # of u in each contact, (n,): the conditions hold relative to it

    @classmethod
    def of(cls, problem: ConeProblem) -> _Scaled:
        n = problem.count
        own = np.diagonal(problem.W).reshape(n, 3)
        normal = np.abs(own[:, 0])
        tangential = 0.5 * (own[:, 1] + own[:, 2])
        floor = 1e-12 * max(largest(problem.W), np.finfo(float).tiny)
        step = np.empty((n, 3))
        step[:, 0] = 1.0 / np.maximum(normal, floor)
        step[:, 1:] = (1.0 / np.maximum(tangential, floor))[:, None]
        size = max(largest(problem.q), np.finfo(float).tiny)
        return cls(problem, step, np.full(n, size))

    def residual(self, r: Array) -> Array:
        """What is left of the conditions, in forces, (n, 3)."""
        n, t, radius = self._trial(r)
        found = np.empty_like(r)
        found[:, 0] = r[:, 0] - np.maximum(n, 0.0)
        found[:, 1:] = r[:, 1:] - _disc(t, radius)
        return found

    def error(self, r: Array) -> float:
        """The largest of them as motions, relative to q."""
        left = self.residual(r) / self.step
        return float((np.abs(left).max(axis=1) / self.size).max())

    def _trial(self, r: Array) -> tuple[Array, Array, Array]:
        moved = r - self.step * self.problem.motion(r)
        radius = self.problem.friction * np.maximum(moved[:, 0], 0.0)
        return moved[:, 0], moved[:, 1:], radius

    def newton_step(self, r: Array) -> Array:
        """Newton's step from r, (n, 3), of least norm where the derivative is singular."""
        n, t, radius = self._trial(r)
        count = len(r)
        # derivative of the projection by its argument y = r − ρ u, block by block
        block = np.zeros((count, 3, 3))
        closed = n > 0.0
        block[closed, 0, 0] = 1.0
        length = np.hypot(t[:, 0], t[:, 1])
        inside = length <= radius
        sticking = closed & inside & (self.problem.friction > 0.0)
        block[sticking, 1, 1] = block[sticking, 2, 2] = 1.0
        sliding = closed & ~inside
        d = t[sliding] / length[sliding, None]
        part = (radius[sliding] / length[sliding])[:, None, None]
        block[np.flatnonzero(sliding)[:, None, None], [[[1], [2]]], [[[1, 2]]]] = part * (
            np.eye(2) - d[:, :, None] * d[:, None, :]
        )
        block[np.flatnonzero(sliding)[:, None], [[1, 2]], 0] = (
            self.problem.friction[sliding, None] * d
        )
        # F = r − P(y(r)), y = r − ρ (W r + q)
        rho = self.step.ravel()
        inner = np.eye(3 * count) - rho[:, None] * self.problem.W
        derivative = np.eye(3 * count)
        for i in range(count):
            rows = slice(3 * i, 3 * i + 3)
            derivative[rows] -= block[i] @ inner[rows]
        step = -np.linalg.lstsq(derivative, self.residual(r).ravel(), rcond=_RANK)[0]
        return np.asarray(step.reshape(count, 3), dtype=float)


def _disc(t: Array, radius: Array) -> Array:
    """Projections onto discs about zero, (n, 2)."""
    length = np.hypot(t[:, 0], t[:, 1])
    outside = length > radius
    part = np.where(outside, radius / np.where(outside, length, 1.0), 1.0)
    found: Array = part[:, None] * t
    return found


def _newton(scaled: _Scaled, r: Array) -> tuple[Array, float, int]:
    """Newton's steps, shortened while they do not help."""
    error, taken = scaled.error(r), 0
    best, least = r, error
    stalled = 0
    while least > _REACHED and taken < _NEWTON_STEPS and stalled < 10:
        step, part = scaled.newton_step(r), 1.0
        taken += 1
        trial, found = r + step, scaled.error(r + step)
        while not found < error and part > _SHORTEST:
            part *= 0.5
            trial, found = r + part * step, scaled.error(r + part * step)
        if not found < error:  # a bend: over it with the whole step
            trial, found = r + step, scaled.error(r + step)
        r, error = trial, found
        if error < 0.9 * least:
            stalled = 0
        else:
            stalled += 1
        if error < least:
            best, least = r, error
    return best, least, taken


class _Convex:
    """Minimises ½ rᵀW r + rᵀ(q + μ s n) in the cones, with s = |u_t| held.

    These are the conditions with the motion changed as De Saxcé does; that s follows, as Acary and
    Cadoux let it, leads to their solution. Each is solved in the interior of the cones, along the
    minima of the same with −t log(μ² r_n² − |r_t|²) as t falls.
    """

    def __init__(self, problem: ConeProblem) -> None:
        n = problem.count
        self._friction = problem.friction
        own = np.abs(np.diagonal(problem.W)).reshape(n, 3).max(axis=1)
        least = 1e-12 * own.max(initial=0.0) + np.finfo(float).tiny
        self._scale = 1.0 / np.sqrt(np.maximum(own, least))
        wide = np.repeat(self._scale, 3)
        # Without friction there are no tangential forces: those columns move nothing.
        held = np.repeat(problem.friction == 0.0, 3)
        held[::3] = False
        W = wide[:, None] * problem.W * wide
        W[held], W[:, held] = 0.0, 0.0
        self._W = W + np.diag(held.astype(float))
        self._q = self._scale[:, None] * problem.q.reshape(n, 3)
        self._q[held.reshape(n, 3)] = 0.0
        self._cone = np.maximum(problem.friction, 1e-3)  # a ray is a narrow cone of its normal
        self._size = largest(self._q) or 1.0
        self._r = np.zeros((n, 3))
        self._s = np.zeros(n)

    def advance(self, part: float) -> Array:
        """Forces, (n, 3), once s has gone this part of the way to what the last ones give it."""
        n = len(self._s)
        u = (self._W @ self._r.ravel()).reshape(n, 3) + self._q
        self._s += part * (np.hypot(u[:, 1], u[:, 2]) - self._s)
        shifted = self._q.copy()
        shifted[:, 0] += self._friction * self._s
        r = np.zeros((n, 3))
        r[:, 0] = self._size
        t = self._size**2
        while t > _NEAREST * self._size**2:
            for _ in range(_CENTERING):
                step, decrement = self._newton_step(r, shifted, t)
                if not np.isfinite(decrement):
                    break
                # so short a step stays inside (Nesterov and Nemirovskii)
                r += step / (1.0 + decrement)
                if decrement < 0.3:
                    break
            t *= 0.2
        self._r = r
        found: Array = self._scale[:, None] * r
        found[self._friction == 0.0, 1:] = 0.0
        return found

    def _newton_step(self, r: Array, q: Array, t: float) -> tuple[Array, float]:
        """Newton's step, (n, 3), and its length in the metric of the potential over t."""
        metric = np.repeat([[1.0, -1.0, -1.0]], len(r), axis=0)
        metric[:, 0] = self._cone**2
        covector = metric * r
        reach, height = np.hypot(r[:, 1], r[:, 2]), self._cone * r[:, 0]
        depth = np.maximum((height - reach) * (height + reach), _LEAST_DEPTH)
        gradient = (self._W @ r.ravel()).reshape(-1, 3) + q - 2.0 * t * covector / depth[:, None]
        hessian = self._W.copy()
        for i in range(len(r)):
            rows = slice(3 * i, 3 * i + 3)
            curved = 2.0 * np.outer(covector[i], covector[i]) / depth[i] - np.diag(metric[i])
            hessian[rows, rows] += 2.0 * t / depth[i] * curved
        # Scaled to a unit diagonal: depths differ by many orders of magnitude.
        unit = 1.0 / np.sqrt(np.diagonal(hessian))
        slope = unit * gradient.ravel()
        step = -unit * np.linalg.lstsq(unit[:, None] * hessian * unit, slope, rcond=0.0)[0]
        return step.reshape(-1, 3), float(np.sqrt(max(-gradient.ravel() @ step, 0.0) / t))
