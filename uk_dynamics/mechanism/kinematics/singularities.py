# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How far a configuration is from singular ones, and of which kind they are.

Three maps can lose rank (Gosselin and Angeles 1990; Zlatanov, Fenton and Benhabib 1994):

- the rows of the **loops**: the mechanism gains a freedom, as a flat parallelogram does;
- the map from its motions to the rates of the **motors**: with the motors locked something still
  moves, and they cannot hold it (parallel singularity, of the second kind);
- the map from its motions to the twist of a frame, the **task**: some motion of the frame is lost
  (serial singularity, of the first kind).

Each has a measure, its smallest singular value that is not always zero, with coordinates and twists
in units of the machine's size and rows over their natural size: 0 at a singular configuration,
about 1 at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.assembly.assembly import assemble
from uk_dynamics.mechanism.assembly.assembly_search import Search
from uk_dynamics.mechanism.kinematics.jacobian import TWIST, motor_map, twist_map
from uk_dynamics.mechanism.kinematics.loop_motion import LoopMotion, Positions, states_of
from uk_dynamics.mechanism.resolution import Point, ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array

Kind = Literal["loops", "motors", "task"]
KINDS: tuple[Kind, ...] = ("loops", "motors", "task")
_RANK = 1e-6  # a smaller measure is that of a singular configuration
_STEP = 1e-6  # rad, or part of the size: for differences
_LONGEST = 0.2  # likewise: of a step towards a singular configuration
_STEPS = 20
_HALVINGS = 4
_HOPED = 0.2  # of the decrease that the slope promises, else a step is too long
_EXCURSION = 0.3  # to where the usual ranks are found, and from where other searches begin
_SAMPLES = 4


@dataclass(frozen=True, eq=False)
class Dexterity:
    """How well a frame can be moved at a configuration.

    Attributes:
        manipulability: Product of the singular values, √det(J Jᵀ) where that is not always zero
            (Yoshikawa 1985); infinite where motors do not determine the motion.
        condition: Largest over smallest of them, 1 at best; infinite at singular configurations.
        singular_values: Of the Jacobian of these rows by the rates of the motors, largest first,
            without those that are always zero. With linear and angular rows the linear ones are
            over the machine's size.
        directions: In which the frame moves that far, columns, (rows, k).
        rows: Of the twist that were looked at.
        loops, motors, task: Measures of the distance to singular configurations of each kind;
            0 there. ``motors`` is NaN without motors.
    """

    manipulability: float
    condition: float
    singular_values: Array
    directions: Array
    rows: tuple[str, ...]
    loops: float
    motors: float
    task: float


@dataclass(frozen=True, eq=False)
class SingularConfiguration:
    """A singular configuration near another one.

    Attributes:
        kind: ``loops``, ``motors`` (parallel) or ``task`` (serial).
        distance: Norm of the change of all coordinates, in rad, sliding ones in machine sizes.
        q: The configuration, (nq,).
    """

    kind: Kind
    distance: float
    q: Array


