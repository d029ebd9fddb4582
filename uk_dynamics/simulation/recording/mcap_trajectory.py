# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Trajectories as MCAP files with the messages that the nodes would have published."""

import json
import math
from collections.abc import Sequence
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.recording import mcap_contents as mcap
from uk_dynamics.simulation.recording.bags import BagReader
from uk_dynamics.simulation.recording.columns import BROKEN, WALL_CLOCK
from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.mcap_bases import BaseSamples
from uk_dynamics.simulation.recording.mcap_messages import MotionLog
from uk_dynamics.simulation.recording.trajectory_data import (
    Array,
    Names,
    Statistics,
    Switching,
    TrajectoryData,
)

_ARRAYS = tuple(array for _, arrays in mcap.OF_ROWS.values() for array in arrays if array)
_SAMPLED = ("t", "q", "v", "qdd", "efforts", *_ARRAYS, "references", *mcap.NUMBERS)


class Samples:
    """Collects the messages of a recording, one sample per state."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self._joints: tuple[str, ...] = ()
        self._states: list[tuple[Any, Any]] = []
        self._held: list[tuple[Any, dict[str, str]]] = []
        self._by_stamp: dict[str, dict[int, Any]] = {
            x: {} for x in (mcap.MOTION, *mcap.OF_ROWS, mcap.REFERENCES)
        }
        self._bases = BaseSamples()
        self._command: Any = None
        self._values: dict[str, str] = {}

    def add(self, topic: str, content: Any) -> None:
        """Add a message; topics may have a namespace."""
        if topic.endswith(mcap.COMMANDS):
            self._command = content.data
        elif topic.endswith(mcap.DIAGNOSTICS):
            for status in content.status:
                self._values |= {value.key: value.value for value in status.values}
        elif topic.endswith(mcap.STATES):
            joints = tuple(content.name)
            if not self._joints:
                self._joints = joints
            time = mcap.nanoseconds(content.header.stamp)
            if joints == self._joints and not (self.times and time <= self.times[-1]):
                self.times.append(time)
                self._states.append((content.position, content.velocity))
                self._held.append((self._command, dict(self._values)))
        elif not self._bases.add(topic, content):
            for name, found in self._by_stamp.items():
                if topic.endswith(name):
                    found[mcap.nanoseconds(content.header.stamp)] = content

    def trajectory(self, notes: dict[str, dict[str, str]], *, cut: bool) -> TrajectoryData:
        """All samples; missing values are NaN."""
        first, last = notes.get(mcap.START, {}), notes.get(mcap.END, {})
        machine = MachineData.from_text(first.get("machine", "{}"))
        self._keep(self._bases.complete(machine, self._joints, self.times))
        times = np.array(self.times, dtype=np.int64)
        if times[0] > WALL_CLOCK * mcap.SECOND:
            times = times - times[0]
        t: Array = times * np.float64(1e-9)
        count = 0 if self._command is None else len(self._command)
        numbered = [f"motor_{index + 1}" for index in range(count)]
        motors = tuple(json.loads(first.get("motors", "null")) or numbered)
        named = {topic: self._names(topic) for topic in mcap.OF_ROWS}
        of_rows = {field: named[topic] for topic, (field, _) in mcap.OF_ROWS.items()}
        arrays = {
            array: self._matched(topic, attrgetter(part), len(of_rows[field]))
            for topic, (field, of_topic) in mcap.OF_ROWS.items()
            for array, part in zip(of_topic, ("position", "velocity", "effort"), strict=False)
            if array is not None
        }
        tasks = len(named[mcap.TASKS])
        limits = json.loads(first.get("effort_limits", "null")) or [None] * len(motors)
        warnings = json.loads(last.get("warnings", "[]"))
        if cut:
            warnings.append(f"the recording was cut short at t = {t[-1]:.4g} s")
        nv = len(self._joints)
        q = np.array([state[0] for state in self._states], dtype=float)
        v = _rates([state[1] for state in self._states], nv)
        qdd = self._matched(mcap.MOTION, lambda m: m.points[0].accelerations, nv)
        positions, velocities, q, v, qdd = self._bases.merged(self._joints, q, v, qdd)
        return TrajectoryData(
            name=first.get("mechanism", "recording"),
            names=Names(positions, velocities, motors, **of_rows),
            t=t,
            q=q,
            v=v,
            qdd=qdd,
            efforts=self._efforts(len(motors)),
            effort_limits=np.array([math.inf if x is None else x for x in limits]),
            references=self._matched(mcap.REFERENCES, lambda m: m.points[0].positions, tasks),
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
            machine=machine,
            **arrays,
        )

    def _keep(self, chosen: Sequence[int]) -> None:
        """Leave out the other states."""
        self.times = [self.times[k] for k in chosen]
        self._states = [self._states[k] for k in chosen]
        self._held = [self._held[k] for k in chosen]

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


def _rates(velocities: list[Any], size: int) -> Array:
    """(K, size), NaN in messages without velocities, which they may leave out."""
    missing = [math.nan] * size
    return np.array([x if len(x) == size else missing for x in velocities], dtype=float)


def save(trajectory: TrajectoryData, path: Path) -> None:
    """Write a trajectory."""
    about = (trajectory.effort_limits, trajectory.machine)
    with closing(MotionLog(path, trajectory.name, trajectory.names, *about)) as log:
        for k, status in enumerate(trajectory.status):
            log.sample({name: getattr(trajectory, name)[k] for name in _SAMPLED}, status)
        log.finish(trajectory.warnings, trajectory.statistics, trajectory.switchings)


def load(path: Path) -> TrajectoryData:
    """Read a trajectory from a recorded simulation, or from the topics of running nodes."""
    reader = BagReader(path)
    samples = Samples()
    try:
        for message in reader.messages():
            if message.content is not None:
                samples.add(message.topic, message.content)
        if not samples.times:
            raise InputError(f"there is no {mcap.STATES} in this recording", file=str(path))
        return samples.trajectory(reader.notes, cut=reader.cut)
    except BROKEN as error:
        problem = f"is damaged: {type(error).__name__}: {error!s:.200}"
        raise InputError(problem, file=str(path)) from None
