# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""servo_controller follows what is sent to it, and says why it does not."""

from __future__ import annotations

import math
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from uk_dynamics import Mechanism, ServoController, Tasks
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.references.trajectory_reference import (
    Pace,
    Trajectory,
    Waypoints,
    approach,
)
from uk_dynamics.control.servo.setpoint_generator import SetpointGenerator
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.ros.nodes.servo_controller import ServoControllerNode

pytestmark = pytest.mark.ros

SAME = 1e-4  # N m; times are up to some 100 ns off, efforts change by up to 100 N m per s


class Bench:
    """The controller, and a machine that stands still whatever it does."""

    def __init__(self, ros: Ros, mechanism: str, tasks: str, **parameters: Any) -> None:
        self.ros = ros
        settings = {"mechanism": mechanism, "tasks": tasks, "autostart": True}
        limits = {"state_timeout": 60.0, "position_jump": 10.0, "residual_limit": 10.0}
        limits["update_rate"] = 0.0  # a law without a past, for comparison
        self.controller = ros.add(
            ServoControllerNode(**overrides(**{**settings, **limits, **parameters}))
        )
        self.node = ros.node()
        self.mechanism = Mechanism.from_file(mechanism)
        self.reference = ServoController(
            self.mechanism, Tasks.from_file(tasks, self.mechanism)
        )  # the same law, told what to follow
        self.start = self.mechanism.start({})
        if parameters.get("command_mode") == "trajectory":
            topic = "joint_trajectory_controller/joint_trajectory"
            self.commands = Ear(self.node, JointTrajectory, topic)
        else:
            self.commands = Ear(self.node, Float64MultiArray, "effort_controller/commands")
        self.diagnostics = DiagnosticsEar(self.node, "servo_controller")
        self._states = self.node.create_publisher(JointState, "joint_states", 10)
        self._last, self._said = 0.0, 0
        self.steps_freely = parameters.get("command_mode") != "trajectory"
        ros.until(lambda: self._send(0.0) or self.commands.messages, "the first command")

    def _send(self, t: float) -> None:
        message = JointState(name=list(self.mechanism.joint_names))
        # a state of the same stamp would be answered as before, so some ns are added
        again = t == self._last and self.commands.messages and self.steps_freely
        self._last, self._said = t, self._said + 1 if again else 0
        message.header.stamp = Time(sec=100 + int(t), nanosec=round(t % 1.0 * 1e9) + self._said)
        message.position = array("d", self.start.q)
        message.velocity = array("d", self.start.v)
        self._states.publish(message)

    def efforts(self, t: float) -> np.ndarray:
        """Efforts that are commanded at a time."""
        return np.array(self.answer(t).data)

    def answer(self, t: float) -> Any:
        """What is commanded at a time."""
        for _ in range(3):
            self.ros.spin_once(0.0)
        heard = len(self.commands.messages)
        self._send(t)
        self.ros.until(lambda: len(self.commands.messages) > heard, "an answer")
        return self.commands.messages[-1]

    def expected(self, t: float, **followed: Any) -> np.ndarray:
        """What the law commands that follows this."""
        state = State(t, self.start.q, self.start.v)
        return np.array(self.reference.command(state, followed).efforts)

    def follows(self, t: float, **followed: Any) -> None:
        """Wait for what the law commands that follows this; a former answer may come before."""
        expected = self.expected(t, **followed)
        self.ros.until(lambda: np.abs(self.efforts(t) - expected).max() < SAME, f"{expected} N m")

    def refuse(self, publisher: Any, message: Any, problem: str) -> None:
        """Send something until it is refused; diagnostics would tell it a second later."""
        problems = self.controller._problems
        self.ros.until(lambda: publisher.publish(message) or problem in problems._last, problem)


def trajectory(*points: dict[str, Any], names: tuple[str, ...] = ("crank",)) -> JointTrajectory:
    message = JointTrajectory(joint_names=list(names))
    for point in points:
        seconds = point.pop("t")
        duration = Duration(sec=math.floor(seconds), nanosec=round(seconds % 1.0 * 1e9))
        message.points.append(JointTrajectoryPoint(time_from_start=duration, **point))
    return message


