# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Non-ideal constraint forces that grow with the load of the rows they come from.

The servo paper's (12) takes the force c as given. Dry friction is not: with the load n_j that joint
j transmits, c = c₀ + Σ n_j d_j, and c in turn changes these loads. The rows hold against any c, so
their joint multipliers are affine in n, and

    n_j = |W_j λ(n)|,    λ(n) = λ₀ + Σ n_i u_i,

is a small fixed-point problem: once u_i, the reaction to d_i, is known, an iteration is a product
of small matrices. Where friction is weak it is a contraction. Where it is strong there may be no
solution (a drawer that jams, Painlevé's paradox): rigid bodies have no solution then, and the
status reports it. A contact's load has a sign, n_j = w_jᵀ λ(n): where contacts share a load that
rigid bodies do not determine, the sum of their friction is then that of any other share.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.equation.fundamental_equation import Factorization
from uk_dynamics.core.equation.solution import Solution, Status
from uk_dynamics.core.linalg.rank_rule import DEFAULT_CONSISTENCY_TOLERANCE

# Loads agree when they differ by at most this part of the largest.
_AGREEMENT = 1e-11
# Newton on a piecewise smooth problem of a few unknowns needs a handful of steps.
_NEWTON_STEPS = 30
# Loads more than this many times those without friction are a jam within rounding.
_LARGEST = 1e6
# Strong friction grows to its full value by at most this factor at a time.
_GROWTH = 1.15
# A given function of the solution may be less accurate than our own iteration.
_GIVEN_AGREEMENT = 1e-9
_GIVEN_STEPS = 100


@dataclass(frozen=True, eq=False)
class LoadForces:
    """Forces in proportion to loads, at one state."""

    # d_j as columns: generalized force per unit load, (nv, k), without unit for sliding joints, m
    # for turning ones
    direction: Array
    load_map: Array  # W_j: from the multipliers of all rows to the load of joint j, (k, 3, m)
    signed: Flags  # whether a load is the first component with its sign, not the magnitude, (k,)

    def with_others(self, direction: Array, load_map: Array, signed: Flags) -> "LoadForces":
        """These and further ones, of the same rows."""
        return LoadForces(
            np.concatenate((self.direction, direction), axis=1),
            np.concatenate((self.load_map, load_map)),
            np.concatenate((self.signed, signed)),
        )

    @property
    def rows(self) -> Flags:
        """Which rows each load depends on, (k, m)."""
        rows: Flags = (self.load_map != 0.0).any(axis=1)
        return rows


def solve_nonideal(
    factorization: Factorization,  # of M and A
    F: Array,  # generalized force without constraints, (nv,), N m or N
    b: Array,  # right-hand side of A q̈ = b, (m,)
    *,
    given: Array | None = None,  # part of c that is known, (nv,), N m or N
    loads: LoadForces | None = None,  # part of c that depends on the load of the rows
    # part of c that depends on the solution in any way, (nv,); iterated until it agrees with the
    # solution it leads to
    function: Callable[[Solution], Array] | None = None,
    # as for :meth:`Factorization.solve`
    consistency_tolerance: float = DEFAULT_CONSISTENCY_TOLERANCE,
) -> Solution:
    """Acceleration with non-ideal constraint forces, servo paper (13).

    Returns:
        The solution. The rows hold whatever its status. NOT_CONVERGED: there is no load that fits
        the force it causes; this part of c is left out. UNDETERMINED_LOAD: the rows in
        ``offending`` share their load with others in a way that rigid bodies do not determine; it
        is split by least squares.
    """

    def solve(c: Array | None) -> Solution:
        if loads is None:
            return factorization.solve(
                F, b, nonideal=c, consistency_tolerance=consistency_tolerance
            )
        return _solve_loads(factorization, F, b, c, loads, consistency_tolerance)

    if function is None:
        return solve(given)
    solution = without = solve(given)
    last: Array = np.zeros(len(F))
    for _ in range(_GIVEN_STEPS):
        new = function(solution)
        if not np.isfinite(new).all():
            break
        if float(np.abs(new - last).max()) <= _GIVEN_AGREEMENT * float(np.abs(new).max()):
            return solution
        solution = solve(new if given is None else given + new)
        last = new
    return _flagged(without, Status.NOT_CONVERGED, np.arange(len(b)))


def _solve_loads(
    factorization: Factorization,
    F: Array,
    b: Array,
    given: Array | None,
    loads: LoadForces,
    consistency_tolerance: float,
) -> Solution:
    without = factorization.solve(F, b, nonideal=given, consistency_tolerance=consistency_tolerance)
    count = loads.direction.shape[1]
    response = np.empty((len(b), count))
    for j in range(count):
        response[:, j] = factorization.multipliers(factorization.holding(loads.direction[:, j]))
    start = loads.load_map @ without.joint_multipliers
    n = _balance(start, loads.load_map @ response, loads.signed)
    rows = loads.rows[(loads.direction != 0.0).any(axis=0)]
    if n is None:
        return _flagged(without, Status.NOT_CONVERGED, np.flatnonzero(rows.any(axis=0)))
    c = loads.direction @ n
    if given is not None:
        c += given
    solution = factorization.solve(F, b, nonideal=c, consistency_tolerance=consistency_tolerance)
    if factorization.rank < len(b):
        doubtful = rows.any(axis=0) & ~factorization.determined
        if doubtful.any():
            return _flagged(solution, Status.UNDETERMINED_LOAD, np.flatnonzero(doubtful))
    return solution


def _balance(start: Array, response: Array, signed: Flags) -> Array | None:
    """The n, (k,), with n_j = |x_j|, x_j = start_j + response_j n; None where there is none.

    Of signed ones n_j is the first component of x_j.

    Where loads change by less than the n that they are compared with, there is exactly one n. With
    stronger friction there may be several; the one that weak friction leads to as it grows is
    meant: friction is increased in steps from where it is weak.
    """
    strength = float(np.linalg.norm(response, axis=1).sum(axis=1).max(initial=0.0))
    if not math.isfinite(strength):
        return None
    excess = max(strength, 1.0)
    n = _newton(start, response / excess, signed, np.zeros(len(start)))
    steps = math.ceil(math.log(excess) / math.log(_GROWTH))
    growth = excess ** (1.0 / max(steps, 1))
    for left in reversed(range(steps)):
        if n is None:
            break
        # with less n for more friction, the loads begin as they are
        n = _newton(start, response / growth**left, signed, n / growth)
    return n


def _newton(start: Array, response: Array, signed: Flags, n: Array) -> Array | None:
    identity = np.eye(len(n))
    bound = _LARGEST * np.linalg.norm(start)
    for _ in range(_NEWTON_STEPS):
        x = start + response @ n
        size = np.linalg.norm(x, axis=1)
        unit = x / np.maximum(size, 1e-300)[:, None]
        unit[signed] = 1.0, 0.0, 0.0
        error = np.einsum("ji,ji->j", x, unit) - n
        if (np.abs(error) <= _AGREEMENT * size.max(initial=0.0)).all():
            return n
        slope = np.einsum("ji,jik->jk", unit, response)
        try:
            n = n + np.linalg.solve(identity - slope, error)
            n = np.where(signed, n, np.maximum(n, 0.0))
        except np.linalg.LinAlgError:
            return None
        if not np.linalg.norm(n) <= bound:
            return None
    return None


def _flagged(solution: Solution, status: Status, rows: Indices) -> Solution:
    """The solution with a status, unless rows do not hold, which is worse."""
    if solution.status is Status.OK:
        solution.status, solution.offending = status, rows
    return solution
