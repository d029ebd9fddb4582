# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whole-body control of a machine on its feet: time, contact forces and tracking, beside peers'.

All get the same machine, states, tasks and gains. States are those of a squat, and of a push from
the side, in which limits of feet are in the way. What differs is said by each engine's idea of
feet: ours has eight points with pyramids inside their cones, TSID eight points with pyramids around
them, PlaCo two wrenches with pressure inside the soles and pyramids around the cone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from uk_dynamics.control.servo import ServoController
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate
from uk_dynamics_studies.benchmarks.peers.peer import PeerError
from uk_dynamics_studies.benchmarks.peers.whole_body import ENGINES, Efforts, WholeBodyPeer

OURS = "uk_dynamics, a control period in C"
COMMAND = "uk_dynamics ServoController.command"
FOLDER = Path("examples/biped")  # in a clone
_TRUNK = "trunk"
_PERIOD = 1e-3  # s
_APART = 0.02  # s, of the states that are compared
_SQUAT, _PUSH = 4.0, 1.0  # s
_FORCE = 200.0  # N, from the side for 0.1 s
_FOLLOWED = 2.0  # s of squat.yaml that each law drives the simulator


@dataclass(frozen=True)
class Standing:
    """One engine in the states of one motion.

    Attributes:
        motion: Which.
        engine: Which.
        seconds: Of each state, least of the rounds; empty: there are none.
        solved: States with an answer, and all.
        acceleration: Largest difference of q̈ from ours, relative to the largest; None for ours.
        efforts: Norm of the motors' efforts relative to their limits, mean of the states.
        share: Largest force in the plane of a point, of the peers of a sole, of what friction
            allows.
        tracked: Largest error of the centre of mass where its efforts drive the simulator, in m;
            None: not tried.
        note: Why there is nothing.
    """

    motion: str
    engine: str
    seconds: tuple[float, ...] = ()
    solved: tuple[int, int] = (0, 0)
    acceleration: float | None = None
    efforts: float = 0.0
    share: float = 0.0
    tracked: float | None = None
    note: str = ""


def undamped(file: Path) -> dict[str, Any]:
    """A mechanism file without the damping of joints, which TSID does not know."""
    data: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    data["model"]["urdf"] = str((file.parent / data["model"]["urdf"]).absolute())
    joints = data["joints"]
    for name in Mechanism.from_data(data).joint_names:
        joints[name] = joints.get(name, {}) | {"damping": 0.0}
    return data


class _Biped:
    """The biped of the examples, on which all engines stand."""

    def __init__(self) -> None:
        self.data = undamped(FOLDER / "biped.yaml")
        self.mechanism = Mechanism.from_data(self.data)

    def tasks(self, name: str) -> Tasks:
        return Tasks.from_file(FOLDER / f"{name}.yaml", self.mechanism)

    def motions(self) -> dict[str, tuple[Tasks, list[State]]]:
        """Tasks and states of a squat, and after a push while it stands."""
        squat, stand = self.tasks("squat"), self.tasks("stand")
        options: dict[str, Any] = {
            "control_period": _PERIOD,
            "method": "moreau",
            "sample_period": _APART,
        }
        start = self.mechanism.start(tasks=squat)
        law = ServoController(self.mechanism, squat, control_period=_PERIOD)
        squatting = simulate(self.mechanism, start, _SQUAT, controller=law, **options)
        push = {"type": "wrench", "frame": {"link": _TRUNK}, "force": [0.0, _FORCE, 0.0]}
        pushed = Mechanism.from_data(self.data | {"forces": {"push": push}})
        law = ServoController(self.mechanism, stand, control_period=_PERIOD)
        start = self.mechanism.start(tasks=stand)
        first = simulate(pushed, start, 0.1, controller=law, **options)
        state = State(0.1, first.q[-1], first.v[-1])
        then = simulate(self.mechanism, state, _PUSH, controller=law, **options)
        return {
            "squat": (squat, _states(squatting)),
            f"push of {_FORCE:.0f} N": (stand, _states(then)),
        }


def standing(rounds: int) -> Iterator[Standing]:
    """All engines by turns on the biped of the examples."""
    biped = _Biped()
    for motion, (tasks, states) in biped.motions().items():
        yield from _compared(biped, motion, tasks, states, rounds)


def _states(trajectory: Any) -> list[State]:
    rows = zip(trajectory.t, trajectory.q, trajectory.v, strict=True)
    return [State(float(t), q, v) for t, q, v in rows]


