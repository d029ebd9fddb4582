# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Floating bases in recordings in MCAP: odometry beside joint states, as the nodes publish it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.mcap_contents import nanoseconds

ODOM = "/odom"
ODOMETRY = "nav_msgs/msg/Odometry"
BASE_MOTION = "/forward_dynamics/base_dynamics"
BASE_TRAJECTORY = "trajectory_msgs/msg/MultiDOFJointTrajectory"
_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
_TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
_NONE = [0.0] * 36  # a covariance


@dataclass(frozen=True)
class RecordedBase:
    """A floating joint whose pose and twist are those of its link in the parent."""

    joint: str
    link: str
    topic: str  # ends like this

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of its seven positions."""
        return tuple(f"{self.joint}.{part}" for part in _POSE)

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of its six velocities."""
        return tuple(f"{self.joint}.{part}" for part in _TWIST)


def recorded_bases(floats: Mapping[str, str]) -> tuple[RecordedBase, ...]:
    """The bases of a machine, from the links of its floating joints."""
    single = len(floats) == 1
    return tuple(
        RecordedBase(joint, link, ODOM if single else f"/{joint}{ODOM}")
        for joint, link in floats.items()
    )


def others(names: Sequence[str], bases: Sequence[RecordedBase]) -> list[int]:
    """Places of the coordinates that joint states have."""
    taken = {name for base in bases for name in (*base.positions, *base.velocities)}
    return [place for place, name in enumerate(names) if name not in taken]


def messages(
    bases: Sequence[RecordedBase],
    header: dict[str, Any],
    positions: Mapping[str, float],
    velocities: Mapping[str, float],
    accelerations: Mapping[str, float],
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Topic, type and content of what the nodes publish of bases; numbers by name."""
    header = header | {"frame_id": "odom"}
    point: dict[str, Any] = {"transforms": [], "velocities": [], "accelerations": []}
    for base in bases:
        x, y, z, *turn = (positions[name] for name in base.positions)
        place = {"x": x, "y": y, "z": z}
        rotation = dict(zip("xyzw", turn, strict=True))
        twist, rates = (
            _twist([given[name] for name in base.velocities])
            for given in (velocities, accelerations)
        )
        pose = {"position": place, "orientation": rotation}
        content = {
            "header": header,
            "child_frame_id": base.link,
            "pose": {"pose": pose, "covariance": _NONE},
            "twist": {"twist": twist, "covariance": _NONE},
        }
        yield base.topic, ODOMETRY, content
        point["transforms"].append({"translation": place, "rotation": rotation})
        point["velocities"].append(twist)
        point["accelerations"].append(rates)
    point["time_from_start"] = {"sec": 0, "nanosec": 0}
    names = [base.joint for base in bases]
    yield BASE_MOTION, BASE_TRAJECTORY, {"header": header, "joint_names": names, "points": [point]}


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
        self._bases: tuple[RecordedBase, ...] = ()
        self._positions: tuple[str, ...] = ()
        self._times: list[int] = []

    def add(self, topic: str, content: Any) -> bool:
        """Take a message, if it is one of bases; topics may have a namespace."""
        if not topic.endswith((ODOM, BASE_MOTION)):
            return False
        time = nanoseconds(content.header.stamp)
        if topic.endswith(ODOM):
            self._odoms.setdefault(topic, {})[time] = content
        else:
            self._motions[time] = content
        return True

    def complete(
        self, machine: MachineData, joints: Sequence[str], times: Sequence[int]
    ) -> list[int]:
        """Which of the states have all bases; all, where it is a machine without or unknown."""
        bases = recorded_bases(machine.floats)
        known = {*joints, *(name for base in bases for name in base.positions)}
        kept = list(range(len(times)))
        if bases and known == set(machine.coordinates):
            odoms = [self._odom(base) for base in bases]
            having = [k for k in kept if all(times[k] in odom for odom in odoms)]
            if having:
                self._bases, self._positions, kept = bases, tuple(machine.coordinates), having
        self._times = [times[k] for k in kept]
        return kept

    def merged(
        self, joints: tuple[str, ...], q: Array, v: Array, qdd: Array
    ) -> tuple[tuple[str, ...], tuple[str, ...], Array, Array, Array]:
        """Names of positions and velocities of the machine, and both with accelerations.

        Those given are of the joints, (K, joints).
        """
        bases = self._bases
        if not bases:
            return joints, joints, q, v, qdd
        poses: dict[str, Array] = {}
        twists: dict[str, Array] = {}
        rates: dict[str, Array] = {}
        for number, base in enumerate(bases):
            samples = [self._odom(base)[time] for time in self._times]
            poses |= _columns(base.positions, [_pose(one.pose.pose) for one in samples])
            twists |= _columns(base.velocities, [_six(one.twist.twist) for one in samples])
            motions = [self._motions.get(time) for time in self._times]
            found = [
                _six(one.points[0].accelerations[number]) if one else [np.nan] * len(_TWIST)
                for one in motions
            ]
            rates |= _columns(base.velocities, found)
        first = {base.positions[0]: base.velocities for base in bases}
        rest = {name for base in bases for name in base.positions[1:]}
        groups = [first.get(name, (name,)) for name in self._positions if name not in rest]
        velocities = tuple(name for names in groups for name in names)
        return (
            self._positions,
            velocities,
            _merged(self._positions, joints, q, poses),
            _merged(velocities, joints, v, twists),
            _merged(velocities, joints, qdd, rates),
        )

    def _odom(self, base: RecordedBase) -> dict[int, Any]:
        return next((o for topic, o in self._odoms.items() if topic.endswith(base.topic)), {})


def _columns(names: Sequence[str], rows: Sequence[Sequence[float]]) -> dict[str, Array]:
    return dict(zip(names, np.array(rows, dtype=float).T, strict=True))


def _pose(pose: Any) -> list[float]:
    place, turn = pose.position, pose.orientation
    return [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w]


def _six(twist: Any) -> list[float]:
    return [getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"]


def _merged(
    names: Sequence[str], joints: Sequence[str], of_joints: Array, of_bases: Mapping[str, Array]
) -> Array:
    """Columns by name, (K, names), from those of joints (K, joints) and of bases (K,) each."""
    places = {name: k for k, name in enumerate(joints)}
    columns = [of_bases[n] if n in of_bases else of_joints[:, places[n]] for n in names]
    return np.stack(columns, axis=1)
