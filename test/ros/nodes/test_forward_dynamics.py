# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""forward_dynamics: accelerations, forces and wrenches of states that come from elsewhere."""

from __future__ import annotations

import itertools
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.bad_messages import BAD_STATES
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics import Inputs, Mechanism
from uk_dynamics.ros.nodes.forward_dynamics import ForwardDynamics

pytestmark = pytest.mark.ros

MASS, GRAVITY = 2.0, 9.81
PITCH, ARM, CENTER = 0.7, 0.5, 0.3

# A body that moves freely in a plane, until a loop holds it at the end of its arm.
SLAB = f"""<robot name="slab">
  <link name="ground"/>
  <link name="carriage"><inertial><mass value="1e-6"/>
    <inertia ixx="1e-9" iyy="1e-9" izz="1e-9" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="mast"><inertial><mass value="1e-6"/>
    <inertia ixx="1e-9" iyy="1e-9" izz="1e-9" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="slab"><inertial><origin xyz="{CENTER} 0 0"/><mass value="{MASS}"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="x" type="prismatic"><parent link="ground"/><child link="carriage"/>
    <axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <joint name="z" type="prismatic"><parent link="carriage"/><child link="mast"/>
    <axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <joint name="pitch" type="continuous"><parent link="mast"/><child link="slab"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""
HELD = {"link": "slab", "xyz": [ARM, 0.0, 0.0], "rpy": [0.0, -PITCH, 0.0]}
ANCHOR = {"link": "ground"}


def held_slab(directory: Path, *, reverse: bool) -> str:
    parent, child = (HELD, ANCHOR) if reverse else (ANCHOR, HELD)
    (directory / "slab.urdf").write_text(SLAB)
    file = directory / "slab.yaml"
    file.write_text(
        "schema: 1\nmodel: {urdf: slab.urdf}\n"
        f"initial_guess: {{pitch: {PITCH}}}\n"
        f"constraints:\n  clamp: {{type: weld, parent: {parent}, child: {child}}}\n"
    )
    return str(file)


class Bench:
    """The node with everything that talks to it."""

    def __init__(self, ros: Ros, mechanism: str = "five_bar", **parameters: Any) -> None:
        self.ros = ros
        ros.add(ForwardDynamics(**overrides(mechanism=mechanism, **parameters)))
        self.mechanism = Mechanism.from_file(mechanism)
        self.node = ros.node()
        self.motions = Ear(self.node, JointTrajectory, "forward_dynamics/dynamics")
        self.diagnostics = DiagnosticsEar(self.node, "forward_dynamics")
        self._states = self.node.create_publisher(JointState, "joint_states", 10)
        ros.until(self._states.get_subscription_count, "the node to listen")

    def send(self, q: Any, v: Any, effort: Any = (), seconds: int = 1) -> None:
        message = JointState(name=list(self.mechanism.joint_names))
        message.header.stamp = Time(sec=seconds)
        message.position, message.velocity = array("d", q), array("d", v)
        message.effort = array("d", effort)
        self.publish(message)

    def publish(self, message: JointState) -> None:
        self._states.publish(message)


def moving_state(mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    q = mechanism.assemble(crank=0.9)
    start = mechanism.state(q, {"crank": 1.5})
    return q, mechanism.dynamics().project(start).v


def test_acceleration_of_a_measured_state_under_measured_efforts(ros: Ros) -> None:
    bench = Bench(ros)
    q, v = moving_state(bench.mechanism)
    ros.until(lambda: bench.send(q, v, (7.0, 0.0, 0.0, 0.0)) or bench.motions.messages)
    motion = bench.motions.messages[0]
    assert motion.header.stamp == Time(sec=1)
    state = bench.mechanism.state(q, v)
    terms = bench.mechanism.terms(state, Inputs(tau=np.array([7.0, 0.0, 0.0, 0.0])))
    qdd = np.array(motion.points[0].accelerations)
    # rounding of accelerations of size 10
    np.testing.assert_allclose(terms.A @ qdd, terms.b, atol=1e-10, rtol=0)
    # what is missing in M q̈ = F are constraint forces, and they do no work in any admissible motion
    np.testing.assert_allclose((terms.M @ qdd - terms.F) @ v, 0.0, atol=1e-10, rtol=0)
    assert list(motion.points[0].positions) == list(q)


def test_acceleration_under_commanded_efforts(ros: Ros) -> None:
    bench = Bench(ros, effort_source="commands", command_topic="efforts")
    publisher = bench.node.create_publisher(Float64MultiArray, "efforts", 10)
    ros.until(publisher.get_subscription_count, "the node to listen")
    q, v = moving_state(bench.mechanism)
    state = bench.mechanism.state(q, v)
    dynamics = bench.mechanism.dynamics()
    expected = dynamics.evaluate(state, bench.mechanism.inputs(efforts={"crank_motor": 7.0})).qdd

    def answered() -> bool:
        publisher.publish(Float64MultiArray(data=array("d", [7.0])))
        bench.send(q, v, (99.0, 99.0, 99.0, 99.0))  # measured efforts do not count here
        return bool(bench.motions.messages) and np.allclose(
            bench.motions.messages[-1].points[0].accelerations, expected, atol=1e-10, rtol=0
        )

    ros.until(answered, "the acceleration under commanded efforts")


def test_unusable_states_are_ignored_and_reported(ros: Ros) -> None:
    bench = Bench(ros, state_timeout=60.0)
    q, v = moving_state(bench.mechanism)
    ros.until(lambda: bench.send(q, v) or bench.motions.messages, "an answer")
    answered = len(bench.motions.messages)
    wrong = itertools.cycle(message for message, _ in BAD_STATES.values())
    enough = 3 * len(BAD_STATES)
    ros.until(
        lambda: (
            bench.publish(next(wrong))
            or int(bench.diagnostics.values.get("ignored_messages", "0")) >= enough
        ),
        "every kind of unusable state to be ignored",
    )
    assert bench.diagnostics.level == b"\x01"
    assert "joint_states: " in bench.diagnostics.values["last_message_problem"]
    late = bench.motions.messages[answered:]
    assert all(list(motion.points[0].positions) == list(q) for motion in late)
    ros.until(lambda: bench.send(q, v, seconds=2) or bench.motions.next(ros).header.stamp.sec == 2)


def test_missing_states_are_an_error(ros: Ros) -> None:
    bench = Bench(ros, state_timeout=0.1)
    bench.diagnostics.until(ros, "no usable joint_states yet")
    assert bench.diagnostics.level == b"\x02"


def test_violated_constraints_are_named(ros: Ros) -> None:
    bench = Bench(ros)
    q, v = moving_state(bench.mechanism)
    q[3] += 0.05
    ros.until(
        lambda: bench.send(q, v) or "constraint right_pin" in bench.diagnostics.message,
        "a warning of the open loop",
    )
    assert bench.diagnostics.level == b"\x01"


@pytest.mark.slow
@pytest.mark.parametrize(
    "reverse", [False, True], ids=["held body is child", "held body is parent"]
)
def test_clamp_carries_the_weight_of_what_it_holds(ros: Ros, tmp_path: Path, reverse: bool) -> None:
    bench = Bench(ros, held_slab(tmp_path, reverse=reverse))
    wrenches = Ear(bench.node, WrenchStamped, "forward_dynamics/clamp/wrench")
    q = bench.mechanism.assemble()
    ros.until(lambda: bench.send(q, np.zeros(3)) or wrenches.messages, "a wrench")
    message = wrenches.messages[0]
    parts = message.wrench.force, message.wrench.torque
    force, torque = (np.array([part.x, part.y, part.z]) for part in parts)
    center = np.array([q[0] + CENTER * np.cos(PITCH), 0.0, q[1] - CENTER * np.sin(PITCH)])
    up = np.array([0.0, 0.0, (MASS + 2e-6) * GRAVITY])
    tolerance = {"atol": 1e-4, "rtol": 0}  # carriage and mast weigh 2e-5 N and hang elsewhere
    if reverse:
        assert message.header.frame_id == "ground"
        # the ground is pulled down by the weight, which acts at the center of mass
        np.testing.assert_allclose(force, -up, **tolerance)
        np.testing.assert_allclose(torque, np.cross(center, -up), **tolerance)
    else:
        assert message.header.frame_id == "slab"
        c, s = np.cos(PITCH), np.sin(PITCH)
        to_slab = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
        np.testing.assert_allclose(force, to_slab @ up, **tolerance)
        np.testing.assert_allclose(torque, np.cross([CENTER, 0.0, 0.0], to_slab @ up), **tolerance)
