# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine that floats, between processes: what the nodes compute is what the library computes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Float64MultiArray
from support.floating_five_bar import floating_five_bar, random_state
from support.nodes.floating_machine import joint_message, odometry, odometry_of, state_of
from support.nodes.ros_ears import DiagnosticsEar, Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from uk_dynamics import Inputs, Mechanism, State
from uk_dynamics.mechanism.kinematics import LoopMotion, twist_map
from uk_dynamics.model import RobotModel
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.together("floating base")]

# of accelerations up to some hundred, whose state has gone through a unit quaternion and back
EXACT = 1e-12


class Listener:
    """Hears what forward_dynamics finds: the points of joints and bases by stamp, in ns."""

    def __init__(self, node: Node) -> None:
        self.answers: dict[int, tuple[Any, Any]] = {}
        self._halves: dict[int, dict[type, Any]] = {}
        self._kinds = JointTrajectory, MultiDOFJointTrajectory
        for kind, topic in zip(self._kinds, ("dynamics", "base_dynamics"), strict=True):
            node.create_subscription(kind, f"forward_dynamics/{topic}", self._hear, 1000)

    def _hear(self, message: Any) -> None:
        stamp = nanoseconds(message.header.stamp)
        halves = self._halves.setdefault(stamp, {})
        halves[type(message)] = message.points[0]
        if len(halves) == len(self._kinds):
            joints, bases = (halves[kind] for kind in self._kinds)
            self.answers[stamp] = joints, bases


def six(twist: Any) -> list[float]:
    linear, angular = twist.linear, twist.angular
    return [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]


def acceleration(model: RobotModel, answer: tuple[Any, Any]) -> np.ndarray:
    joints, bases = answer
    qdd = np.zeros(model.nv)
    qdd[model.velocity_of_joint] = joints.accelerations
    qdd[model.bases[0].velocity] = six(bases.accelerations[0])
    return qdd


def agree(found: np.ndarray, expected: np.ndarray) -> bool:
    return bool(np.abs(found - expected).max() <= EXACT * max(1.0, np.abs(expected).max()))


def start(start_node: StartProcess, node: str, file: Path, **parameters: Any) -> None:
    start_node(node, parameters={"mechanism": str(file), "backend": "interpreted", **parameters})


