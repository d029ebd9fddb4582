# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts within limits, with contact forces inside friction pyramids: by priority, then nearest.

A contact force is inside a pyramid inside its cone, |f_x| + |f_y| ≤ μ f_n, so that all limits are
linear. Where everything that is asked for can be served, the answer is the one nearest to the
closed form among those that serve it: a least-distance problem in the motions that the rows leave,
which Lawson and Hanson (1974, chapter 23) solve as non-negative least squares.

Where it cannot, each priority in turn is served as well as those before and the limits allow. What
is left of its rows is unique, and so are the limits that it pushes against: where their multiplier
is positive for one answer, all answers are at them. The least distance finds those limits when
steps that the rows do not see are nearly free; with these limits as equations, the rows are served
once more, to rounding, and what equations and rows leave is for the next priority.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.linalg.bounded_least_squares import DEPENDENT
from uk_dynamics.core.linalg.row_basis import RowBasis, least_solution

_INSIDE = 1.0 - 1e-15  # of a force at the edge of its pyramid: rounding
_STILL = 1e-9  # of its size: an inequality that changes by less does not change
_SLACK = 1e-12  # in units of equal cost: where a search ends, no motion may be left within limits
_KEPT = 1e-10  # of unknowns relative to their limits: inequalities hold within it
_FREE = 1e-7  # cost of a step that rows do not see, relative to theirs
_PUSHED = 1e-9  # of its size if nothing cancelled: a limit that is pushed less is not needed
_PUSHED_FREELY = 1e3  # the same of what the cost of free steps explains
#: The generated C takes the constants from here.
CONTACT_CONSTANTS = {
    "INSIDE_PYRAMID": _INSIDE,
    "UNCHANGED": _STILL,
    "SLACK": _SLACK,
    "KEPT": _KEPT,
    "FREE_STEP": _FREE,
    "PUSHED": _PUSHED,
    "PUSHED_FREELY": _PUSHED_FREELY,
}


def within_pyramids(forces: Array, friction: Array, most: Array) -> bool:
    """Whether contact forces, (k, 3) of normal, x and y, are where the search keeps them."""
    normal, tangential = forces[:, 0], np.abs(forces[:, 1:]).sum(axis=1)
    return bool((tangential <= friction * normal).all() and (normal <= most).all())


class _Limits(NamedTuple):
    """What is to hold of efforts and forces x in units of equal cost: rows @ x ≥ least."""

    rows: Array  # (c, n)
    least: Array  # (c,)

    @classmethod
    def of(cls, root: Array, lower: Array, upper: Array, friction: Array, most: Array) -> _Limits:
        """The limits; units in root, (nu + 3k,), bounds of efforts, μ and normal forces."""
        unit, nu = np.eye(len(root)), len(lower)
        bounded = np.flatnonzero(upper - lower < np.inf)
        normal, x, y = unit[nu::3], unit[nu + 1 :: 3], unit[nu + 2 :: 3]
        limited, size = np.flatnonzero(most < np.inf), 1.0 / (1.0 + friction)[:, None]
        low, high = (root[:nu] * lower)[bounded], (root[:nu] * upper)[bounded]
        faces = [
            (friction[:, None] * normal + a * x + b * y) * size for a in (1, -1) for b in (1, -1)
        ]
        rows = np.concatenate((unit[bounded], -unit[bounded], -normal[limited], *faces))
        highest = (root[nu::3] * most)[limited]
        least = np.concatenate((low, -high, -highest, np.zeros(4 * len(friction))))
        return cls(rows, least)

    def nearest(self, x: Array, motions: Array) -> Array | None:
        """What is within them and nearest to x along motions, (n,); None: nothing is."""
        along = self.rows @ motions
        push = self.pushes(along, self.least - self.rows @ x)
        if push is None:
            return None
        lack, active = self.least - self.rows @ x, push > 0.0
        way = np.linalg.lstsq(along[active], lack[active], rcond=None)[0]
        if not (along @ way >= lack - _KEPT * (1.0 + np.abs(lack).max(initial=0.0))).all():
            return None
        found: Array = x + motions @ way
        return found

    @staticmethod
    def pushes(along: Array, lack: Array) -> Array | None:
        """Multipliers of the least |way| with along @ way ≥ lack; None: there is none, (c,)."""
        from scipy.optimize import nnls  # takes long to import

        push = np.zeros(len(lack))
        size = np.linalg.norm(along, axis=1)
        moves = size > _STILL
        if (lack[~moves] > _KEPT).any():
            return None
        if not moves.any():
            return push
        scaled = np.vstack((along[moves].T, lack[moves] - _SLACK)) / size[moves]
        try:
            found, _ = nnls(scaled, np.append(np.zeros(along.shape[1]), 1.0))
        except RuntimeError:  # too many iterations
            return None
        rest = 1.0 - scaled[-1] @ found
        push[moves] = found / size[moves] / (rest if rest > 0.0 else 1.0)
        return push