REFUSED = {
    "a joint that no task drives": (trajectory(names=("elbow",)), '"elbow" has no live task'),
    "a joint twice": (trajectory(names=("crank", "crank")), "a joint is named more than once"),
    "no positions": (trajectory({"t": 1.0}), "positions: none are given"),
    "too many positions": (trajectory({"t": 1.0, "positions": [0.1, 0.2]}), "expected 1"),
    "nan": (trajectory({"t": 1.0, "positions": [math.nan]}), "positions: has nan"),
    "times that do not increase": (
        trajectory({"t": 1.0, "positions": [0.7]}, {"t": 1.0, "positions": [0.8]}),
        "1 s follows 1 s",
    ),
    "a time before the start": (trajectory({"t": -1.0, "positions": [0.7]}), "before the start"),
    "velocities at some points": (
        trajectory(
            {"t": 1.0, "positions": [0.7], "velocities": [0.1]}, {"t": 2.0, "positions": [0.7]}
        ),
        "velocities: 0 numbers",
    ),
    "an end in motion": (
        trajectory({"t": 1.0, "positions": [0.7], "velocities": [0.1]}),
        "zero at the last point",
    ),
}


def test_a_joint_trajectory_is_followed_replaced_and_held(ros: Ros) -> None:
    bench = Bench(ros, "five_bar", "five_bar_track")
    publisher = bench.node.create_publisher(
        JointTrajectory, "servo_controller/joint_trajectory", 10
    )
    ros.until(publisher.get_subscription_count, "the controller's ear")
    # begins at the last state, which is at t = 0, in the initial reference at rest
    points = Waypoints(np.array([1.0, 2.0]), np.array([[0.8], [0.7]]), np.array([[0.1], [0.0]]))
    sample = bench.reference.tasks.sample(0.0)
    first = Trajectory.through(points, now=0.0, present=sample)
    bench.follows(0.0)

    publisher.publish(
        trajectory(
            {"t": 1.0, "positions": [0.8], "velocities": [0.1]},
            {"t": 2.0, "positions": [0.7], "velocities": [0.0]},
        )
    )
    followed = "track"
    live = bench.controller.loop.references.followed
    ros.until(lambda: followed in live, "the trajectory")
    for t in (0.3, 1.0, 1.4):
        # the difference of stamps is rounded to 1e-14 s
        bench.follows(t, track=first)
    for message, problem in REFUSED.values():
        bench.refuse(publisher, message, problem)
    late = trajectory({"t": 0.2, "positions": [0.7]})
    late.header.stamp = Time(sec=100)
    bench.refuse(publisher, late, "it ended 1.2 s ago")
    bench.diagnostics.until(ros, "~/joint_trajectory: it ended 1.2 s ago")
    bench.follows(1.5, track=first)  # still followed

    old = live["track"]
    publisher.publish(trajectory({"t": 1.0, "positions": [0.5]}))
    ros.until(lambda: live["track"] is not old, "another trajectory")
    second = Trajectory.through(
        Waypoints(np.array([2.5]), np.array([[0.5]])), now=1.5, present=first.sample(1.5)
    )
    bench.follows(1.5, track=second)
    bench.follows(2.0, track=second)

    old = live["track"]
    publisher.publish(JointTrajectory())
    ros.until(lambda: live["track"] is not old, "the hold")
    hold = second.sample(2.0)
    hold = hold._replace(rate=0.0 * hold.rate, acceleration=0.0 * hold.rate)
    bench.follows(2.4, track=hold)


PLATFORM = """
schema: 1
tasks:
  pose:
    type: frame
    axes: [x, y, z, rx, ry, rz]
    parent: {link: base}
    child: {link: platform}
    reference: {type: live, value: [0.0, 0.0, 0.75, 0.0, 0.0, 0.0]}
"""


def pose(frame: str = "base", z: float = 0.78, rx: float = 0.1) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.z = z
    message.pose.orientation.x = math.sin(rx / 2)
    message.pose.orientation.w = math.cos(rx / 2)
    return message


