"""A stand-in for joint_trajectory_controller with effort commands, after its documentation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import qos_profile_system_default
from support.peers.peer_hardware import JointStateTopicSystem, owner_of
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

_FIELDS = ("positions", "velocities", "accelerations", "effort")
_STILL = np.finfo(np.float32).eps  # rad/s or m/s


class JointTrajectoryController:
    """Follows ``~/joint_trajectory`` by effort: feed-forward of the trajectory, PD on its errors.

    Attributes:
        refused: Why trajectories were refused.
        accepted: How many were not.
        holding: Whether no trajectory is followed.
    """

    def __init__(self, node: Node, hardware: list[JointStateTopicSystem]) -> None:
        def value(name: str, default: Any) -> Any:
            return node.get_parameter(name).value if node.has_parameter(name) else default

        self.joints = list(value("joints", []))
        assert value("command_interfaces", []) == ["effort"]
        assert {"position", "velocity"} <= set(value("state_interfaces", []))
        self._may_end_moving = value("allow_nonzero_velocity_at_trajectory_end", False)
        self._from_desired = value("interpolate_from_desired_state", False)
        self._timeout = value("cmd_timeout", 0.0)
        self._p = np.array([value(f"gains.{joint}.p", 0.0) for joint in self.joints])
        self._d = np.array([value(f"gains.{joint}.d", 0.0) for joint in self.joints])
        self._targets = [owner_of(hardware, f"{joint}/effort") for joint in self.joints]
        self._node = node
        self.refused: list[str] = []
        self.accepted = 0
        self.holding = True
        self.deactivate()
        node.create_subscription(
            JointTrajectory, "~/joint_trajectory", self._hear, qos_profile_system_default
        )

    def _hear(self, message: JointTrajectory) -> None:
        if problem := self._wrong_with(message):
            self.refused.append(problem)
            return
        self.accepted += 1
        self._new = message

    def _wrong_with(self, message: JointTrajectory) -> str:
        if len(message.joint_names) != len(self.joints):
            return "joints do not match"
        if not message.points:
            return "empty"
        if set(message.joint_names) - set(self.joints):
            return "unknown joint"
        last = message.points[-1]
        moves = any(abs(v) > _STILL for v in last.velocities)
        if moves and not self._may_end_moving:
            return "moves at its end"
        end = _seconds(message.header.stamp) + _seconds(last.time_from_start)
        now = self._node.get_clock().now().nanoseconds * 1e-9
        if _seconds(message.header.stamp) and end < now:
            return "ends in the past"
        times = [_seconds(point.time_from_start) for point in message.points]
        if any(after <= before for before, after in itertools.pairwise(times)):
            return "times do not increase"
        for point in message.points:
            if len(point.positions) != len(self.joints):
                return "positions missing"
            for field in (point.velocities, point.accelerations):
                if len(field) not in (0, len(self.joints)):
                    return "wrong number of velocities or accelerations"
        return ""

    def activate(self) -> None:
        self._hold()

    def deactivate(self) -> None:
        self._new: JointTrajectory | None = None
        self._time = self._duration = 0.0
        self._start = self._end = np.zeros((4, len(self.joints)))
        self._last: Any = None
        for joint, target in zip(self.joints, self._targets, strict=True):
            if math.isfinite(target.commands[f"{joint}/effort"]):
                target.commands[f"{joint}/effort"] = 0.0

    def _measured(self) -> Any:
        rows = [
            [target.states[f"{joint}/{interface}"] for interface in ("position", "velocity")]
            for joint, target in zip(self.joints, self._targets, strict=True)
        ]
        return np.array(rows).T

    def _hold(self) -> None:
        """Stand where the machine is now."""
        self.holding = True
        self._end = np.vstack([self._measured()[:1], np.zeros((3, len(self.joints)))])
        self._start, self._time, self._duration = self._end, 0.0, 0.0

    def update(self, stamp: Any, period: float) -> bool:
        measured = self._measured()
        if not np.isfinite(measured).all():
            return True
        if self._new is not None:
            self._begin(self._new, measured)
            self._new = None
        elif not np.isfinite(self._end).all():
            self._hold()
        else:
            self._time += period
        if not self.holding and 0.0 < self._timeout < self._time - self._duration:
            self._hold()
        wanted = self._sample(self._time)
        ahead = self._last = self._sample(self._time + period)
        effort = (
            ahead[3] + self._p * (wanted[0] - measured[0]) + self._d * (wanted[1] - measured[1])
        )
        for joint, target, value in zip(self.joints, self._targets, effort, strict=True):
            target.commands[f"{joint}/effort"] = float(value)
        return True

    def _begin(self, message: JointTrajectory, measured: Any) -> None:
        (point,) = message.points  # all that is sent to it here
        places = [list(message.joint_names).index(joint) for joint in self.joints]
        self._end = np.array([_field(point, name)[places] for name in _FIELDS])
        here = np.vstack([measured, np.zeros((2, len(self.joints)))])
        self._start = self._last if self._from_desired and self._last is not None else here
        self._time, self._duration = 0.0, _seconds(point.time_from_start)
        self.holding = False

    def _sample(self, t: float) -> Any:
        """Position, velocity, acceleration and effort at a time; after the end those of the end."""
        T = self._duration
        if t >= T:
            return self._end
        start, end = self._start, self._end
        # quintic in t/T through both ends, written for u = t/T
        u = t / T
        p0, v0, a0 = start[0], start[1] * T, start[2] * T**2
        p1, v1, a1 = end[0], end[1] * T, end[2] * T**2
        c = [
            p0,
            v0,
            0.5 * a0,
            10.0 * (p1 - p0) - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
            -15.0 * (p1 - p0) + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
            6.0 * (p1 - p0) - 3.0 * (v0 + v1) - 0.5 * (a0 - a1),
        ]
        powers = u ** np.arange(6)
        q = sum(c[k] * powers[k] for k in range(6))
        v = sum(k * c[k] * powers[k - 1] for k in range(1, 6)) / T
        qdd = sum(k * (k - 1) * c[k] * powers[k - 2] for k in range(2, 6)) / T**2
        return np.array([q, v, qdd, start[3] + u * (end[3] - start[3])])


def _field(point: JointTrajectoryPoint, name: str) -> Any:
    numbers = np.array(getattr(point, name))
    return numbers if len(numbers) else np.zeros(len(point.positions))


def _seconds(time: Any) -> float:
    return time.sec + 1e-9 * time.nanosec
