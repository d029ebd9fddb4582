# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Singular configurations that a motion passes between its samples, where its branch is doubtful.

Near one, the reciprocal condition number of the loops' rows falls and rises along two straight
lines. A motion passes it where both lines end within the same interval between samples.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.linalg import BEYOND, FARTHEST_BEYOND
from uk_dynamics.mechanism.dynamics import Dynamics, InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism

_COARSE = 100  # samples of a motion that are looked at first
_APPROACHED = 0.3  # reciprocal condition number of these, near which all samples are
_NEAR = 0.1  # reciprocal condition number, above which nothing is singular
_BESIDE = 0.5  # of an interval: what curvature moves the ends of the lines by
_LARGE = 0.3  # of the largest part of a direction: constraints and joints that are named
_NAMED = 4  # joints


class Passage(NamedTuple):
    """A singular configuration that a motion passed."""

    t: float  # when, in s, between two samples
    text: str  # what passed, where, and what that means


def passages_of(
    mechanism: Mechanism,  # that moved
    samples: Sequence[int],  # numbers of those between which no constraints were switched, in order
    t: Array,  # times of all samples, (K,), in s
    q: Array,  # configurations, (K, nq)
    rank: NDArray[np.int_],  # of the rows, (K,)
    condition: Callable[[int], float],  # condition number of the independent rows of a sample
) -> list[Passage]:
    """Passages of a motion that is known, where conditions are costly.

    Every so many samples are asked first, then all where the rows come close to dependence.
    """
    count = len(samples)
    full = int(rank[samples].max(initial=0)) if count else 0

    @cache
    def regular(k: int) -> float:
        found = condition(samples[k]) if rank[samples[k]] == full else 0.0
        return 1.0 / found if found > 0.0 else 0.0

    stride = -(-count // _COARSE) or 1
    coarse = range(0, count, stride)
    known = np.pad([regular(k) for k in coarse], 1, constant_values=np.inf)
    near = np.zeros(count, dtype=bool)
    for k, before, here, after in zip(coarse, known, known[1:], known[2:], strict=False):
        singular = (rank[samples[k : k + stride]] < full).any()
        if singular or (here < _APPROACHED and here <= min(before, after)):
            near[max(k - 2 * stride - 2, 0) : k + 2 * stride + 3] = True
    found: dict[str, Passage] = {}
    for part in np.split(np.arange(count), np.flatnonzero(np.diff(near)) + 1):
        watch = SingularPassages(mechanism)
        for k in part[near[part]].tolist():
            number, value = samples[k], regular(k)
            there = 1.0 / value if value else np.inf
            for one in watch.add(float(t[number]), q[number], int(rank[number]), there):
                found.setdefault(one.text.partition(":")[0], one)  # each set of rows once
    return list(found.values())


class SingularPassages:
    """Watches samples of one motion for singular configurations between them."""

    def __init__(self, mechanism: Mechanism) -> None:
        """Begin a motion."""
        self._mechanism = mechanism
        self._rank = 0  # the largest so far
        self._last: deque[tuple[float, float, Array]] = deque(maxlen=4)
        self._entered = 0.0  # when its singular samples began
        self._named: set[tuple[str, ...]] = set()

    def add(
        self,
        t: float,  # time, in s
        q: Array,  # configuration, (nq,)
        rank: int,  # of the rows
        condition: float,  # condition number of the independent rows
    ) -> Iterator[Passage]:
        """Take a sample; each set of constraints is named once, two samples after its passage."""
        if rank > self._rank:  # the samples before were singular
            self._rank = rank
            self._last = deque(((t, 0.0, q) for t, _, q in self._last), maxlen=4)
        regular = 0.0 if rank < self._rank or not condition > 0.0 else 1.0 / condition
        if self._last and t <= self._last[-1][0]:
            return
        if self._last and self._last[-1][1] == regular == 0.0:  # samples within it count as one
            self._last.pop()
        else:
            self._entered = t
        self._last.append((0.5 * (self._entered + t), regular, q))
        if len(self._last) == 4 and (when := self._between()) is not None:
            nearest = min((one for one in self._last if one[1] > 0.0), key=lambda one: one[1])
            names, place = self._where(nearest[0], nearest[2])
            self._last = deque([self._last[-1]], maxlen=4)
            if names and names not in self._named:
                self._named.add(names)
                yield Passage(
                    when,
                    f"{', '.join(names)}: a singular configuration was passed near {place};"
                    " the assembly branch is doubtful from there on",
                )

    def _between(self) -> float | None:
        """When the lines through two samples before and two after end; None: not in between."""
        (t0, s0, _), (t1, s1, _), (t2, s2, _), (t3, s3, _) = self._last
        if min(s1, s2) > _NEAR or not (s0 > s1 and s3 > s2):
            return None
        before, after = t1 + s1 * (t1 - t0) / (s0 - s1), t2 - s2 * (t3 - t2) / (s3 - s2)
        room = _BESIDE * (t2 - t1)
        if s1 == 0.0 or s2 == 0.0:
            return t1 if s1 == 0.0 else t2
        inside = all(t1 - room <= t <= t2 + room for t in (before, after))
        return float(np.clip(0.5 * (before + after), t1, t2)) if inside else None

    def _where(self, t: float, q: Array) -> tuple[tuple[str, ...], str]:
        """The constraints whose rows depend on each other there, and positions of their joints."""
        mechanism = self._mechanism
        model = mechanism.model
        A = InterpretedDynamics(mechanism).terms(State(t, q, np.zeros(model.nv))).A
        lengths = np.linalg.norm(A, axis=1)
        unit = A / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        left, sizes, _ = np.linalg.svd(unit, full_matrices=False)
        k = min(self._rank, len(sizes)) - 1
        if k < 0:
            return (), ""
        parts = np.abs(left[:, k])
        rows = [
            n for n, x in zip(mechanism.row_names, parts, strict=True) if x > _LARGE * parts.max()
        ]
        moved = np.abs(A[parts > _LARGE * parts.max()]).max(axis=0) > 0.0
        at = [
            f"{joint} = {q[model.position_index(joint)] + 0.0:.3g}"
            for joint in model.joint_names
            if moved[model.velocity_index(joint)]
        ]
        shown = ", ".join(at[:_NAMED]) + (", …" if len(at) > _NAMED else "")
        return tuple(dict.fromkeys(row.partition(".")[0] for row in rows)), shown


def acceleration_along(
    dynamics: Dynamics, state: State, inputs: Inputs, usual: int | None
) -> tuple[Array, int]:
    """Acceleration of a state, (nv,), and the rank of its rows for the next one.

    Where the rank is not the usual one, that before, in a singular configuration, the acceleration
    is the mean of states a little further back and forth along the motion that have it; C has the
    same in ``motion.c``.
    """
    found = dynamics.evaluate(state, inputs)
    speed, way = float(np.abs(state.v).max(initial=0.0)), BEYOND
    if usual in (None, found.rank) or not speed > 0.0:
        return found.qdd, found.rank
    while way <= FARTHEST_BEYOND:
        step = way / speed * state.v
        sides = [dynamics.model.integrate(state.q, side * step) for side in (-1.0, 1.0)]
        ends = [dynamics.evaluate(State(state.t, q, state.v), inputs) for q in sides]
        if all(end.rank == usual for end in ends):
            return 0.5 * (ends[0].qdd + ends[1].qdd), ends[0].rank
        way *= 2.0
    return found.qdd, found.rank