def test_a_target_pose_is_approached_within_the_limits(ros: Ros, tmp_path: Path) -> None:
    tasks = tmp_path / "platform.yaml"
    tasks.write_text(PLATFORM)
    bench = Bench(ros, "stewart_platform", str(tasks), approach_speed=0.05)
    bench.efforts(0.0)
    publisher = bench.node.create_publisher(PoseStamped, "servo_controller/target_pose", 10)
    ros.until(publisher.get_subscription_count, "the controller's ear")
    bench.refuse(publisher, pose("platform"), 'frame_id is "platform", expected "base"')
    bench.refuse(publisher, pose(z=math.nan), "position is not finite")
    wrong = pose()
    wrong.pose.orientation.w = 2.0
    bench.refuse(publisher, wrong, "orientation: a quaternion of length 2")
    live = bench.controller.loop.references.followed
    assert not live

    publisher.publish(pose())
    ros.until(lambda: live, "the approach")
    begin = bench.reference.tasks.sample(0.0)
    target = np.array([0.0, 0.0, 0.78, 0.1, 0.0, 0.0])
    turning = np.array([False] * 3 + [True] * 3)
    paces = [Pace(~turning, 0.05, 1.0), Pace(turning, 0.5, 2.0)]
    way = approach(begin, target, paces, 0.0)
    assert way.knots[-1] == pytest.approx(15 / 8 * 0.03 / 0.05, abs=1e-12)
    for t in (0.3, 0.9, 2.0):
        bench.follows(t, pose=way)
    held = ReferenceSample(target, np.zeros(6), np.zeros(6))
    bench.follows(2.0, pose=held)

    own = bench.node.create_publisher(PoseStamped, "servo_controller/pose/target_pose", 10)
    old = live["pose"]
    ros.until(lambda: own.publish(pose(rx=0.0)) or live["pose"] is not old, "its own topic")


def test_a_target_pose_without_a_frame_task_is_refused(ros: Ros) -> None:
    bench = Bench(ros, "five_bar", "five_bar_track")
    publisher = bench.node.create_publisher(PoseStamped, "servo_controller/target_pose", 10)
    bench.refuse(publisher, pose(), "no frame task is live")


def test_trajectories_for_the_drives_carry_the_desired_motion(ros: Ros) -> None:
    rate = 100.0
    bench = Bench(ros, "rrr3", "rrr3_track", command_mode="trajectory", update_rate=rate)
    machine = bench.mechanism
    law = ServoController(machine, bench.reference.tasks, control_period=1.0 / rate)
    motors = [joint for motor in machine.spec.actuators for joint, _ in motor.joints]
    places = [machine.joint_names.index(name) for name in machine.joint_names if name in motors]
    desired = SetpointGenerator(machine, 1.0 / rate)
    for t in (0.0, 0.01, 0.023, 0.03):
        state = State(t, bench.start.q, bench.start.v)
        setpoints = desired.setpoints(state, 4.0 / rate, law.command)
        begin = round((t + setpoints[0].after) * 1e9)
        # the same state is answered again in the same way, in case this is a late answer
        ros.until(
            lambda t=t, begin=begin: abs(bench.answer(t).header.stamp.nanosec - begin) < 100,
            f"a trajectory from {begin} ns on",
        )
        message = bench.commands.messages[-1]
        assert message.joint_names == [machine.joint_names[place] for place in places]
        assert len(message.points) == len(setpoints)
        for point, setpoint in zip(message.points, setpoints, strict=True):
            after = point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
            assert after == pytest.approx(setpoint.after - setpoints[0].after, abs=1e-7)
            efforts = machine.actuators.matrix @ setpoint.efforts
            for found, expected in (
                (point.positions, setpoint.q),
                (point.velocities, setpoint.v),
                (point.accelerations, setpoint.qdd),
                (point.effort, efforts),
            ):
                # stamps are rounded to 1e-14 s, which feedback and inertia magnify
                np.testing.assert_allclose(found, expected[places], rtol=0, atol=1e-7)
