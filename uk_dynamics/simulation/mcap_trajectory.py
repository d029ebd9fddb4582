"""Trajectories as MCAP: what the nodes would have published, topic by topic."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.mcap_log import McapReader, McapWriter
from uk_dynamics.simulation.mcap_samples import Samples
from uk_dynamics.simulation.mcap_topics import (
    COMMANDS,
    DIAGNOSTICS,
    END,
    MOTION,
    ROWS,
    SECOND,
    START,
    STATES,
    TRACKING,
    description,
)
from uk_dynamics.simulation.trajectory import Trajectory

Array = NDArray[np.float64]

_NUMBERS = ("kinetic", "potential", "rank", "condition")


def save(trajectory: Trajectory, path: Path) -> None:
    """Write a trajectory.

    Raises:
        InputError: It has floating or planar joints, or the file cannot be written.
    """
    names = trajectory.names
    if names.positions != names.velocities:
        raise InputError(
            "floating and planar joints do not fit sensor_msgs/JointState; use .npz", file=str(path)
        )
    with McapWriter(path) as log:
        log.note(START, description(trajectory.name, names.motors, trajectory.effort_limits))
        for k, t in enumerate(trajectory.t.tolist()):
            _write_sample(log, trajectory, k, round(t * SECOND))
        log.note(END, _outcome(trajectory))


def load(path: Path) -> Trajectory:
    """Read a trajectory from what was recorded here, or from the topics of running nodes.

    Raises:
        InputError: It is no MCAP file, or has no joint states.
    """
    reader = McapReader(path)
    samples = Samples()
    for message in reader.messages():
        samples.hear(message.topic, message.content)
    if not samples.times:
        raise InputError(f"there is no {STATES} in this recording", file=str(path))
    return samples.trajectory(reader.notes, cut=reader.cut)


def _write_sample(log: McapWriter, trajectory: Trajectory, k: int, time: int) -> None:
    names = trajectory.names
    header = {"stamp": _stamp(time), "frame_id": ""}
    if names.motors:
        layout = {"dim": [], "data_offset": 0}
        content = {"layout": layout, "data": trajectory.efforts[k].tolist()}
        log.write(COMMANDS, "std_msgs/msg/Float64MultiArray", content, time)
    values = {name: repr(float(getattr(trajectory, name)[k])) for name in _NUMBERS}
    values["status"] = trajectory.status[k]
    status = {
        "level": 0,
        "name": "forward_dynamics: dynamics",
        "message": "",
        "hardware_id": trajectory.name,
        "values": [{"key": key, "value": value} for key, value in values.items()],
    }
    content = {"header": header, "status": [status]}
    log.write(DIAGNOSTICS, "diagnostic_msgs/msg/DiagnosticArray", content, time)
    states = _joint_state(header, names.positions, trajectory.q[k], trajectory.v[k])
    log.write(STATES, "sensor_msgs/msg/JointState", states, time)
    point = {
        "positions": trajectory.q[k].tolist(),
        "velocities": trajectory.v[k].tolist(),
        "accelerations": trajectory.qdd[k].tolist(),
        "effort": [],
        "time_from_start": _stamp(0),
    }
    content = {"header": header, "joint_names": list(names.velocities), "points": [point]}
    log.write(MOTION, "trajectory_msgs/msg/JointTrajectory", content, time)
    if names.constraint_rows:
        rows = _joint_state(
            header,
            names.constraint_rows,
            trajectory.residual[k],
            trajectory.residual_rate[k],
            trajectory.multipliers[k],
        )
        log.write(ROWS, "sensor_msgs/msg/JointState", rows, time)
    if names.task_rows:
        errors = _joint_state(header, names.task_rows, trajectory.tracking_error[k])
        log.write(TRACKING, "sensor_msgs/msg/JointState", errors, time)


def _outcome(trajectory: Trajectory) -> dict[str, str]:
    return {
        "warnings": json.dumps(trajectory.warnings),
        "statistics": json.dumps(asdict(trajectory.statistics)),
        "switchings": json.dumps([asdict(s) for s in trajectory.switchings]),
    }


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
