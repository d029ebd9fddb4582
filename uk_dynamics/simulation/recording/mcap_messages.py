# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motions written as MCAP, sample by sample, with the messages that the nodes would publish."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.exceptions import InputError
from uk_dynamics.model import FloatingBase
from uk_dynamics.simulation.recording import mcap_contents as mcap
from uk_dynamics.simulation.recording.bags import McapWriter
from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.mcap_contents import nanoseconds
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


_ODOM = "odom"
ODOMETRY = "nav_msgs/msg/Odometry"
BASE_MOTION = "/forward_dynamics/base_dynamics"
BASE_TRAJECTORY = "trajectory_msgs/msg/MultiDOFJointTrajectory"
_NONE = [0.0] * 36  # a covariance


def joint_places(bases: Sequence[FloatingBase], nq: int, nv: int) -> tuple[list[int], list[int]]:
    """Places in q and in v of what joint states have."""
    positions, velocities = set(range(nq)), set(range(nv))
    for base in bases:
        positions -= set(range(nq)[base.position])
        velocities -= set(range(nv)[base.velocity])
    return sorted(positions), sorted(velocities)


def messages(
    bases: Sequence[FloatingBase], header: dict[str, Any], q: Array, v: Array, qdd: Array
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Topic, type and content of what the nodes publish of bases."""
    point: dict[str, Any] = {"transforms": [], "velocities": [], "accelerations": []}
    for base in bases:
        x, y, z, *turn = base.pose(q).tolist()
        place = {"x": x, "y": y, "z": z}
        rotation = dict(zip("xyzw", turn, strict=True))
        twist, rates = (_twist(base.twist(given).tolist()) for given in (v, qdd))
        content = {
            "header": header | {"frame_id": base.parent or "odom"},
            "child_frame_id": base.link,
            "pose": {"pose": {"position": place, "orientation": rotation}, "covariance": _NONE},
            "twist": {"twist": twist, "covariance": _NONE},
        }
        yield f"/{odom_topic(bases, base)}", ODOMETRY, content
        point["transforms"].append({"translation": place, "rotation": rotation})
        point["velocities"].append(twist)
        point["accelerations"].append(rates)
    point["time_from_start"] = {"sec": 0, "nanosec": 0}
    header, names = header | {"frame_id": "odom"}, [base.name for base in bases]
    yield BASE_MOTION, BASE_TRAJECTORY, {"header": header, "joint_names": names, "points": [point]}


def odom_topic(bases: Sequence[FloatingBase], base: FloatingBase) -> str:
    """Topic on which a base is, in the namespace of the nodes."""
    return _ODOM if len(bases) == 1 else f"{base.name}/{_ODOM}"


def _twist(values: Sequence[float]) -> dict[str, Any]:
    linear, angular = values[:3], values[3:]
    return {
        "linear": dict(zip("xyz", linear, strict=True)),
        "angular": dict(zip("xyz", angular, strict=True)),
    }


class BaseSamples:
    """Collects what a recording has of bases, by stamp in ns."""

    def __init__(self) -> None:
        self._odoms: dict[str, dict[int, Any]] = {}  # by topic
        self._motions: dict[int, Any] = {}
        self._bases: tuple[FloatingBase, ...] = ()
        self._positions: tuple[str, ...] = ()
        self._times: list[int] = []

    def add(self, topic: str, content: Any) -> bool:
        """Take a message, if it is one of bases; topics may have a namespace."""
        if not topic.endswith((f"/{_ODOM}", BASE_MOTION)):
            return False
        time = nanoseconds(content.header.stamp)
        if topic.endswith(f"/{_ODOM}"):
            self._odoms.setdefault(topic, {})[time] = content
        else:
            self._motions[time] = content
        return True

    def complete(
        self, machine: MachineData, joints: Sequence[str], times: Sequence[int]
    ) -> list[int]:
        """Which of the states have all bases; all, where it is a machine without or unknown."""
        bases, names = machine.bases, list(machine.coordinates)
        kept = list(range(len(times)))
        if bases and set(joints) == {names[k] for k in joint_places(bases, len(names), 0)[0]}:
            odoms = [self._odom(bases, base) for base in bases]
            having = [k for k in kept if all(times[k] in odom for odom in odoms)]
            if having:
                self._bases, self._positions, kept = bases, tuple(names), having
        self._times = [times[k] for k in kept]
        return kept

    def merged(
        self, joints: tuple[str, ...], q: Array, v: Array, qdd: Array
    ) -> tuple[tuple[str, ...], tuple[str, ...], Array, Array, Array]:
        """Names of positions and velocities of the machine, and both with accelerations.

        Those given are of the joints, (K, joints); planar joints have to stay in their planes.
        """
        bases, names = self._bases, self._positions
        if not bases:
            return joints, joints, q, v, qdd
        nv = len(joints) + sum(len(base.velocity_names) for base in bases)
        positions, rates = joint_places(bases, len(names), nv)
        own = [joints.index(names[k]) for k in positions]
        velocities = [""] * nv
        for place, k in zip(rates, positions, strict=True):
            velocities[place] = names[k]
        found = [np.full((len(q), size), np.nan) for size in (len(names), nv, nv)]
        for array, places, given in zip(found, (positions, rates, rates), (q, v, qdd), strict=True):
            array[:, places] = given[:, own]
        for number, base in enumerate(bases):
            velocities[base.velocity] = base.velocity_names
            odom = self._odom(bases, base)
            for k, time in enumerate(self._times):
                sample, motion = odom[time], self._motions.get(time)
                base.place(
                    found[0][k], found[1][k], _pose(sample.pose.pose), _six(sample.twist.twist)
                )
                if motion is not None:  # a twist's rate is placed as the twist is
                    rate = _six(motion.points[0].accelerations[number])
                    base.place(found[0][k].copy(), found[2][k], _pose(sample.pose.pose), rate)
        return names, tuple(velocities), found[0], found[1], found[2]

    def _odom(self, bases: Sequence[FloatingBase], base: FloatingBase) -> dict[int, Any]:
        end = f"/{odom_topic(bases, base)}"
        return next((o for topic, o in self._odoms.items() if topic.endswith(end)), {})


def _pose(pose: Any) -> Array:
    place, turn = pose.position, pose.orientation
    return np.array([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w])


def _six(twist: Any) -> Array:
    return np.array(
        [getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"]
    )
