# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts within limits, with contact forces inside friction pyramids: by priority, then nearest.

Unknowns are scaled, x = √W u, so that motors of different kind and size are comparable. A contact
force is inside a pyramid inside its cone, |f_x| + |f_y| ≤ μ f_n, so that all limits are linear.
Where everything that is asked for can be served, the answer is the one nearest to the closed form
among those that serve it: a least-distance problem in the motions that the rows leave, which Lawson
and Hanson (1974, chapter 23) solve as non-negative least squares.

Where it cannot, each priority in turn is served as well as those before and the limits allow. What
is left of its rows is unique, and so are the limits that it pushes against: where their multiplier
is positive for one answer, all answers are at them. The least distance finds those limits when
steps that the rows do not see are nearly free; with these limits as equations, the rows are served
once more, to rounding, and what equations and rows leave is for the next priority. Nearly free
steps have a price: a limit that is exceeded by less than about 1e-6 is not seen. Where nothing is
within limits then, those that show it are equations, too, and the first whose multiplier would
fall below zero is none, as Goldfarb and Idnani (Mathematical Programming 27, 1983) do.

A row that is bounded, not served, is a limit that can be exceeded at a cost, by an unknown of its
own, while its priority is served. Where it has to be exceeded, it is a row as the others; where
not, it is a limit for the priorities behind.
"""

from typing import NamedTuple

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.linalg.nonnegative import DEPENDENT, NO_GRADIENT, nonnegative
from uk_dynamics.core.linalg.row_basis import RowBasis, least_solution

_INSIDE = 1.0 - 1e-15  # of a force at the edge of its pyramid: rounding
_STILL = 1e-9  # of its size: an inequality that changes by less does not change
_SLACK = 1e-12  # in units of equal cost: where a search ends, no motion may be left within limits
_KEPT = 1e-10  # of unknowns relative to their limits: inequalities hold within it
_FREE = 1e-7  # cost of a step that rows do not see, relative to theirs
_PUSHED = 1e-9  # of its size if nothing cancelled: a limit that is pushed less is not needed
_PUSHED_FREELY = 1e3  # the same of what the cost of free steps explains
_NONE = np.zeros(0)
#: The generated C takes the constants from here.
SEARCH_CONSTANTS = {
    "INSIDE_PYRAMID": _INSIDE,
    "DEPENDENT": DEPENDENT,
    "NO_GRADIENT": NO_GRADIENT,
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


def inside_pyramids(forces: Array, friction: Array, most: Array) -> Array:
    """Contact forces, as of :func:`within_pyramids`, of which those outside are brought inside."""
    normal = np.clip(forces[:, 0], 0.0, most)
    held, wanted = friction * normal, np.abs(forces[:, 1:]).sum(axis=1)
    part = np.where(wanted > held, _INSIDE * held / np.maximum(wanted, 1e-300), 1.0)
    return np.column_stack((normal, forces[:, 1:] * part[:, None]))


class _Limits(NamedTuple):
    """What is to hold of efforts and forces x in units of equal cost: rows @ x ≥ least."""

    rows: Array  # (c, n)
    least: Array  # (c,)

    @classmethod
    def of(cls, root: Array, lower: Array, upper: Array, friction: Array, most: Array) -> "_Limits":
        """The limits; units in root, (nu + 3k,), bounds of efforts, μ and normal forces."""
        unit, nu = np.eye(len(root)), len(lower)
        normal, x, y = unit[nu::3], unit[nu + 1 :: 3], unit[nu + 2 :: 3]
        size = 1.0 / (1.0 + friction)[:, None]
        rows = [unit[:nu], -unit[:nu], -normal]
        rows += [
            (friction[:, None] * normal + a * x + b * y) * size for a in (1, -1) for b in (1, -1)
        ]
        least = np.concatenate((root[:nu] * lower, -root[:nu] * upper, -root[nu::3] * most))
        acts = np.isfinite(least := np.append(least, np.zeros(4 * len(friction))))
        return cls(np.concatenate(rows)[acts], least[acts])

    def and_also(self, rows: Array, least: Array) -> "_Limits":
        """These limits before others."""
        return _Limits(np.concatenate((self.rows, rows)), np.append(self.least, least))

    def of_those(self, which: Flags) -> "_Limits":
        """Some of the limits."""
        return _Limits(self.rows[which], self.least[which])

    def nearest(self, x: Array, motions: Array) -> tuple[Array | None, Flags]:
        """What is within them and nearest to x along motions, (n,), and limits that it is at, (c,).

        None: nothing is within them, and these limits together are why.
        """
        along, lack = self.rows @ motions, self.least - self.rows @ x
        push, found = self.pushes(along, lack)
        active = push > 0.0
        if found:
            way = np.linalg.lstsq(along[active], lack[active], rcond=None)[0]
            if (along @ way >= lack - _KEPT * (1.0 + np.abs(lack).max(initial=0.0))).all():
                return x + motions @ way, active
        return None, active

    @staticmethod
    def pushes(along: Array, lack: Array) -> tuple[Array, bool]:
        """Multipliers of the least |way| with along @ way ≥ lack, (c,); whether it was found."""
        push = np.zeros(len(lack))
        size = np.linalg.norm(along, axis=1)
        moves = size > _STILL
        if (stuck := ~moves & (lack > _KEPT)).any():
            push[np.argmax(stuck)] = 1.0
            return push, False
        if not moves.any():
            return push, True
        scaled = np.vstack((along[moves].T, lack[moves] - _SLACK)) / size[moves]
        found, ended = nonnegative(scaled, np.append(np.zeros(along.shape[1]), 1.0))
        if not ended:
            return push, False
        rest = 1.0 - scaled[-1] @ found
        push[moves] = found / size[moves] / (rest if rest > 0.0 else 1.0)
        return push, True


class _Place(NamedTuple):
    """Where the search is after some priorities."""

    limits: _Limits
    x: Array  # serves them best, (n,)
    motions: Array  # orthonormal, along which it goes on to, (n, g)
    nearest: Array  # to the closed form within limits, (n,)


class LimitedAllocation:
    """Allocates efforts, and forces of contacts, within limits."""

    def __init__(
        self,
        priorities: Indices,
        weights: Array,
        rank_tolerance: float,
        side: Array | None = None,  # rows that are bounded, as of :func:`lacking`
    ) -> None:
        self.finished = True  # whether the last answer is the best
        self.weights = weights  # of squares of efforts, and of forces, positive, (nu + 3k,)
        self._priorities = priorities
        self._tolerance = rank_tolerance
        self._side = np.zeros(len(priorities)) if side is None else side

    def solve(
        self,
        C: Array,  # rows per unit effort and force, those of contacts first, (3k + mt, nu + 3k)
        wanted: Array,  # (3k + mt,)
        lower: Array,  # of the efforts, (nu,)
        upper: Array,  # (nu,)
        closed: Array,  # to come close to, (nu + 3k,): of least squares
        *,
        friction: Array = _NONE,  # of contacts that stand, μ, (k,)
        most: Array = _NONE,  # largest normal forces, (k,), possibly infinite
        served: bool = False,  # whether the closed form serves all rows that are not bounded
    ) -> Array:
        """Efforts, then forces of the contacts: normal, x and y of each, (nu + 3k,), N or N·m."""
        nu, root, first = len(lower), np.sqrt(self.weights), np.zeros(3 * len(friction))
        limits, rows, goal = _Limits.of(root, lower, upper, friction, most), C / root, root * closed
        side = np.append(first, self._side)
        levels = np.append(first, 1.0 + self._priorities)  # contacts are served before tasks
        self.finished, found = True, None
        if served:
            own = side == 0.0
            basis = RowBasis(np.asfortranarray(rows[own].T), None, self._tolerance)
            best = goal + basis.basis_product(basis.coordinates(wanted[own] - rows[own] @ goal))
            bounds = _bounds(rows, wanted, side)[0]
            found, _ = limits.and_also(*bounds).nearest(best, basis.complement())
        if found is None:
            fixed = np.append(lower >= upper, np.zeros(len(root) - nu, dtype=bool))
            x = np.where(fixed, root * np.append(lower, closed[nu:]), goal)
            place = _Place(limits, x, np.eye(len(root))[:, ~fixed], x)
            for level in np.unique(levels):
                own = levels == level
                place = self._serve(place, rows[own], wanted[own], side[own], goal)
            found = place.nearest
        answer = found / root
        answer[:nu] = np.clip(answer[:nu], lower, upper)
        answer[nu:] = inside_pyramids(answer[nu:].reshape(-1, 3), friction, most).ravel()
        return answer

    def _serve(self, place: _Place, C: Array, wanted: Array, side: Array, goal: Array) -> _Place:
        """Serve rows of a priority."""
        x, motions = place.x, place.motions
        rows, rest = C @ motions, wanted - C @ x
        sizes = np.linalg.norm(rows, axis=1)
        rows[sizes <= self._tolerance * np.linalg.norm(C, axis=1)] = 0.0  # fixed before
        sizes = np.linalg.norm(rows, axis=1)
        served, bounded = side == 0.0, np.flatnonzero((side != 0.0) & (sizes > 0.0))
        bounds, lengths = _bounds(C[bounded], wanted[bounded], side[bounded])
        hard, limits = len(place.limits.least), place.limits.and_also(*bounds)
        along, lack = limits.rows @ motions, limits.least - limits.rows @ x
        size = float(np.linalg.norm(np.append(sizes[served], lengths))) or 1.0
        pushed, pushes, around = np.zeros(len(lack), dtype=bool), np.zeros(len(lack)), x
        for change in range(2 * len(lack) + 2):
            held = pushed.copy()  # limits that are equations
            held[hard:] = False
            ones = np.ones(held.sum())
            first, _, normals = least_solution(along[held], ones, lack[held], DEPENDENT)
            inner = normals.complement()
            of = rows[served], sizes[served], rest[served]
            more, _, basis = least_solution(
                of[0] @ inner, of[1], of[2] - of[0] @ first, self._tolerance
            )
            free = motions @ inner @ basis.complement()
            best = x + motions @ (first + inner @ more)
            best += free @ (free.T @ (goal - best))
            if change > 1:
                least = _PUSHED * size * (size * np.linalg.norm(first) + np.linalg.norm(rest))
                gradient = of[0].T @ (of[0] @ (first + inner @ more) - of[2])
                push = np.zeros(len(lack))
                push[held] = np.linalg.lstsq(along[held].T, gradient, rcond=None)[0]
                pulls = np.flatnonzero(push < -least)
                parts = pushes[pulls] / (pushes - push)[pulls]
                part = parts.min(initial=1.0)  # of the way from the multipliers before
                pushes += part * (push - pushes)
                if part < 1.0:
                    pushed[pulls[np.argmin(parts)]] = False
                    continue
            found, blocking = limits.nearest(best, free)
            if found is not None:
                return _Place(limits, best, free, found)
            if change == 0:
                reached = self._pushed(
                    limits, motions, rows[served], basis, 1.0 / lengths, size, best, free
                )
                if reached is None:
                    around = best
                    break
                pushed, around, pushes = reached
            elif (blocking & ~pushed).any():
                pushes = np.where(pushed, pushes, 0.0)
                pushed = pushed | blocking
            else:
                break
            exceeded = pushed[hard:]
            served[bounded[exceeded]] = True
            bounded = bounded[~exceeded]
            stay = np.append(np.ones(hard, dtype=bool), ~exceeded)
            limits, along, lack = limits.of_those(stay), along[stay], lack[stay]
            pushed, pushes = pushed[stay], pushes[stay]
        self.finished = False
        return _Place(limits, around, free, around)

    def _pushed(
        self,
        limits: _Limits,
        motions: Array,
        rows: Array,
        basis: RowBasis,
        soft: Array,
        size: float,
        *places: Array,
    ) -> tuple[Flags, Array, Array] | None:
        """Limits that rows push against, (c,), a point close to the best, (n,), and multipliers.

        None: the search for them has not ended.

        Unknown is by how much rows are served less than they could be, by how much bounded ones
        exceed their bounds, the last limits, and, at a small cost, where.

        soft: What bounded rows exceed, in units of their limits, (c',).
        size: Of all these rows.
        places: The best point, and motions from there that the rows do not see, (n, g).
        """
        best, free = places
        seen = basis.rotate_back(np.eye(rows.shape[1], basis.rank, order="F"))
        upper = np.linalg.qr(rows @ seen)[1]
        cost = _FREE * size
        moved = np.linalg.solve(upper.T, (limits.rows @ (motions @ seen)).T).T
        beyond = np.zeros((len(limits.least), len(soft)))
        np.fill_diagonal(beyond[len(beyond) - len(soft) :], soft)
        along = np.concatenate((moved, beyond, limits.rows @ free / cost), axis=1)
        push, ended = limits.pushes(along, limits.least - limits.rows @ best)
        if not ended:
            return None
        on, off = np.split(push @ along, [basis.rank + len(soft)])
        steps = motions @ (seen @ np.linalg.solve(upper, on[: basis.rank])), free @ off / cost
        least = max(
            _PUSHED * size * float(np.linalg.norm(on)),
            _PUSHED_FREELY * cost * float(np.linalg.norm(off)),
        )
        return push > least, best + steps[0] + steps[1], push


def _bounds(C: Array, wanted: Array, side: Array) -> tuple[tuple[Array, Array], Array]:
    """Bounded ones of rows as limits, (c', n) and (c',), and what they were divided by, (c',)."""
    bounded = np.flatnonzero(side)
    sizes = np.linalg.norm(C[bounded], axis=1)
    sizes[sizes == 0.0] = 1.0
    parts = side[bounded] / sizes
    return (C[bounded] * parts[:, None], wanted[bounded] * parts), sizes
