# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Signorini's and Coulomb's conditions of many contacts at once, solved exactly.

With one normal and d − 1 tangential directions each, of which there are two but in loop joints with
dry friction, the contacts move as u = W r + q, where W is the response of the constrained mechanism
to contact forces r (its Delassus matrix, seen within the loops) and q the motion without them. Of
accelerations, velocities or impulses alike it asks that

    u_n ≥ 0,  r_n ≥ 0,  u_n r_n = 0,
    |r_t| ≤ μ r_n,  and r_t = −μ r_n u_t/|u_t| where u_t ≠ 0.

These are the zeros of a function that is smooth but at changes of mode (Alart and Curnier 1991):

    r_n − [r_n − ρ u_n]₊ = 0,    r_t − P(r_t − ρ u_t; μ [r_n − ρ u_n]₊) = 0

with P the projection onto a ball. Newton's method on it is a pivoting method: with the modes of the
solution it takes a step per bend of the cones, and ends within rounding. W may be singular, as
where loops and contacts share a load: u is unique then, and r of least norm. Where Newton's steps
do not lead down, alternating directions lead to a better start, again and again, and at last
easier problems that become this one.
"""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from scipy.linalg import lstsq, null_space

from uk_dynamics.arrays import Array, largest
from uk_dynamics.core.contact.alternating_directions import AlternatingDirections
from uk_dynamics.core.contact.friction_cone import conditions, steps
from uk_dynamics.core.linalg.nonnegative import nonnegative

# Of the size of q and W r: what a solution may miss.
REACHED = 1e-12
ADMITTED = 1e-8
NEWTON_STEPS = 60
STALLED = 10  # steps without a part of the error less
WORTH = 0.9  # that part
SHORTEST = 1e-4  # part of a Newton step
FLOOR = 1e-12  # of the largest response: contacts that move less are as if they moved so
FULL_STEPS = 20
RELAXATIONS = 1.6, 1.0
ITERATIONS = tuple(int(50 * 1.6**k) for k in range(9))
FACTORS = 1.0, 0.1, 10.0, 0.01  # of ρ: where Newton's method on one function stalls
RANK = 1e-13  # of the largest row or singular value
NEAR, KEPT = 0.03, 0.1  # C keeps a derivative of slopes so near while steps leave this part
SURE = 1e-8  # part that each pivot keeps of its diagonal, where C factors what sticks
_SOFTNESS = tuple(10.0 ** (-0.5 * k) for k in range(2, 26))  # of each contact's own response
_FRICTION = tuple(0.05 * k for k in range(20))  # part of it
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
    """n contacts, each with d directions: normal, then its tangents."""

    W: Array  # response to contact forces, (dn, dn); zero columns and rows where nothing moves
    q: Array  # motion without them, (dn,)
    friction: Array  # μ, (n,)

    @property
    def count(self) -> int:
        """Number of contacts."""
        return len(self.friction)

    @property
    def directions(self) -> int:
        """Number of directions of each, d."""
        return len(self.q) // self.count if self.count else 3

    def motion(self, r: Array) -> Array:
        """U = W r + q, (n, d)."""
        return (self.W @ r.ravel() + self.q).reshape(r.shape)


@dataclass(frozen=True, eq=False)
class ConeSolution:
    """Forces and motion of the contacts."""

    forces: Array  # r, (n, d)
    motion: Array  # u, (n, d)
    error: float  # what is left of the conditions, relative to the size of the problem
    iterations: int  # Newton's steps, and those of alternating directions
    fell_back: bool = False  # whether Newton's from the start, and from zero, did not arrive

    @property
    def solved(self) -> bool:
        """Whether the conditions hold."""
        return self.error <= ADMITTED

    def modes(self, friction: Array) -> tuple[Mode, ...]:
        """What each contact does, of friction coefficients (n,)."""
        size = np.abs(self.forces).max(initial=0.0)
        found = []
        for force, mu in zip(self.forces, friction, strict=True):
            if not force[0] > REACHED * size:
                found.append(Mode.OPEN)
            elif mu * force[0] - np.linalg.norm(force[1:]) > 1e-9 * mu * force[0]:
                found.append(Mode.STICK)
            else:
                found.append(Mode.SLIP)
        return tuple(found)


def solve_cone_problem(problem: ConeProblem, start: Array | None = None) -> ConeSolution:
    """Forces that fulfil the conditions, from a start such as those of the last instant.

    Args:
        problem: Finite numbers.
        start: Forces to begin with, (n, d); None: zero.

    Returns:
        The best found; ``solved`` says whether the conditions hold. Where none fulfil them (a
        sliding contact that jams), there is nothing to find; where something else drives
        contacts in, those of the nearest motion that they admit.
    """
    none = np.zeros((problem.count, problem.directions))
    r = none if start is None else np.array(start, dtype=float)
    if not problem.count:
        return ConeSolution(r, r.copy(), 0.0, 0)
    search = _Search(_Scaled.of(problem), r)
    search.polish(r)
    if search.error > REACHED and r.any():
        search.polish(np.zeros_like(r))
    fell_back = search.error > REACHED and _is_convex(problem.W)
    if fell_back:
        lacking = _lacking(problem)
        if largest(lacking) > ADMITTED * largest(problem.q):  # no search would find any
            r = solve_cone_problem(replace(problem, q=problem.q + lacking), start).forces
            left = _Scaled.of(problem).error(r)
            return ConeSolution(r, problem.motion(r), left, search.iterations, fell_back)
        search.alternate()
        for harder in (search.wedge, search.follow):
            if search.error > ADMITTED:
                harder()
    u = problem.motion(search.best)
    return ConeSolution(search.best, u, search.error, search.iterations, fell_back)


def _lacking(problem: ConeProblem) -> Array:
    """The least that has to be added to q so that forces can fulfil the conditions, (dn,).

    Normal forces y ≥ 0 that cancel, W y = 0, do the work yᵀ q on any motion, which is negative
    where contacts are driven in: then some u_n is. The y nearest to −q is a problem of least
    distance (Lawson and Hanson 1974, chapter 23).
    """
    width = problem.directions
    q, size = problem.q[::width], max(largest(problem.q), np.finfo(float).tiny)
    cancelling = null_space(problem.W[:, ::width], FLOOR)
    bound = cancelling @ (cancelling.T @ q) / size
    dual, unit = np.vstack((cancelling.T, bound)), np.eye(cancelling.shape[1] + 1)[-1]
    rest = dual @ nonnegative(dual, unit)[0] - unit
    found = np.zeros((problem.count, width))
    found[:, 0] = size * (cancelling @ (rest[:-1] / -rest[-1]) - bound)
    return found.ravel()


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
    step: Array  # ρ, (n, d), the inverse of each contact's own response
    size: float  # of u: the conditions hold relative to it

    @classmethod
    def of(cls, problem: ConeProblem) -> "_Scaled":
        own = np.abs(np.diagonal(problem.W)).reshape(problem.count, -1)
        tiny = np.finfo(float).tiny
        floor = FLOOR * max(largest(problem.W), tiny)
        return cls(problem, steps(own.T, np.full(len(own), floor)).T, max(largest(problem.q), tiny))

    def conditions(self, r: Array) -> tuple[Array, Array]:
        """See :func:`conditions`, (n, d) and (n, d, d)."""
        problem = self.problem
        left, slopes = conditions(r.T, problem.motion(r).T, self.step.T, problem.friction)
        return left.T, np.moveaxis(slopes, 2, 0)

    def error(self, r: Array) -> float:
        """What is left of them at most, as motions relative to q; infinite where r is."""
        found = float((np.abs(self.conditions(r)[0]) / self.step).max()) / self.size
        return found if np.isfinite(found) else np.inf

    def newton_step(self, r: Array) -> Array:
        """Newton's step from r, (n, d), of least norm where contacts share a load."""
        left, slopes = self.conditions(r)
        size = r.size
        # F = r − P(y(r)), y = r − ρ (W r + q)
        inner = np.eye(size) - self.step.ravel()[:, None] * self.problem.W
        derivative = np.eye(size)
        derivative -= (slopes @ inner.reshape(*r.shape, size)).reshape(size, size)
        try:
            found = lstsq(derivative, -left.ravel(), RANK, lapack_driver="gelsy")[0]
        except (np.linalg.LinAlgError, ValueError):  # not finite
            return np.full_like(r, np.inf)
        return np.asarray(found.reshape(r.shape), dtype=float)


