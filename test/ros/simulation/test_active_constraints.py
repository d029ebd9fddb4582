# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints switched over ROS: services of the simulator, and nodes that follow."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")

from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics import Inputs, Mechanism
from uk_dynamics.mechanism.resolution.state import ActiveConstraints
from uk_dynamics.ros.nodes.simulator import Simulator
from uk_dynamics.ros.topics.messages import from_message, to_message
from uk_dynamics.ros.topics.qos import LATCHED_QOS

pytestmark = pytest.mark.ros

TOPIC = "simulator/active_constraints"


def test_a_foot_is_put_down_and_lifted_by_a_service(ros: Ros) -> None:
    ros.add(Simulator(**overrides(mechanism="landing_leg", paused=True)))
    node = ros.node()
    enable = node.create_client(SetBool, "simulator/foot/enable")
    states = Ear(node, JointState, "joint_states")
    diagnostics = DiagnosticsEar(node, "simulator")
    answer = ros.call(enable, SetBool.Request(data=True))
    assert answer.success
    assert answer.message == "foot is on; 0 J lost"  # it starts at rest
    # Who comes late hears it all the same.
    late = Ear(ros.node("late"), JointState, TOPIC, LATCHED_QOS)
    ros.until(lambda: late.messages, "the constraints that are on")
    assert list(late.messages[0].name) == ["foot.x", "foot.z"]
    # The foot hangs 0.44145 m above the ground, straight below the body.
    np.testing.assert_allclose(late.messages[0].position, [0.0, 0.44145], rtol=0.0, atol=1e-9)
    step = node.create_client(Trigger, "simulator/step")
    assert ros.call(step, Trigger.Request()).success
    bends = "the leg to bend above a foot that stays"
    ros.until(lambda: abs(states.next(ros).velocity[1]) > 0.0, bends)
    ros.until(lambda: diagnostics.values.get("active_constraints") == "foot", "a report")
    assert diagnostics.values["rank"] == "2"
    assert ros.call(enable, SetBool.Request(data=False)).message == "foot is off; 0 J lost"
    ros.until(lambda: not late.messages[-1].name, "the constraints that are on")
    ros.call(enable, SetBool.Request(data=True))
    ros.until(lambda: late.messages[-1].name, "the constraints that are on again")
    assert ros.call(node.create_client(Trigger, "simulator/reset"), Trigger.Request()).success
    ros.until(lambda: len(late.messages) >= 4 and not late.messages[-1].name, "a reset")


def test_a_constraint_away_from_the_pose_it_requires_stays_off(ros: Ros, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="swing" type="continuous"><parent link="base"/><child link="arm"/>'
        '<axis xyz="0 1 0"/></joint></robot>'
    )
    file = tmp_path / "arm.yaml"
    file.write_text(
        "schema: 1\nmodel: {urdf: arm.urdf}\ninitial_guess: {swing: 0.25}\n"
        "constraints: {latch: {type: joint, joint: swing, switchable: true, active: false, "
        "on_activation: require}}\n"
    )
    ros.add(Simulator(**overrides(mechanism=str(file), paused=True)))
    node = ros.node()
    heard = Ear(node, JointState, TOPIC, LATCHED_QOS)
    enable = node.create_client(SetBool, "simulator/latch/enable")
    answer = ros.call(enable, SetBool.Request(data=True))
    assert not answer.success
    assert '"latch" is 0.25 m or rad away' in answer.message
    assert all(not message.name for message in heard.messages)


def test_nodes_in_other_processes_follow(ros: Ros, start_node: StartProcess) -> None:
    parameters = {"mechanism": "landing_leg"}
    start_node("simulator", parameters=parameters | {"paused": True})
    start_node("forward_dynamics", parameters=parameters)
    mechanism = Mechanism.from_file("landing_leg")
    state = mechanism.start()
    dynamics = mechanism.dynamics()
    falling = dynamics.evaluate(state).qdd
    standing = dynamics.evaluate(
        state, Inputs(active=mechanism.switch(state, {"foot": True}).active)
    ).qdd
    assert np.abs(falling - standing).max() > 1.0
    node = ros.node()
    motions = Ear(node, JointTrajectory, "forward_dynamics/dynamics")

    def accelerations() -> np.ndarray:
        return np.array(motions.next(ros).points[0].accelerations)

    # Accelerations of some m/s² from the same numbers on both sides: rounding.
    np.testing.assert_allclose(accelerations(), falling, rtol=0.0, atol=1e-9)
    enable = node.create_client(SetBool, "simulator/foot/enable")
    assert ros.call(enable, SetBool.Request(data=True)).success
    ros.until(lambda: np.allclose(accelerations(), standing, rtol=0.0, atol=1e-9), "a stand")
    # Who starts later knows as well.
    start_node("forward_dynamics", parameters=parameters, name="second")
    motions = Ear(node, JointTrajectory, "second/dynamics")
    ros.until(lambda: np.allclose(accelerations(), standing, rtol=0.0, atol=1e-9), "a stand")
    assert ros.call(enable, SetBool.Request(data=False)).success
    ros.until(lambda: np.allclose(accelerations(), falling, rtol=0.0, atol=1e-9), "a fall")


