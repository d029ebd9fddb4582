# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Records, evaluates and shows the motion of a mechanism from its topics."""

import sys
import time
from typing import Any, NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics.arrays import largest
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.parameters.parameter import EFFORT_COMMANDS
from uk_dynamics.ros.topics.inputs import EffortInput, StateInput
from uk_dynamics.ros.topics.qos import STATE_QOS
from uk_dynamics.simulation import Recorder, Trajectory
from uk_dynamics.simulation.recording import Statistics
from uk_dynamics.viewing.scene import Marker

_MOST_SAMPLES = 1500


class Sample(NamedTuple):
    """One received state, what acted on it, and the last command, (motors,)."""

    state: State
    inputs: Inputs
    efforts: Array


# Title, width and format of what a glance at the motion shows.
_COLUMNS = (
    ("t [s]", 7, ".2f"),
    ("states/s", 9, ".0f"),
    ("commands/s", 11, ".0f"),
    ("solutions/s", 12, ".0f"),
    ("residual", 10, ".1e"),
    ("energy [J]", 11, ".3f"),
    ("tracking error", 15, ".2e"),
    ("rank", 5, ""),
    ("status", 14, ""),
)


class MotionObserver(Node):
    """Receives states, commands and solutions, and evaluates the motion independently.

    ``samples`` has one per state, in order; ``diagnostics`` the last values by node.
    """

    def __init__(self, mechanism: Mechanism, tasks: Tasks | None) -> None:
        super().__init__("demo", start_parameter_services=False)
        self.samples: list[Sample] = []
        self.diagnostics: dict[str, dict[str, str]] = {}
        self._tasks, self._mechanism = tasks, mechanism
        self._dynamics = InterpretedDynamics(mechanism)
        self.tracking_error = Marker(mechanism, tasks).tracking_error  # of a state, (mt,), m or rad
        problems = MessageProblems(self)
        self._states = StateInput(self, self._mechanism, problems, self._on_state)
        self._commands = EffortInput(self, self._mechanism, problems, topic=EFFORT_COMMANDS)
        self._solutions = 0
        self.create_subscription(  # raw: they are only counted
            JointTrajectory, "forward_dynamics/dynamics", self._on_solution, STATE_QOS, raw=True
        )
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._glanced = (time.perf_counter(), self._counts())

    @property
    def ready(self) -> bool:
        """Whether all nodes are connected: the controller answers states, all messages arrive."""
        states, commands, solutions = self._counts() > 0
        if self._tasks is None:
            return bool(states and solutions)
        controlled = "tracking_error" in self.diagnostics.get("servo_controller", {})
        return bool(controlled and states and commands and solutions)

    def glance(self) -> tuple[Any, ...]:
        """The present motion by columns; rates are those since the last glance."""
        before, counted = self._glanced
        self._glanced = now, counts = time.perf_counter(), self._counts()
        rates = (counts - counted) / max(now - before, 1e-9)
        sample = self.samples[-1]
        solution = self._dynamics.evaluate(sample.state, sample.inputs)
        return (
            sample.state.t,
            *rates.tolist(),
            largest(self._dynamics.residual(sample.state, sample.inputs).position),
            self._dynamics.energy(sample.state).total,
            largest(self.tracking_error(sample.state)),
            solution.rank,
            solution.status.value,
        )

    def trajectory(self, wall_time: float) -> Trajectory:
        """The motion so far, reduced to what a plot can show; ``wall_time`` in s."""
        task_rows = self._tasks.row_names if self._tasks else ()
        recorder = Recorder(self._mechanism, self._dynamics, task_rows, self._tasks)
        stride = -(-len(self.samples) // _MOST_SAMPLES)
        for sample in self.samples[::stride]:
            error = self.tracking_error(sample.state)
            recorder.add(sample.state, sample.inputs, sample.efforts, error)
        count = len(self.samples)
        return recorder.trajectory(Statistics(steps=count, evaluations=0, wall_time=wall_time))

    def _counts(self) -> Array:
        states, commands = self._states.watchdog.count, self._commands.watchdog.count
        return np.array([states, commands, self._solutions], dtype=float)

    def _on_state(self, stamp: Time) -> None:
        if self.samples and self._states.t <= self.samples[-1].state.t:
            return  # the simulation has not started yet
        self.samples.append(Sample(*self._states.copied(), self._commands.efforts.copy()))

    def _on_solution(self, message: bytes) -> None:
        self._solutions += 1

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            node = status.name.partition(":")[0]
            self.diagnostics[node] = {value.key: value.value for value in status.values}


class LiveTable:
    """Prints a line per second; on a terminal the last line is rewritten meanwhile."""

    def __init__(self) -> None:
        """Print the column titles."""
        self._is_terminal = sys.stdout.isatty()
        self._pending = False
        self._write(" ".join(title.rjust(width) for title, width, _ in _COLUMNS) + "\n")

    def show(self, glance: tuple[Any, ...], *, keep: bool) -> None:
        """Show a line; those that are not to ``keep`` are shown on terminals only."""
        if not (keep or self._is_terminal):
            return
        columns = zip(glance, _COLUMNS, strict=True)
        line = " ".join(f"{value:{form}}".rjust(width) for value, (_, width, form) in columns)
        self._write("\r" * self._is_terminal + line + "\n" * keep)
        self._pending = not keep

    def end(self) -> None:
        """Leave the last line as it is."""
        if self._pending:
            self._write("\n")
            self._pending = False

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
