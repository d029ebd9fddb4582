# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Reachable configurations by random steps along the motions that the loops allow.

Each step starts from where few configurations are around, ends with closed loops within the joint
limits, and stays on its branch. What is found is connected with the start; other assembly modes are
other runs.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.kinematics import (
    KINDS,
    TWIST,
    ForceEnvelope,
    Kind,
    SingularityMeasures,
    StaticLoads,
    twist_map,
)
from uk_dynamics.mechanism.resolution import Array, Point
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.workspace.reachable import Locus, ReachableSet

_CELLS = 24  # along the largest extent, in which singular configurations are looked for
_FINENESS = 0.4  # samples to this power: cells along the largest extent, to be filled
_CANDIDATES = 6
_DIRECTED = 0.8  # part of the steps
_SHORT, _LONG = 0.05, 0.35  # rad, or parts of the machine's size
_JUMP = 2.0  # lengths of a step: further away is another branch
_TRIES = 4  # per configuration that is wanted
_NEAREST = 40  # configurations from which singular ones of a kind are searched for
_CLOSE = 0.5  # largest measure of these, of the largest one
_AHEAD = 0.5  # rad, or parts of the machine's size: how far they may seem to be
_SAME = 1e-4
_CLIMB = 200  # steps towards the end of an axis
_LEAST = 1e-7
Cell = tuple[int, int, int]
_STILL = 1e-6  # part of the size, of an axis along which the frame does not move


def explore(
    mechanism: Mechanism,
    frame: Point,  # a link, or a point in it
    start: Array | None = None,  # a closed configuration, (nq,); None: the assembled initial guess
    *,
    samples: int = 1000,  # number of configurations
    rows: Sequence[str] = TWIST,  # of the frame's twist, that make the task
    forces: bool = True,  # whether to compute what loads the motors can hold
    progress: Callable[[], object] | None = None,  # called at each configuration found
) -> ReachableSet:
    """Find where a frame of a link gets to from a configuration, if the mechanism moves."""
    walk = _Walk(mechanism, frame, mechanism.assemble() if start is None else start, rows, progress)
    if not walk.measures.freedoms:
        raise InputError("has no freedom to move", place=mechanism.name)
    walk.reach_out()
    walk.spread(samples)
    walk.reach_out(last=True)
    q = np.array(walk.found)
    poses = [mechanism.pose(frame, each) for each in q]
    values = [walk.measures.values(each) for each in q]
    measures: dict[Kind, Array] = {
        kind: np.array([each[kind] for each in values])
        for kind in KINDS
        if walk.measures.ranks[kind]
    }
    places = np.array([place for place, _ in poses])
    rotations = np.array([rotation for _, rotation in poses])
    held, turned, notes = (
        _envelopes(mechanism, frame, q, places, rotations) if forces else (None, None, ())
    )
    return ReachableSet(
        mechanism=mechanism.name,
        frame=frame if isinstance(frame, str) else frame[0],
        positions=mechanism.model.position_names,
        q=q,
        places=places,
        rotations=rotations,
        measures=measures,
        loci=tuple(_locus(walk, q, places, kind, x) for kind, x in measures.items()),
        forces=held,
        torques=turned,
        notes=notes,
    )