def _compared(
    biped: _Biped, motion: str, tasks: Tasks, states: Sequence[State], rounds: int
) -> Iterator[Standing]:
    mechanism = biped.mechanism
    law = ServoController(mechanism, tasks, backend="compiled")
    period = law.compiled()
    assert not isinstance(period, str)
    commands = [law.command(state) for state in states]
    forces = [np.array(list(command.contact_forces.values())) for command in commands]
    answers: dict[str, list[Efforts | None]] = {}
    peers: dict[str, WholeBodyPeer] = {}
    timed: dict[str, Callable[[], Array]] = {
        OURS: lambda: _times(period.efforts, states),
        COMMAND: lambda: _times(law.command, states),
    }
    for engine in ENGINES:
        peer = _started(engine, mechanism, tasks)
        if isinstance(peer, str):
            yield Standing(motion, engine, note=peer)
            continue
        peers[engine], timed[engine] = peer, peer.seconds
        answers[engine] = peer.solve(states)
    times = {engine: function() for engine, function in timed.items()}
    for _ in range(rounds):
        for engine, function in timed.items():
            times[engine] = np.minimum(times[engine], function())
    limits = mechanism.actuators.effort_limits
    friction = mechanism.spec.contacts[0].friction
    for engine, seconds in times.items():
        tracked = None
        if engine in answers:
            found = [(k, one) for k, one in enumerate(answers[engine]) if one is not None]
            used = [one.efforts for _, one in found]
            off = [np.abs(one.qdd - commands[k].qdd).max() for k, one in found]
            largest = max(np.abs(command.qdd).max() for command in commands)
            different = max(off, default=0.0) / largest
            across = [one.wrenches[:, [2, 0, 1]] for _, one in found]
        else:
            different = None
            used = [command.efforts for command in commands]
            across = forces
        if motion == "squat":
            other = peers.get(engine)
            follows = law if other is None else _Following(law, other)
            tracked = _tracked(biped, tasks, follows) if engine != OURS else None
        yield Standing(
            motion,
            engine,
            tuple(seconds.tolist()),
            (len(used), len(states)),
            different,
            float(np.mean([np.linalg.norm(one / limits) for one in used])) if used else 0.0,
            max((_share(one, friction) for one in across), default=0.0),
            tracked,
        )
    for peer in peers.values():
        peer.close()


def _started(engine: str, mechanism: Mechanism, tasks: Tasks) -> WholeBodyPeer | str:
    """An engine, or why there is none."""
    try:
        return WholeBodyPeer(engine, mechanism, tasks, _TRUNK)
    except PeerError as problem:
        return str(problem)


def _times(law: Callable[[State], object], states: Sequence[State]) -> Array:
    seconds = np.empty(len(states))
    for k, state in enumerate(states):
        begin = time.perf_counter()
        law(state)
        seconds[k] = time.perf_counter() - begin
    return seconds


def _share(forces: Array, friction: float) -> float:
    """Of the friction of points or soles (normal, x, y) that press."""
    pressing = forces[forces[:, 0] > 1.0]
    return float((np.hypot(*pressing[:, 1:].T) / (friction * pressing[:, 0])).max(initial=0.0))


@dataclass
class _Output:
    """Efforts of another engine."""

    efforts: Array
    unreachable: tuple[str, ...] = ()
    limited_by: Mapping[str, str] = field(default_factory=dict)


class _Following:
    """Another engine's law as a controller of the simulator."""

    def __init__(self, ours: ServoController, peer: WholeBodyPeer) -> None:
        self.row_names, self.tracking_error = ours.row_names, ours.tracking_error
        self._peer = peer

    def command(self, state: State) -> _Output:
        """The other engine's efforts."""
        (answer,) = self._peer.solve([state])
        if answer is None:
            raise PeerError("no solution")
        return _Output(answer.efforts)


def _tracked(biped: _Biped, tasks: Tasks, law: Any) -> float | None:
    """Largest error of the centre of mass, in m; None: it has no efforts at some state."""
    start = biped.mechanism.start(tasks=tasks)
    options: dict[str, Any] = {"control_period": _PERIOD, "method": "moreau"}
    try:
        run = simulate(biped.mechanism, start, _FOLLOWED, controller=law, **options)
    except PeerError:
        return None
    return float(np.abs(run.tracking_error[:, :3]).max())
