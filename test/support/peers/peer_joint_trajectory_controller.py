# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A stand-in for joint_trajectory_controller with effort commands.

Times and interpolation follow its version 4.42.1 (trajectory.cpp, update()); 6.9.0 differs where
header.stamp is in the future, which is refused here.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import qos_profile_system_default
from support.peers.peer_hardware import JointStateTopicSystem, owner_of
from support.peers.peer_trajectory import Trajectory
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
        if _seconds(message.header.stamp) > now:
            return "begins in the future: Jazzy begins at once, Lyrical waits"
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
        self._trajectory: Trajectory | None = None
        self._time = 0.0
        self._last: tuple[float, Any] | None = None
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
        point = np.vstack([self._measured()[:1], np.zeros((3, len(self.joints)))])
        self._trajectory = Trajectory(0.0, [0.0], [point])

    def update(self, stamp: Any, period: float) -> bool:
        time = _seconds(stamp)
        measured = self._measured()
        if not np.isfinite(measured).all():
            return True
        if self._new is not None:
            self._trajectory = self._read(self._new)
            self._new = None
            self.holding = False
        elif self._trajectory is None:
            self._hold()
        trajectory = self._trajectory
        if trajectory.sampled:
            self._time += period
        else:
            here = np.vstack([measured, np.zeros((2, len(self.joints)))])
            from_desired = self._from_desired and self._last is not None
            trajectory.set_before(*(self._last if from_desired else (time, here)))
            self._time = time
        wanted, ahead = trajectory.sample(self._time), trajectory.sample(self._time + period)
        if not self.holding and 0.0 < self._timeout < self._time - trajectory.end:
            self._hold()
        effort = (
            ahead[3] + self._p * (wanted[0] - measured[0]) + self._d * (wanted[1] - measured[1])
        )
        # the time is not that of the point: this is how it is written
        self._last = time, ahead
        for joint, target, value in zip(self.joints, self._targets, effort, strict=True):
            target.commands[f"{joint}/effort"] = float(value)
        return True

    def _read(self, message: JointTrajectory) -> Trajectory:
        places = [list(message.joint_names).index(joint) for joint in self.joints]
        points = [[_field(p, name)[places] for name in _FIELDS] for p in message.points]
        times = [_seconds(point.time_from_start) for point in message.points]
        return Trajectory(_seconds(message.header.stamp), times, points)


def _field(point: JointTrajectoryPoint, name: str) -> Any:
    numbers = np.array(getattr(point, name))
    return numbers if len(numbers) else np.zeros(len(point.positions))


def _seconds(time: Any) -> float:
    return time.sec + 1e-9 * time.nanosec