class ContactAllocation:
    """Allocates efforts and contact forces."""

    def __init__(self, rank_tolerance: float) -> None:
        self.finished = True  # whether the last answer is the best
        self._tolerance = rank_tolerance

    def solve(
        self,
        C: Array,  # rows per unit effort and force, (m, nu + 3k)
        wanted: Array,  # (m,)
        levels: Sequence[Indices],  # rows that are served first, then those that yield to them, …
        weights: Array,  # of squares of efforts and forces, (nu + 3k,)
        lower: Array,  # of the efforts, (nu,)
        upper: Array,  # (nu,)
        closed: Array,  # to come close to, (nu + 3k,): of least squares
        friction: Array,  # μ, (k,)
        most: Array,  # largest normal forces, (k,), possibly infinite
        *,
        served: bool,  # whether the closed form serves all rows
    ) -> Array:
        """Efforts, then forces of the contacts: normal, x and y of each, (nu + 3k,)."""
        nu, root = len(lower), np.sqrt(weights)
        limits, rows, goal = _Limits.of(root, lower, upper, friction, most), C / root, root * closed
        self.finished, found = True, None
        if served:
            free = RowBasis(np.asfortranarray(rows.T), None, self._tolerance).complement()
            found = limits.nearest(goal, free)
        if found is None:
            fixed = np.append(lower >= upper, np.zeros(len(root) - nu, dtype=bool))
            x = np.where(fixed, root * np.append(lower, closed[nu:]), goal)
            motions = np.eye(len(root))[:, ~fixed]
            found = x
            for level in levels:
                if len(level):
                    x, motions, found = self._serve(
                        limits, rows[level], wanted[level], x, motions, goal
                    )
        answer = found / root
        answer[:nu] = np.clip(answer[:nu], lower, upper)
        return _inside(answer, nu, friction, most)

    def _serve(
        self, limits: _Limits, C: Array, wanted: Array, x: Array, motions: Array, goal: Array
    ) -> tuple[Array, Array, Array]:
        """Serve rows from x along motions: where, motions that are left, nearest within limits."""
        rows = C @ motions
        sizes = np.linalg.norm(rows, axis=1)
        rows[sizes <= self._tolerance * np.linalg.norm(C, axis=1)] = 0.0  # fixed before
        sizes, rest = np.linalg.norm(rows, axis=1), wanted - C @ x
        step, _, basis = least_solution(rows, sizes, rest, self._tolerance)
        free = motions @ basis.complement()
        best = _toward(x + motions @ step, free, goal)
        found = limits.nearest(best, free)
        if found is not None:
            return best, free, found
        held, around = self._pushed(limits, motions, rows, basis, best, free)
        lack, along = limits.least - limits.rows @ x, limits.rows @ motions
        normals = RowBasis(np.asfortranarray(along[held].T), np.ones(held.sum()), DEPENDENT)
        first = least_solution(along[held], np.ones(held.sum()), lack[held], DEPENDENT)[0]
        inner = normals.complement()
        left = rows @ inner
        more, _, basis = least_solution(left, sizes, rest - rows @ first, self._tolerance)
        free = motions @ inner @ basis.complement()
        best = _toward(x + motions @ (first + inner @ more), free, goal)
        found = limits.nearest(best, free)
        if found is not None:
            return best, free, found
        self.finished = False
        return around, free, around

    def _pushed(
        self, limits: _Limits, motions: Array, rows: Array, basis: RowBasis, *places: Array
    ) -> tuple[Flags, Array]:
        """Limits that rows push against, (c,), and a point close to the best within them, (n,).

        Unknown is by how much rows are served less than they could be, and, at a small cost, where.

        places: The best point, and motions from there that the rows do not see, (n, g).
        """
        best, free = places
        seen = basis.rotate_back(np.eye(rows.shape[1], basis.rank, order="F"))
        upper = np.linalg.qr(rows @ seen, mode="r")
        cost = _FREE * float(np.linalg.norm(rows))
        moved = solve_triangular(upper, (limits.rows @ (motions @ seen)).T, trans="T").T
        along = np.concatenate((moved, limits.rows @ free / cost), axis=1)
        push = limits.pushes(along, limits.least - limits.rows @ best)
        if push is None:
            return np.zeros(len(limits.least), dtype=bool), best
        way = push @ along
        on, off = np.split(way, [basis.rank])
        steps = motions @ (seen @ solve_triangular(upper, on)), free @ off / cost
        least = max(
            _PUSHED * float(np.linalg.norm(rows) * np.linalg.norm(on)),
            _PUSHED_FREELY * cost * float(np.linalg.norm(off)),
        )
        return push > least, best + steps[0] + steps[1]


def _toward(x: Array, motions: Array, goal: Array) -> Array:
    """What is nearest to a goal along motions."""
    near: Array = x + motions @ (motions.T @ (goal - x))
    return near


def _inside(answer: Array, nu: int, friction: Array, most: Array) -> Array:
    """Efforts and forces, whose forces rounding has left just outside, with these inside."""
    forces = answer[nu:].reshape(-1, 3)
    forces[:, 0] = np.clip(forces[:, 0], 0.0, most)
    held, wanted = friction * forces[:, 0], np.abs(forces[:, 1:]).sum(axis=1)
    beyond = wanted > held
    forces[beyond, 1:] *= (_INSIDE * held[beyond] / wanted[beyond])[:, None]
    return answer