class SingularityMeasures:
    """The measures of a mechanism, and of a frame, at one configuration after another."""

    def __init__(
        self,
        mechanism: ResolvedMechanism,
        q: Array,
        frame: Point | None = None,
        rows: Sequence[str] = TWIST,
    ) -> None:
        """Find the usual ranks around a configuration (nq,)."""
        self.motion = LoopMotion(mechanism)  # at the last configuration
        self._mechanism, self._frame = mechanism, frame
        self._rows = twist_rows(rows)
        S = mechanism.actuators.matrix * self.motion.unit[:, None]
        self._motors = (S / np.maximum(np.linalg.norm(S, axis=0), 1e-300)).T
        self._search = Search(mechanism, np.ones(mechanism.model.nv, dtype=bool), 0.0)
        self._usual(q)

    def values(self, q: Array) -> dict[Kind, float]:
        """The measures at a configuration, (nq,)."""
        return {
            kind: float(values[self.ranks[kind] - 1]) if self.ranks[kind] else 1.0
            for kind, values in self._singular_values(q).items()
        }

    def close(self, guess: Array) -> Array | None:
        """A configuration with closed loops near one, within the joint limits, (nq,)."""
        found = self._search.run(guess, self._mechanism.closure_tolerance, within_limits=True)
        return found.q if found.closed else None

    def step(self, q: Array, direction: Array) -> Array | None:
        """The closed configuration at a step along the motions at q, in their units, (k,)."""
        self.motion.update(q)
        way = self.motion.unit * (self.motions() @ direction)
        return self.close(self._mechanism.model.integrate(q, way))

    def approach(self, q: Array, kind: Kind, reach: float = np.inf) -> Array | None:
        """A singular configuration of a kind by Newton's method on its measure, or None.

        ``reach`` is the longest distance that the slope of the measure may promise.
        """
        model = self._mechanism.model
        value = self.values(q)[kind]
        for _ in range(_STEPS):
            if value < _RANK:
                return q
            self.motion.update(q)
            motions = self.motion.unit[:, None] * self.motions()
            slopes = np.array([self._slope(q, way, kind) for way in motions.T])
            steepest = float(slopes @ slopes)
            if steepest < _RANK**2 or value > reach * np.sqrt(steepest):
                return None
            step = -value / steepest * slopes
            step *= min(1.0, _LONGEST / float(np.linalg.norm(step)))
            for _ in range(_HALVINGS):
                trial = self.close(model.integrate(q, motions @ step))
                hoped = _HOPED * float(-slopes @ step)
                if trial is not None and (less := self.values(trial)[kind]) < value - hoped:
                    break
                step = 0.5 * step
            else:
                return None
            q, value = trial, less
        return None

    def distance(self, q: Array, other: Array) -> float:
        """Norm of the change of all coordinates in their units."""
        return float(np.linalg.norm(self._mechanism.model.difference(q, other) / self.motion.unit))

    @property
    def freedoms(self) -> int:
        """Number of freedoms of the mechanism where it is not singular."""
        return self._mechanism.model.nv - self.ranks["loops"]

    def _slope(self, q: Array, way: Array, kind: Kind) -> float:
        integrate = self._mechanism.model.integrate
        ahead, behind = (self.values(integrate(q, h * way))[kind] for h in (_STEP, -_STEP))
        return (ahead - behind) / (2.0 * _STEP)

    def motions(self) -> Array:
        """Basis of as many motions as there usually are, in their units, (nv, k)."""
        _, _, right = np.linalg.svd(self.motion.rows)
        return right[self.ranks["loops"] :].T

    def _singular_values(self, q: Array) -> dict[Kind, Array]:
        self.motion.update(q)
        _, values, right = np.linalg.svd(self.motion.rows)
        motions = right[self.ranks["loops"] :].T
        found: dict[Kind, Array] = {"loops": values}
        if len(self._motors):
            found["motors"] = np.linalg.svd(self._motors @ motions, compute_uv=False)
        if self._frame is not None:
            J, _ = twist_map(self.motion, self._frame, np.zeros(len(self.motion.unit)))
            J[:3] /= self._mechanism.size
            moved = (J * self.motion.unit)[self._rows] @ motions
            found["task"] = np.linalg.svd(moved, compute_uv=False)
        return found

    def _usual(self, q: Array) -> None:
        """The largest ranks here, at home, and at some places around."""
        # what the maps usually have; of motors and task only where there are some
        self.ranks: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        rng = np.random.default_rng(0)
        places = [q, assemble(self._mechanism, self._mechanism.initial_guess, ()).q]
        for _ in range(_SAMPLES):
            self.motion.update(q)
            basis = self.motion.velocities(of_positions=True)
            way = rng.normal(size=basis.shape[1])
            way *= _EXCURSION / max(float(np.linalg.norm(way)), _RANK)
            near = self.close(self._mechanism.model.integrate(q, basis @ way))
            places += [] if near is None else [near]
        tolerance = self._mechanism.spec.solver.rank_tolerance
        for kind in KINDS:  # those of motors and task need that of the loops
            found = [self._singular_values(place).get(kind, np.zeros(0)) for place in places]
            self.ranks[kind] = max(int(np.count_nonzero(x > tolerance)) for x in found)


