# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law alone: efforts for a measured state, and PlaCo's for the same accelerations."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from uk_dynamics.control import DelayPrediction
from uk_dynamics.control.servo import ControlPeriods, ServoController, ServoModes
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate
from uk_dynamics_studies.benchmarks.controlled import TASKS
from uk_dynamics_studies.benchmarks.peers.peer import PeerError
from uk_dynamics_studies.benchmarks.peers.placo import PlacoPeer

OURS = "uk_dynamics, a control period in C"
COMMAND = "uk_dynamics ServoController.command"
PLACO = "PlaCo DynamicsSolver.solve"
_MOVING = 0.3  # s of the motion, after which the laws are compared
_CALLS = 200  # in a row
_SAME_MACHINE = 1e-9  # relative


@dataclass(frozen=True)
class Law:
    """The law of one engine at one state.

    Attributes:
        mechanism: Its name.
        engine: Which, and what of it.
        seconds: Processor time from the state to the efforts; None: there are none.
        ratio: Of this time to ours, median of the rounds.
        moving: Largest difference of an effort from ours, relative to the largest effort, in the
            motion; None where motors may share efforts in several ways, and for ourselves.
        resting: The same at the same position without velocities.
        note: Why there are no efforts.
    """

    mechanism: str
    engine: str
    seconds: float | None = None
    ratio: float | None = None
    moving: float | None = None
    resting: float | None = None
    note: str = ""


def laws(mechanism: Mechanism, *, rounds: int = 9) -> list[Law]:
    """All engines on one machine, in turns."""
    tasks = Tasks.from_file(TASKS[mechanism.name], mechanism)
    modes = ServoModes(mechanism, tasks, None, backend="compiled")
    controller = ServoController(mechanism, tasks, backend="compiled")
    motion = simulate(mechanism, mechanism.start(tasks=tasks), _MOVING, controller=controller)
    state = State(float(motion.t[-1]), motion.q[-1], motion.v[-1])
    periods = ControlPeriods(modes, DelayPrediction(mechanism, None, backend="compiled"))
    functions: dict[str, Callable[[], float]] = {
        OURS: lambda: _seconds(lambda: periods.efforts(state)),
        COMMAND: lambda: _seconds(lambda: controller.command(state)),
    }
    resting = State(state.t, state.q, np.zeros_like(state.v))
    differences: list[float | None] = []
    peer, note = None, ""
    try:
        peer = other = PlacoPeer(mechanism)
        differences = [_difference(mechanism, peer, controller, at) for at in (resting, state)]
        functions[PLACO] = lambda: other.seconds(_CALLS) / _CALLS
    except PeerError as error:
        note = str(error)
    times: dict[str, list[float]] = {engine: [] for engine in functions}
    for _ in range(rounds):
        for engine, function in functions.items():
            times[engine].append(function())
    if peer is not None:
        peer.close()
    own = np.array(times[OURS])
    found = [
        Law(
            mechanism.name,
            engine,
            float(np.median(measured)),
            float(np.median(np.array(measured) / own)),
            *(reversed(differences) if engine == PLACO else ()),
        )
        for engine, measured in times.items()
    ]
    return found if PLACO in times else [*found, Law(mechanism.name, PLACO, note=note)]


def _seconds(function: Callable[[], object]) -> float:
    """Processor time of a call."""
    function()
    begin = time.process_time()
    for _ in range(_CALLS):
        function()
    return (time.process_time() - begin) / _CALLS


def _difference(
    mechanism: Mechanism, peer: PlacoPeer, controller: ServoController, state: State
) -> float | None:
    """Of PlaCo's efforts from ours; None where motors may share efforts in several ways.

    PlaCo is asked for the accelerations that our efforts cause, of joints that determine all
    others, so that both solve for the same motion, whatever the tasks are.

    Raises:
        PeerError: PlaCo has another mechanism, or finds no efforts.
    """
    A = InterpretedDynamics(mechanism).terms(state).A
    motions = scipy.linalg.null_space(A)
    chosen = scipy.linalg.qr(motions.T, pivoting=True)[2][: motions.shape[1]]
    command, names = controller.command(state), mechanism.joint_names
    force = mechanism.passive.force(state.q, state.v)
    peer.set(state, {names[joint]: float(command.qdd[joint]) for joint in chosen}, force)
    found, mass = peer.solve()
    workspace = mechanism.model.workspace()
    workspace.update(state.q, state.v)
    expected = np.asarray(workspace.mass)
    off = float(np.abs(mass - expected).max() / np.abs(expected).max())
    if not off <= _SAME_MACHINE:
        raise PeerError(f"the mass matrix of {mechanism.name} in PlaCo is off by {off:.2g}")
    if len(chosen) < len(command.efforts):
        return None
    return float(np.abs(found - command.efforts).max() / np.abs(command.efforts).max())