def test_simulator_and_forward_dynamics_agree_with_the_library(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    file = floating_five_bar(tmp_path)
    mechanism = Mechanism.from_file(file)
    model, evaluator = mechanism.model, mechanism.dynamics("interpreted")
    node = ros.node()
    listener = Listener(node)
    states, bases = Ear(node, JointState, "joint_states"), Ear(node, Odometry, "odom")
    motors = node.create_publisher(Float64MultiArray, "effort_controller/commands", 10)
    start(start_node, "forward_dynamics", file)
    start(start_node, "simulator", file, rate=100.0)

    def heard() -> bool:
        motors.publish(Float64MultiArray(data=[7.0]))
        driven = {nanoseconds(m.header.stamp) for m in states.messages[-90:] if any(m.effort)}
        falling = {nanoseconds(m.header.stamp) for m in bases.messages}
        return len(listener.answers) > 100 and len(driven & falling & listener.answers.keys()) > 60

    ros.until(heard, "answers to a hundred states, most of them driven")
    odoms = {nanoseconds(m.header.stamp): m for m in bases.messages}
    compared = 0
    for message in states.messages:
        stamp = nanoseconds(message.header.stamp)
        if stamp not in odoms or stamp not in listener.answers:
            continue
        odom = odoms[stamp]
        assert (odom.header.frame_id, odom.child_frame_id) == ("odom", "ground")
        state = state_of(mechanism, message, odom)
        tau = np.zeros(model.nv)
        tau[model.velocity_of_joint] = message.effort
        expected = evaluator.evaluate(state, Inputs(tau=tau)).qdd
        assert agree(acceleration(model, listener.answers[stamp]), expected)
        compared += tau.any()
    assert compared > 50
    # it falls freely, and its loops hold
    assert evaluator.residual(state).position == pytest.approx(0.0, abs=1e-9)
    assert model.bases[0].pose(state.q)[2] < -0.1


@pytest.mark.slow
def test_a_thousand_attitudes(ros: Ros, start_node: StartProcess, tmp_path: Path) -> None:
    """Over all of SO(3), in each of the three ways in which a base can be given."""
    file = floating_five_bar(tmp_path)
    mechanism = Mechanism.from_file(file)
    model, evaluator = mechanism.model, mechanism.dynamics("interpreted")
    node = ros.node()
    start(start_node, "forward_dynamics", file)
    answered = exchange(
        ros,
        node,
        mechanism,
        1000,
        node.create_publisher(Odometry, "odom", 10),
        lambda state, stamp: odometry(mechanism, state, stamp),
    )
    for state, answer in answered:
        assert agree(acceleration(model, answer), evaluator.evaluate(state).qdd)
        transform = answer[1].transforms[0]
        place, turn = transform.translation, transform.rotation
        found = np.array([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w])
        pose = model.bases[0].pose(state.q)
        assert found == pytest.approx(pose, abs=1e-15)
        assert six(answer[1].velocities[0]) == list(model.bases[0].twist(state.v))


@pytest.mark.slow
@pytest.mark.parametrize("source", ["odom", "multi_dof_joint_states"])
def test_twists_in_axes_of_the_world(
    source: str, ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    file = floating_five_bar(tmp_path)
    mechanism = Mechanism.from_file(file)
    model, evaluator = mechanism.model, mechanism.dynamics("interpreted")
    node = ros.node()
    start(start_node, "forward_dynamics", file, base_twist="parent", base_source=source)

    def in_world(state: State, stamp: Time) -> Any:
        """As simulators publish what they know: the velocity that Pinocchio has of the frame."""
        motion = LoopMotion(mechanism)
        motion.update(state.q, state.v, 0.0)
        twist = twist_map(motion, "ground", state.v)[0] @ state.v
        message = odometry_of("robot/ground", model.bases[0].pose(state.q), twist, stamp)
        if source == "odom":
            return message
        place = message.pose.pose
        whole = MultiDOFJointState(joint_names=["other", "root"])
        whole.header = message.header
        for _ in whole.joint_names:
            transform = _transform(place)
            whole.transforms.append(transform)
            whole.twist.append(message.twist.twist)
        return whole

    kind = Odometry if source == "odom" else MultiDOFJointState
    answered = exchange(ros, node, mechanism, 30, node.create_publisher(kind, source, 10), in_world)
    for state, answer in answered:
        assert agree(acceleration(model, answer), evaluator.evaluate(state).qdd)


def _transform(pose: Any) -> Any:
    from geometry_msgs.msg import Transform, Vector3

    place = pose.position
    return Transform(
        translation=Vector3(x=place.x, y=place.y, z=place.z), rotation=pose.orientation
    )


def exchange(
    ros: Ros,
    node: Node,
    mechanism: Mechanism,
    count: int,
    bases: Any,
    message: Callable[[State, Time], Any],
) -> list[tuple[State, tuple[Any, Any]]]:
    """Send random states until each has an answer; bases and joints come in either order."""
    rng, listener = np.random.default_rng(11), Listener(node)
    joints = node.create_publisher(JointState, "joint_states", 10)
    ros.until(lambda: joints.get_subscription_count() and bases.get_subscription_count())
    found = []
    for number in range(count):
        state, stamp = random_state(mechanism, rng), Time(sec=1 + number)
        pair = [(joints, joint_message(mechanism, state, stamp)), (bases, message(state, stamp))]

        def answered(pair: Any = pair, stamp: Time = stamp, number: int = number) -> bool:
            for publisher, sample in pair[:: 1 if number % 2 else -1]:
                publisher.publish(sample)
            ros.spin_once()
            return nanoseconds(stamp) in listener.answers

        ros.until(answered, f"the answer to state {number}")
        found.append((state, listener.answers[nanoseconds(stamp)]))
    return found


@pytest.mark.slow
def test_what_is_wrong_with_a_base_is_said(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    file = floating_five_bar(tmp_path)
    mechanism = Mechanism.from_file(file)
    node = ros.node()
    start(start_node, "forward_dynamics", file)
    diagnostics = DiagnosticsEar(node, "forward_dynamics")
    joints = node.create_publisher(JointState, "joint_states", 10)
    bases = node.create_publisher(Odometry, "odom", 10)
    state, stamp = random_state(mechanism, np.random.default_rng(2)), Time(sec=3)

    def told(text: str, base: Odometry | None) -> Callable[[], bool]:
        def look() -> bool:
            joints.publish(joint_message(mechanism, state, stamp))
            if base is not None:
                bases.publish(base)
            last = diagnostics.values.get("last_message_problem", "")
            return text in diagnostics.message or text in last

        return look

    def until(text: str, base: Odometry | None = None) -> None:
        ros.until(told(text, base), f'"{text}"')

    until("nothing usable on odom, ")
    good = odometry(mechanism, state, stamp)
    long = odometry(mechanism, state, stamp)
    long.pose.pose.orientation.w += 0.1
    until("odom: ground: the orientation must be a unit quaternion, found one of norm 1.0", long)
    other = odometry(mechanism, state, stamp)
    other.child_frame_id = "base_link"
    until('child_frame_id is "base_link", expected "ground"', other)
    other = odometry(mechanism, state, stamp)
    other.twist.twist.linear.x = float("nan")
    until("pose or twist of ground is not finite", other)
    other = odometry(mechanism, state, Time(sec=3, nanosec=1))
    until("odom has not had the stamps of joint_states", other)
    ros.until(
        lambda: told("", good)() and "rank" in diagnostics.values and diagnostics.level != b"\x02",
        "a state",
    )


@pytest.mark.slow
def test_passive_joints_come_from_the_completer(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    """Encoder of the crank, loops, and the base of the same stamps: the whole state."""
    file = floating_five_bar(tmp_path)
    file.write_text(file.read_text() + "measured: [crank]\n")
    mechanism = Mechanism.from_file(file)
    node = ros.node()
    listener = Listener(node)
    truth = Ear(node, JointState, "measured_joint_states")
    start(start_node, "forward_dynamics", file)
    start_node("joint_state_completer", parameters={"mechanism": str(file)})
    start_node(
        "simulator",
        parameters={"mechanism": str(file), "rate": 100.0, "backend": "interpreted"},
        remappings={"joint_states": "measured_joint_states"},
    )
    ros.until(lambda: len(listener.answers) > 50, "completed states with their bases")
    states = {nanoseconds(m.header.stamp): m for m in truth.messages}
    both = [(states[stamp], a) for stamp, a in listener.answers.items() if stamp in states]
    assert len(both) > 20
    for message, (joints, _) in both:
        # what is left of loops that are closed to 1e-12 m
        assert list(joints.positions) == pytest.approx(list(message.position), abs=1e-9)
        assert list(joints.velocities) == pytest.approx(list(message.velocity), abs=1e-9)
    assert mechanism.measured.names == ("crank",)