def dexterity(  # noqa: D417 - a method of mechanisms
    mechanism: ResolvedMechanism,
    frame: Point,
    q: Positions = None,
    rows: Sequence[str] | None = None,
) -> Dexterity:
    """Manipulability, condition, and how near singular configurations of each kind are.

    Args:
        frame: A link, or a point in it.
        q: One configuration.
        rows: Of vx, vy, vz, wx, wy, wz; None: those in which the frame moves here.

    Raises:
        UnknownNameError: A name does not exist.
    """
    (state, *_), many = states_of(mechanism, q)
    if many:
        raise InputError("expected one configuration", place="q")
    if rows is None:
        motion = LoopMotion(mechanism)
        motion.update(state.q)
        J = twist_map(motion, frame, state.v)[0] @ motion.velocities()
        moving = np.abs(J).max(axis=1, initial=0.0) > _RANK * np.abs(J).max(initial=0.0)
        rows = [name for name, moves in zip(TWIST, moving, strict=True) if moves]
    places = twist_rows(rows)
    measures = SingularityMeasures(mechanism, state.q, frame, rows)
    found = measures.values(state.q)
    rank = measures.ranks["task"]
    measures.motion.update(state.q)
    J = twist_map(measures.motion, frame, state.v)[0]
    if min(places, default=3) < 3 <= max(places, default=0):
        J[:3] /= mechanism.size
    try:
        left, values, _ = np.linalg.svd((J @ motor_map(measures.motion))[places])
    except InputError:
        left, values = np.full((len(places), rank), np.nan), np.full(rank, np.inf)
    singular = not np.isfinite(values).all() or found["task"] < _RANK
    return Dexterity(
        manipulability=float(np.prod(values[:rank])),
        condition=float(np.inf if singular or not rank else values[0] / values[rank - 1]),
        singular_values=values[:rank],
        directions=left[:, :rank],
        rows=tuple(rows),
        loops=found["loops"],
        motors=found.get("motors", np.nan),
        task=found["task"],
    )


def nearest_singularity(  # noqa: D417 - a method of mechanisms
    mechanism: ResolvedMechanism,
    q: Positions = None,
    frame: Point | None = None,
    kinds: Sequence[Kind] | None = None,
    rows: Sequence[str] = TWIST,
) -> SingularConfiguration | None:
    """The nearest singular configuration within the joint limits, and its kind.

    Searched for by Newton's method on the measure of each kind, from here and from places
    around: there may be a nearer one that it does not find.

    Args:
        q: One configuration.
        frame: For singular configurations of the task; None: of loops and motors alone.
        kinds: Of ``loops``, ``motors``, ``task``; None: all that there are.
        rows: Of the frame's twist, that make the task.

    Returns:
        None where none is found.
    """
    (state, *_), _ = states_of(mechanism, q)
    available = [
        k for k in KINDS if (k != "task" or frame) and (k != "motors" or mechanism.actuators)
    ]
    expect_names("kind of singularity here", kinds or (), available)
    measures = SingularityMeasures(mechanism, state.q, frame, rows)
    steps = _EXCURSION * np.vstack([np.eye(measures.freedoms), -np.eye(measures.freedoms)])
    starts = [state.q, *(measures.step(state.q, step) for step in steps)]
    best: SingularConfiguration | None = None
    for kind in kinds or available:
        if not measures.ranks[kind]:
            continue
        for start in starts:
            found = None if start is None else measures.approach(start, kind)
            if found is None:
                continue
            distance = measures.distance(state.q, found)
            if best is None or distance < best.distance:
                best = SingularConfiguration(kind, distance, found)
    return best


def twist_rows(rows: Sequence[str]) -> list[int]:
    """Places of rows of a twist; UnknownNameError: one does not exist."""
    expect_names("row of a twist", rows, TWIST)
    return [TWIST.index(name) for name in rows]