class _Walk:
    """Configurations that were found, and how many of them are near a place."""

    def __init__(
        self,
        mechanism: Mechanism,
        frame: Point,
        home: Array,
        rows: Sequence[str],
        progress: Callable[[], object] | None,
    ) -> None:
        self._mechanism, self._frame = mechanism, frame
        self._progress = progress
        self.measures = SingularityMeasures(mechanism, home, frame, rows)
        self._rng = np.random.default_rng(0)
        self.found: list[Array] = [home]
        self._places = [self.place(home)]

    def place(self, q: Array) -> Array:
        """Place of the frame at a configuration, (3,), in m."""
        return self._mechanism.pose(self._frame, q)[0]

    def spread(self, samples: int) -> None:
        """Take steps from the cells of space that had fewest, up to so many configurations."""
        rng = self._rng
        size = max(float(np.ptp(self._places, axis=0).max()), _STILL) / samples**_FINENESS
        cells: dict[Cell, list[int]] = {}
        tries: Counter[Cell] = Counter()
        for number, place in enumerate(self._places):
            cells.setdefault(_cell(place, size), []).append(number)
        for _ in range(_TRIES * samples):
            if len(self.found) >= samples:
                return
            names = list(cells)
            some = [names[k] for k in rng.integers(len(names), size=_CANDIDATES)]
            chosen = min(some, key=lambda name: tries[name])
            tries[chosen] += 1
            inside = cells[chosen]
            q = self.found[inside[rng.integers(len(inside))]]
            way = self._way(q, size)
            near = self.measures.step(q, way)
            if near is not None and self._is_near(q, near, way):
                self.add(near)
                cells.setdefault(_cell(self._places[-1], size), []).append(len(self.found) - 1)

    def _way(self, q: Array, size: float) -> Array:
        """A step that moves the frame by some cells in a random direction, and something else."""
        rng, measures = self._rng, self.measures
        way = rng.normal(size=measures.freedoms)
        way *= rng.uniform(_SHORT, _LONG) / np.linalg.norm(way)
        if rng.random() > _DIRECTED:
            return way
        measures.motion.update(q)
        J, _ = twist_map(measures.motion, self._frame, np.zeros(len(measures.motion.unit)))
        along = (J[:3] * measures.motion.unit) @ measures.motions()
        wanted = rng.normal(size=3)
        wanted *= rng.uniform(0.5, 2.5) * size / np.linalg.norm(wanted)
        inverse = np.linalg.pinv(along, rcond=0.05)
        way = inverse @ wanted + 0.3 * (way - inverse @ (along @ way))
        return way * min(1.0, _LONG / max(float(np.linalg.norm(way)), _STILL))

    def reach_out(self, *, last: bool = False) -> None:
        """Go on as far as possible along each axis, both ways; keep the way, or its end alone."""
        size = self._mechanism.size
        for axis in range(3):
            for sign in (1.0, -1.0):
                best = int(np.argmax(np.array(self._places)[:, axis] * sign))
                way = self._climb(self.found[best], axis, sign)
                begin = self._places[best]
                far = [q for q in way if np.linalg.norm(self.place(q) - begin) > _STILL * size]
                for q in far[-1:] if last else far:
                    self.add(q)

    def add(self, q: Array) -> None:
        """Keep one more configuration, (nq,)."""
        self.found.append(q)
        self._places.append(self.place(q))
        if self._progress is not None:
            self._progress()

    def _climb(self, q: Array, axis: int, sign: float) -> list[Array]:
        """Steps along the gradient, longer after success and shorter after failure."""
        way = []
        length, height = _SHORT, sign * self.place(q)[axis]
        for _ in range(_CLIMB):
            motion = self.measures.motion
            motion.update(q)
            J, _ = twist_map(motion, self._frame, np.zeros(len(motion.unit)))
            gradient = sign * (J[axis] * motion.unit) @ self.measures.motions()
            size = float(np.linalg.norm(gradient))
            if size < _LEAST or length < _LEAST:
                break
            step = length / size * gradient
            trial = self.measures.step(q, step)
            if trial is not None and self._is_near(q, trial, step):
                higher = sign * self.place(trial)[axis]
                if higher > height:
                    q, height, length = trial, higher, min(1.5 * length, _LONG)
                    way.append(q)
                    continue
            length *= 0.3
        return way

    def _is_near(self, before: Array, after: Array, step: Array) -> bool:
        return self.measures.distance(before, after) <= _JUMP * float(np.linalg.norm(step))


def _cell(place: Array, size: float) -> Cell:
    """The cube of space that a place is in."""
    i, j, k = np.floor(place / size).astype(int).tolist()
    return i, j, k


def _locus(walk: _Walk, q: Array, places: Array, kind: Kind, measure: Array) -> Locus:
    """Singular configurations near those that come closest, spread over the places."""
    order = np.argsort(measure)
    order = order[measure[order] <= _CLOSE * measure.max()]
    size = max(float(np.ptp(places, axis=0).max()), _STILL) / _CELLS
    first: dict[Cell, int] = {}
    for k in order:
        first.setdefault(_cell(places[k], size), int(k))
    found: list[Array] = []
    for k in list(first.values())[:_NEAREST]:
        near = walk.measures.approach(q[k], kind, _AHEAD)
        if near is None or any(walk.measures.distance(near, other) < _SAME for other in found):
            continue
        found.append(near)
    return Locus(
        kind,
        np.array(found).reshape(-1, q.shape[1]),
        np.array([walk.place(each) for each in found]).reshape(-1, 3),
    )


def _envelopes(
    mechanism: Mechanism, frame: Point, q: Array, places: Array, rotations: Array
) -> tuple[tuple[ForceEnvelope, ...] | None, tuple[ForceEnvelope, ...] | None, tuple[str, ...]]:
    """Envelopes of forces along the axes in which the frame moves, and of torques about others."""
    moving = np.ptp(places, axis=0) > _STILL * mechanism.size
    axes = _axes_of_rotation(rotations)
    found: list[tuple[ForceEnvelope, ...] | None] = []
    for names, moves in ((("fx", "fy", "fz"), moving), (("tx", "ty", "tz"), axes)):
        rows = [name for name, does in zip(names, moves, strict=True) if does]
        if not rows:
            found.append(None)
            continue
        try:
            loads = StaticLoads(mechanism)
            found.append(tuple(loads.envelope(frame, mechanism.state(x), rows) for x in q))
        except InputError as error:
            return None, None, (f"no forces: {error}",)
    return found[0], found[1], ()


def _axes_of_rotation(rotations: Array) -> Array:
    """About which world axes orientations differ, (3,)."""
    from scipy.spatial.transform import Rotation

    turns = (Rotation.from_matrix(rotations) * Rotation.from_matrix(rotations[0]).inv()).as_rotvec()
    differ: Array = np.abs(turns).max(axis=0) > _STILL
    return differ
