"""A trajectory from the messages of an MCAP recording, of a simulation or of running nodes."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import uk_dynamics.simulation.recording.mcap_topics as topics
from uk_dynamics.simulation.recording.trajectory_data import (
    Names,
    Statistics,
    Switching,
    TrajectoryData,
)

Array = NDArray[np.float64]

_WALL_CLOCK = 1e8  # s: stamps above count from 1970


class Samples:
    """Collects the messages of a recording, one sample per state."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self._joints: tuple[str, ...] = ()
        self._states: list[tuple[Any, Any]] = []
        self._held: list[tuple[Any, dict[str, str]]] = []
        self._by_stamp: dict[str, dict[int, Any]] = {
            topics.MOTION: {},
            topics.ROWS: {},
            topics.TASKS: {},
        }
        self._command: Any = None
        self._values: dict[str, str] = {}

    def add(self, topic: str, content: Any) -> None:
        """Add a message; topics may have a namespace."""
        if topic.endswith(topics.COMMANDS):
            self._command = content.data
        elif topic.endswith(topics.DIAGNOSTICS):
            for status in content.status:
                self._values |= {value.key: value.value for value in status.values}
        elif topic.endswith(topics.STATES):
            joints = tuple(content.name)
            if not self._joints:
                self._joints = joints
            time = _nanoseconds(content.header.stamp)
            if joints == self._joints and not (self.times and time <= self.times[-1]):
                self.times.append(time)
                self._states.append((content.position, content.velocity))
                self._held.append((self._command, dict(self._values)))
        else:
            for name, messages in self._by_stamp.items():
                if topic.endswith(name):
                    messages[_nanoseconds(content.header.stamp)] = content

    def trajectory(self, notes: dict[str, dict[str, str]], *, cut: bool) -> TrajectoryData:
        """All samples; missing values are NaN."""
        first, last = notes.get(topics.START, {}), notes.get(topics.END, {})
        times = np.array(self.times, dtype=np.int64)
        if times[0] > _WALL_CLOCK * topics.SECOND:
            times = times - times[0]
        t: Array = times * np.float64(1e-9)
        motors = tuple(json.loads(first.get("motors", "null")) or self._numbered())
        rows, tasks = self._names(topics.ROWS), self._names(topics.TASKS)
        limits = json.loads(first.get("effort_limits", "null")) or [None] * len(motors)
        warnings = json.loads(last.get("warnings", "[]"))
        if cut:
            warnings.append(f"the recording was cut short at t = {t[-1]:.4g} s")
        nv = len(self._joints)
        return TrajectoryData(
            name=first.get("mechanism", "recording"),
            names=Names(self._joints, self._joints, motors, rows, tasks),
            t=t,
            q=np.array([state[0] for state in self._states], dtype=float),
            v=np.array([state[1] for state in self._states], dtype=float),
            qdd=self._matched(topics.MOTION, lambda m: m.points[0].accelerations, nv),
            efforts=self._efforts(len(motors)),
            effort_limits=np.array([math.inf if x is None else x for x in limits]),
            residual=self._matched(topics.ROWS, lambda m: m.position, len(rows)),
            residual_rate=self._matched(topics.ROWS, lambda m: m.velocity, len(rows)),
            multipliers=self._matched(topics.ROWS, lambda m: m.effort, len(rows)),
            tracking_error=self._matched(topics.TASKS, lambda m: m.position, len(tasks)),
            kinetic=self._number("kinetic", "kinetic_energy"),
            potential=self._potential(),
            rank=np.nan_to_num(self._number("rank"), nan=-1.0).astype(int),
            condition=self._number("condition"),
            status=tuple(values.get("status", "").upper() for _, values in self._held),
            warnings=tuple(warnings),
            statistics=Statistics(
                **json.loads(last.get("statistics", "null"))
                or {"steps": len(t), "evaluations": 0, "wall_time": float(t[-1] - t[0])}
            ),
            switchings=tuple(Switching(**s) for s in json.loads(last.get("switchings", "[]"))),
        )

    def _numbered(self) -> list[str]:
        count = 0 if self._command is None else len(self._command)
        return [f"motor_{index + 1}" for index in range(count)]

    def _names(self, topic: str) -> tuple[str, ...]:
        messages = self._by_stamp[topic]
        return tuple(next(iter(messages.values())).name) if messages else ()

    def _matched(self, topic: str, part: Any, size: int) -> Array:
        """Part of the message with the stamp of each sample, (K, size)."""
        result = np.full((len(self.times), size), np.nan)
        messages = self._by_stamp[topic]
        for k, time in enumerate(self.times):
            if time in messages and len(values := part(messages[time])) == size:
                result[k] = values
        return result

    def _efforts(self, count: int) -> Array:
        result = np.zeros((len(self.times), count))
        for k, (command, _) in enumerate(self._held):
            if command is not None and len(command) == count:
                result[k] = command
        return result

    def _number(self, *names: str) -> Array:
        found = (
            next((values[name] for name in names if name in values), "nan")
            for _, values in self._held
        )
        numbers = np.array([float(text) for text in found])
        known = np.flatnonzero(~np.isnan(numbers))
        if len(known):  # nodes report once a second: before the first report, use its value
            numbers[: known[0]] = numbers[known[0]]
        return numbers

    def _potential(self) -> Array:
        own = self._number("potential")
        return np.where(np.isnan(own), self._number("energy") - self._number("kinetic_energy"), own)


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * topics.SECOND + int(stamp.nanosec)
