# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Floating bases in recordings in MCAP: odometry beside joint states, as the nodes publish it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.model import FloatingBase
from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.mcap_contents import nanoseconds

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
