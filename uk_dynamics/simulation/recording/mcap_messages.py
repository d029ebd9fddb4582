# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motions written as MCAP, sample by sample, with the messages that the nodes would publish."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.recording import mcap_contents as mcap
from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.mcap_bases import joint_places, messages
from uk_dynamics.simulation.recording.mcap_writer import McapWriter
from uk_dynamics.simulation.recording.trajectory_data import Array, Names, Statistics, Switching


class MotionLog(McapWriter):
    """Writes samples of a motion one by one."""

    def __init__(
        self, path: Path, mechanism: str, names: Names, effort_limits: Array, machine: MachineData
    ) -> None:
        check_joints(names, path, machine)
        super().__init__(path)
        self._mechanism, self._names = mechanism, names
        self._bases = machine.bases
        sizes = len(names.positions), len(names.velocities)
        self._positions, self._velocities = joint_places(self._bases, *sizes)
        self._joints = tuple(names.positions[k] for k in self._positions)
        self.note(mcap.START, mcap.description(mechanism, machine, effort_limits))

    def finish(
        self, warnings: tuple[str, ...], statistics: Statistics, switchings: tuple[Switching, ...]
    ) -> None:
        """Write the metadata at the end."""
        outcome = {
            "warnings": json.dumps(warnings),
            "statistics": json.dumps(asdict(statistics)),
            "switchings": json.dumps([asdict(s) for s in switchings]),
        }
        self.note(mcap.END, outcome)

    def sample(self, values: Mapping[str, Any], status: str) -> None:
        """Write a sample."""
        names = self._names
        time = round(float(values["t"]) * mcap.SECOND)
        header = {"stamp": _stamp(time), "frame_id": ""}
        if names.motors:
            content = {"layout": {"dim": [], "data_offset": 0}, "data": values["efforts"].tolist()}
            self.write(mcap.COMMANDS, "std_msgs/msg/Float64MultiArray", content, time)
        if status:  # tables of other programs have none, and no accelerations
            numbers = {"status": status}
            numbers |= {name: repr(float(values[name])) for name in mcap.NUMBERS}
            report = {
                "level": 0,
                "name": "forward_dynamics: dynamics",
                "message": "",
                "hardware_id": self._mechanism,
                "values": [{"key": key, "value": value} for key, value in numbers.items()],
            }
            content = {"header": header, "status": [report]}
            self.write(mcap.DIAGNOSTICS, "diagnostic_msgs/msg/DiagnosticArray", content, time)
            q, v, qdd = values["q"][self._positions], values["v"], values["qdd"]
            rates = v[self._velocities], qdd[self._velocities]
            content = _motion(header, self._joints, q, *rates)
            self.write(mcap.MOTION, "trajectory_msgs/msg/JointTrajectory", content, time)
        for topic, (field, arrays) in mcap.OF_ROWS.items():
            if rows := getattr(names, field):
                parts = [None if array is None else values[array] for array in arrays]
                if (
                    topic in (mcap.BOUNDS, mcap.ESTIMATES)
                    and np.isnan(np.asarray(parts[0], dtype=float)).all()
                ):
                    continue  # nothing of it was told
                content = _joint_state(header, rows, *parts)
                self.write(topic, "sensor_msgs/msg/JointState", content, time)
        if names.task_rows and np.isfinite(values["references"]).all():
            content = _motion(header, names.task_rows, values["references"])
            self.write(mcap.REFERENCES, "trajectory_msgs/msg/JointTrajectory", content, time)
        # Last, because readers take a joint state as the end of a sample.
        self._write_bases(header, values, time)
        v = values["v"][self._velocities] if np.isfinite(values["v"]).all() else None
        states = _joint_state(header, self._joints, values["q"][self._positions], v)
        self.write(mcap.STATES, "sensor_msgs/msg/JointState", states, time)

    def _write_bases(self, header: dict[str, Any], values: Mapping[str, Any], time: int) -> None:
        if self._bases:
            given = (values[part] for part in ("q", "v", "qdd"))
            for topic, kind, content in messages(self._bases, header, *given):
                self.write(topic, kind, content, time)


def check_joints(names: Names, path: Path, machine: MachineData) -> None:
    """Refuse coordinates of which nothing says where the links are that they move."""
    positions, velocities = joint_places(machine.bases, len(names.positions), len(names.velocities))
    if [names.positions[k] for k in positions] != [names.velocities[k] for k in velocities]:
        problem = "nothing says what floating and planar joints move; use .npz"
        raise InputError(problem, file=str(path))


def _joint_state(
    header: dict[str, Any],
    names: tuple[str, ...],
    position: Array | None,
    velocity: Array | None = None,
    effort: Array | None = None,
) -> dict[str, Any]:
    return {
        "header": header,
        "name": list(names),
        "position": [] if position is None else position.tolist(),
        "velocity": [] if velocity is None else velocity.tolist(),
        "effort": [] if effort is None else effort.tolist(),
    }


def _motion(header: dict[str, Any], names: tuple[str, ...], *parts: Array) -> dict[str, Any]:
    """Positions, velocities and accelerations, as far as there are any."""
    keys = ("positions", "velocities", "accelerations")
    point: dict[str, Any] = {key: [] for key in keys} | {
        key: part.tolist() for key, part in zip(keys, parts, strict=False)
    }
    point |= {"effort": [], "time_from_start": _stamp(0)}
    return {"header": header, "joint_names": list(names), "points": [point]}


def _stamp(time: int) -> dict[str, int]:
    seconds, nanoseconds = divmod(time, mcap.SECOND)
    return {"sec": seconds, "nanosec": nanoseconds}