def test_messages_carry_what_is_on_and_where_it_was_closed() -> None:
    mechanism = Mechanism.from_file("landing_leg")
    active = ActiveConstraints(frozenset({"foot"}), {"foot": np.array([0.25, -1.5])})
    heard, problem = from_message(mechanism, to_message(mechanism, active))
    assert problem == ""
    assert heard is not None
    assert heard.names == {"foot"}
    assert list(heard.captured["foot"]) == [0.25, -1.5]
    nothing, problem = from_message(mechanism, JointState())
    assert problem == ""
    assert nothing is not None
    assert nothing.names == frozenset()


@pytest.mark.parametrize(
    ("names", "values", "problem"),
    [
        (["foot.x", "foot.z"], [0.0], "2 names, but 1 positions"),
        (["foot.x", "foot.z"], [0.0, np.nan], "not finite"),
        (["foot.x"], [0.0], 'some rows of "foot" are missing'),
        (["hand.x"], [0.0], '"hand.x" is not a row of a switchable constraint'),
    ],
)
def test_messages_that_make_no_sense_are_not_used(names, values, problem) -> None:
    mechanism = Mechanism.from_file("landing_leg")
    message = JointState(name=names, position=array("d", values))
    active, found = from_message(mechanism, message)
    assert active is None
    assert problem in found


@pytest.fixture
def bouncing(tmp_path: Path) -> str:
    """A puck that slides on the floor under a ball that falls."""
    body = '<inertial><mass value="{m}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    (tmp_path / "puck.urdf").write_text(
        '<robot name="puck"><link name="base"/><link name="carriage"/>'
        f'<link name="puck">{body.format(m=2)}</inertial></link>'
        '<joint name="x" type="prismatic"><parent link="base"/><child link="carriage"/>'
        '<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
        '<joint name="z" type="prismatic"><parent link="carriage"/><child link="puck"/>'
        '<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint></robot>'
    )
    file = tmp_path / "puck.yaml"
    file.write_text(
        "schema: 1\nmodel: {urdf: puck.urdf}\ninitial_guess: {z: 0.01}\n"
        "initial_velocity: {x: 0.5}\n"
        "contacts: {floor: {parent: {link: base}, child: {link: puck}, friction: 0.2}}\n"
    )
    return str(file)


def test_contacts_close_slide_and_stick_for_all_nodes(
    ros: Ros, start_node: StartProcess, bouncing: str
) -> None:
    parameters = {"mechanism": bouncing}
    start_node("simulator", parameters=parameters | {"paused": True})
    start_node("forward_dynamics", parameters=parameters)
    node = ros.node()
    contacts = Ear(node, JointState, "forward_dynamics/contacts")
    own = Ear(node, JointState, "simulator/contacts")
    # every one is kept, however late this process is
    kept = QoSProfile(depth=100, durability=LATCHED_QOS.durability)
    active = Ear(node, JointState, TOPIC, kept)
    pause = node.create_client(SetBool, "simulator/pause")

    def force() -> list[float]:
        return contacts.next(ros).effort.tolist()

    ros.until(lambda: force() == [0.0, 0.0, 0.0], "a flight")
    assert contacts.messages[-1].position[0] == pytest.approx(0.01, abs=1e-12)
    assert ros.call(pause, SetBool.Request(data=False)).success
    # 2 kg slide at 0.2 of their weight; both sides compute it from the same numbers
    ros.until(lambda: np.allclose(force(), [19.62, -3.924, 0.0], rtol=0.0, atol=1e-9), "sliding")
    ros.until(lambda: np.allclose(force(), [19.62, 0.0, 0.0], rtol=0.0, atol=1e-9), "rest")
    ros.until(lambda: own.messages and own.messages[-1].effort[0] > 0.0, "the simulator's own")
    assert list(own.messages[-1].name) == ["floor.normal", "floor.x", "floor.y"]

    # that forward_dynamics has heard a message does not say that this node has
    def said() -> list[tuple[list[str], list[float]]]:
        return [(list(one.name), list(one.velocity)) for one in active.messages]

    rows = ["floor.normal", "floor.sticking.x", "floor.sticking.y"]
    ros.until(lambda: (rows, []) in said(), "what sticks")
    assert (rows, [0.0, 1.0, 0.0]) in said()


def test_messages_say_what_slides(bouncing: str) -> None:
    mechanism = Mechanism.from_file(bouncing)
    active = ActiveConstraints(frozenset({"floor"}), sliding={"floor": np.array([0.6, -0.8])})
    heard, problem = from_message(mechanism, to_message(mechanism, active))
    assert problem == ""
    assert heard is not None
    assert heard.names == {"floor"}
    assert heard.sliding["floor"].tolist() == [0.6, -0.8]
    message = to_message(mechanism, active)
    message.velocity[1] = 0.5
    assert from_message(mechanism, message) == (
        None,
        'the velocities of "floor.sticking" are not a unit direction',
    )
    message.velocity = message.velocity[:2]
    assert from_message(mechanism, message)[1] == "3 names, but 2 velocities"


@pytest.mark.slow
def test_contacts_that_have_no_solution_are_in_the_diagnostics(ros: Ros, bouncing: str) -> None:
    """The floor is where a joint is driven through: no force of it helps."""
    down = "{type: polynomial, coefficients: [0.01, -0.1]}"
    with Path(bouncing).open("a", encoding="utf-8") as file:
        file.write(f"constraints:\n  press: {{type: joint, joint: z, reference: {down}}}\n")
    ros.add(Simulator(**overrides(mechanism=bouncing)))
    diagnostics = DiagnosticsEar(ros.node(), "simulator")
    diagnostics.until(ros, "forces of contacts do not fulfil their conditions")
