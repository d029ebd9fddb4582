"""Trajectories as MCAP files with the messages that the nodes would have published."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.recording.mcap_log import McapReader, McapWriter
from uk_dynamics.simulation.recording.mcap_samples import Samples
from uk_dynamics.simulation.recording.mcap_topics import (
    COMMANDS,
    DIAGNOSTICS,
    END,
    MOTION,
    ROWS,
    SECOND,
    START,
    STATES,
    TASKS,
    description,
)
from uk_dynamics.simulation.recording.trajectory_data import (
    Names,
    Statistics,
    Switching,
    TrajectoryData,
)

Array = NDArray[np.float64]

_NUMBERS = ("kinetic", "potential", "rank", "condition")
_ROWS = ("residual", "residual_rate", "multipliers", "tracking_error")
_SAMPLED = ("t", "q", "v", "qdd", "efforts", *_ROWS, *_NUMBERS)


class MotionLog:
    """Writes samples of a motion one by one; use it as a context manager."""

    def __init__(self, path: Path, mechanism: str, names: Names, effort_limits: Array) -> None:
        check_joints(names, path)
        self._mechanism = mechanism
        self._names = names
        self._log = McapWriter(path)
        self._log.note(START, description(mechanism, names.motors, effort_limits))

    def __enter__(self) -> MotionLog:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the file."""
        self._log.close()

    def finish(
        self,
        warnings: tuple[str, ...],
        statistics: Statistics,
        switchings: tuple[Switching, ...],
    ) -> None:
        """Write the metadata at the end."""
        outcome = {
            "warnings": json.dumps(warnings),
            "statistics": json.dumps(asdict(statistics)),
            "switchings": json.dumps([asdict(s) for s in switchings]),
        }
        self._log.note(END, outcome)

    def sample(self, values: Mapping[str, Any], status: str) -> None:
        """Write a sample."""
        names, log = self._names, self._log
        time = round(float(values["t"]) * SECOND)
        header = {"stamp": _stamp(time), "frame_id": ""}
        if names.motors:
            layout = {"dim": [], "data_offset": 0}
            content = {"layout": layout, "data": values["efforts"].tolist()}
            log.write(COMMANDS, "std_msgs/msg/Float64MultiArray", content, time)
        numbers = {name: repr(float(values[name])) for name in _NUMBERS} | {"status": status}
        report = {
            "level": 0,
            "name": "forward_dynamics: dynamics",
            "message": "",
            "hardware_id": self._mechanism,
            "values": [{"key": key, "value": value} for key, value in numbers.items()],
        }
        content = {"header": header, "status": [report]}
        log.write(DIAGNOSTICS, "diagnostic_msgs/msg/DiagnosticArray", content, time)
        point = {
            "positions": values["q"].tolist(),
            "velocities": values["v"].tolist(),
            "accelerations": values["qdd"].tolist(),
            "effort": [],
            "time_from_start": _stamp(0),
        }
        content = {"header": header, "joint_names": list(names.velocities), "points": [point]}
        log.write(MOTION, "trajectory_msgs/msg/JointTrajectory", content, time)
        if names.constraint_rows:
            row_values = [values[name] for name in ("residual", "residual_rate", "multipliers")]
            rows = _joint_state(header, names.constraint_rows, *row_values)
            log.write(ROWS, "sensor_msgs/msg/JointState", rows, time)
        if names.task_rows:
            errors = _joint_state(header, names.task_rows, values["tracking_error"])
            log.write(TASKS, "sensor_msgs/msg/JointState", errors, time)
        # Last, because readers take a joint state as the end of a sample.
        states = _joint_state(header, names.positions, values["q"], values["v"])
        log.write(STATES, "sensor_msgs/msg/JointState", states, time)


def check_joints(names: Names, path: Path) -> None:
    """Refuse joints with more positions than velocities, which JointState cannot represent."""
    if names.positions != names.velocities:
        raise InputError(
            "sensor_msgs/JointState cannot represent floating and planar joints; use .npz",
            file=str(path),
        )


def save(trajectory: TrajectoryData, path: Path) -> None:
    """Write a trajectory."""
    with MotionLog(path, trajectory.name, trajectory.names, trajectory.effort_limits) as log:
        for k, status in enumerate(trajectory.status):
            log.sample({name: getattr(trajectory, name)[k] for name in _SAMPLED}, status)
        log.finish(trajectory.warnings, trajectory.statistics, trajectory.switchings)


def load(path: Path) -> TrajectoryData:
    """Read a trajectory from a recorded simulation, or from the topics of running nodes."""
    reader = McapReader(path)
    samples = Samples()
    for message in reader.messages():
        samples.add(message.topic, message.content)
    if not samples.times:
        raise InputError(f"there is no {STATES} in this recording", file=str(path))
    return samples.trajectory(reader.notes, cut=reader.cut)


def _joint_state(
    header: dict[str, Any],
    names: tuple[str, ...],
    position: Array,
    velocity: Array | None = None,
    effort: Array | None = None,
) -> dict[str, Any]:
    return {
        "header": header,
        "name": list(names),
        "position": position.tolist(),
        "velocity": [] if velocity is None else velocity.tolist(),
        "effort": [] if effort is None else effort.tolist(),
    }


def _stamp(time: int) -> dict[str, int]:
    seconds, nanoseconds = divmod(time, SECOND)
    return {"sec": seconds, "nanosec": nanoseconds}