class _Search:
    """The best forces so far, and steps from there."""

    def __init__(self, scaled: _Scaled, start: Array) -> None:
        self._scaled = scaled
        self.best, self.error, self.iterations = start, scaled.error(start), 0

    def _offer(self, r: Array, error: float) -> float:
        if error < self.error:
            self.best, self.error = r, error
        return error

    def alternate(self) -> None:
        """Alternating directions, from whose forces Newton's steps of several kinds are tried."""
        problem = self._scaled.problem
        for relaxation in RELAXATIONS:
            method = AlternatingDirections(problem.W, problem.q, problem.friction, relaxation)
            for iterations in ITERATIONS:
                self.iterations += iterations
                self.polish(method.advance(iterations))
                if self.error <= REACHED:
                    return
            if self.error <= ADMITTED:
                return

    def wedge(self) -> None:
        """Let all contacts stick, where forces that cancel can press them together at will."""
        problem = self._scaled.problem
        found = AlternatingDirections(problem.W, problem.q, problem.friction, 1.0).wedged()
        if found is not None:
            self._offer(found, self._scaled.error(found))

    def follow(self) -> None:
        """Solutions of easier problems that become this one: softer ones, then smoother ones."""
        problem = self._scaled.problem
        softness = np.diag(np.diagonal(problem.W))
        softer = (replace(problem, W=problem.W + part * softness) for part in _SOFTNESS)
        smoother = (replace(problem, friction=part * problem.friction) for part in _FRICTION)
        for path in (softer, smoother):
            r = np.zeros_like(self.best)
            for easier in path:
                there = _Search(_Scaled.of(easier), r)
                there.polish(r)
                r = there.best
                self.iterations += there.iterations
            self.polish(r)
            if self.error <= ADMITTED:
                return

    def polish(self, start: Array) -> None:
        """Newton's steps of several kinds, until one of them arrives."""
        for part in FACTORS:
            variant = replace(self._scaled, step=part * self._scaled.step)
            for steps_of in (self.damped, self.full):
                steps_of(start, variant)
                if self.error <= REACHED:
                    return

    def damped(self, r: Array, scaled: _Scaled) -> None:
        """Newton's steps, shortened while they do not help."""
        error = least = self._offer(r, self._scaled.error(r))
        stalled = taken = 0
        while least > REACHED and taken < NEWTON_STEPS and stalled < STALLED:
            step, part = scaled.newton_step(r), 1.0
            taken += 1
            trial, found = r + step, self._scaled.error(r + step)
            while not found < error and part > SHORTEST:
                part *= 0.5
                trial, found = r + part * step, self._scaled.error(r + part * step)
            if not found < error:  # a bend: over it with the whole step
                trial, found = r + step, self._scaled.error(r + step)
            if not np.isfinite(found):
                break
            r, error = trial, self._offer(trial, found)
            stalled = 0 if error < WORTH * least else stalled + 1
            least = min(least, error)
        self.iterations += taken

    def full(self, r: Array, variant: _Scaled) -> None:
        """Whole steps, which find their way where no shorter one leads down."""
        for _ in range(FULL_STEPS):
            r = r + variant.newton_step(r)
            self.iterations += 1
            error = self._offer(r, self._scaled.error(r))
            if not REACHED < error < np.inf:
                return
