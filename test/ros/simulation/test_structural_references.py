# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Structure that moves: live references and the time of a machine, the same for all nodes."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from support.nodes.ros_ears import DiagnosticsEar, Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from uk_dynamics import Inputs, Mechanism, ServoController, State, Tasks
from uk_dynamics.constraints.references.references import ReferenceSample

pytestmark = pytest.mark.ros

TOPIC = "drive/reference"
INERTIAL = (
    '<inertial><origin xyz="0 0 {z}"/><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
# An arm of 1 kg on a carriage that something else moves.
URDF = f"""<robot name="arm_on_a_carriage"><link name="base"/>
<link name="carriage_link">{INERTIAL.format(z=0)}</link>
<link name="arm_link">{INERTIAL.format(z=0.5)}</link>
<joint name="carriage" type="prismatic"><parent link="base"/><child link="carriage_link"/>
<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="0" velocity="0"/></joint>
<joint name="arm" type="continuous"><parent link="carriage_link"/><child link="arm_link"/>
<axis xyz="0 1 0"/></joint></robot>"""
MECHANISM = """schema: 1
model: {urdf: arm.urdf}
actuators: {motor: {joint: arm, effort_limit: 50.0}}
measured: [arm]
initial_guess: {arm: 0.3}
constraints: {drive: {type: joint, joint: carriage, reference: {type: live, value: 0.0}}}
"""
TASKS = """schema: 1
tasks: {hold: {type: joint, joint: arm, reference: {type: constant, value: 0.3}}}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "arm.yaml").write_text(MECHANISM)
    (tmp_path / "tasks.yaml").write_text(TASKS)
    return str(tmp_path / "arm.yaml")


def point(*numbers: float) -> JointTrajectoryPoint:
    """Value, rate and acceleration."""
    parts = [array("d", [number]) for number in numbers]
    return JointTrajectoryPoint(positions=parts[0], velocities=parts[1], accelerations=parts[2])


def sample(*numbers: float) -> dict[str, ReferenceSample]:
    return {"drive": ReferenceSample(*(np.array([number]) for number in numbers))}


def until_near(ros: Ros, say: Any, heard: Any, expected: np.ndarray, what: str) -> None:
    """Repeat something until what is heard is what is expected, but for rounding."""
    ros.until(lambda: say() or np.allclose(heard(), expected, rtol=0.0, atol=1e-9), what)


@pytest.mark.slow
def test_simulator_and_forward_dynamics_follow(
    ros: Ros, start_node: StartProcess, file: str
) -> None:
    start_node("simulator", parameters={"mechanism": file, "paused": True})
    start_node("forward_dynamics", parameters={"mechanism": file})
    mechanism = Mechanism.from_file(file)
    state = mechanism.start()
    node = ros.node()
    reference = node.create_publisher(JointTrajectoryPoint, TOPIC, 10)
    motions = Ear(node, JointTrajectory, "forward_dynamics/dynamics")
    states = Ear(node, JointState, "joint_states")

    def acceleration() -> np.ndarray:
        return np.array(motions.next(ros).points[0].accelerations)

    standing = mechanism.dynamics().evaluate(state).qdd
    until_near(ros, lambda: None, acceleration, standing, "a carriage at rest")
    pulled = mechanism.dynamics().evaluate(state, Inputs(references=sample(0.0, 0.0, 2.0))).qdd
    assert pulled[0] == pytest.approx(2.0, abs=1e-9)
    assert abs(pulled[1] - standing[1]) > 1.0, "the arm feels it"
    until_near(ros, lambda: reference.publish(point(0.0, 0.0, 2.0)), acceleration, pulled, "a pull")

    step = node.create_client(Trigger, "simulator/step")
    reset = node.create_client(Trigger, "simulator/reset")

    def moved() -> np.ndarray:
        assert ros.call(step, Trigger.Request()).success
        message = states.next(ros)
        return np.array([message.position[0], message.velocity[0]])

    # rows are closed by projection, positions and velocities
    until_near(
        ros, lambda: reference.publish(point(0.01, 0.2, 0.0)), moved, np.array([0.01, 0.2]), "a way"
    )
    assert ros.call(reset, Trigger.Request()).success
    ros.until(lambda: states.next(ros).position[0] == 0.0, "the value of the file")


@pytest.mark.slow
def test_completer_and_controller_follow(ros: Ros, start_node: StartProcess, file: str) -> None:
    tasks = str(Path(file).with_name("tasks.yaml"))
    start_node("joint_state_completer", parameters={"mechanism": file})
    far = {"position_jump": 10.0, "residual_limit": 10.0, "state_timeout": 60.0}
    start_node(
        "servo_controller",
        parameters={
            "mechanism": file,
            "tasks": tasks,
            "autostart": True,
            "update_rate": 0.0,
            **far,
        },
    )
    mechanism = Mechanism.from_file(file)
    node = ros.node()
    reference = node.create_publisher(JointTrajectoryPoint, TOPIC, 10)
    measured = node.create_publisher(JointState, "measured_joint_states", 10)
    states = Ear(node, JointState, "joint_states")
    commands = Ear(node, Float64MultiArray, "effort_controller/commands")
    law = ServoController(mechanism, Tasks.from_file(tasks, mechanism))
    milliseconds = 0

    def say(*numbers: float) -> None:
        nonlocal milliseconds
        milliseconds += 1
        if numbers:
            reference.publish(point(*numbers))
        message = JointState(name=["arm"], position=[0.3], velocity=[0.0])
        seconds, rest = divmod(milliseconds, 1000)
        message.header.stamp = Time(sec=100 + seconds, nanosec=rest * 1_000_000)
        measured.publish(message)

    def effort() -> np.ndarray:
        heard = len(commands.messages)
        for _ in range(20):  # so nothing piles up, and what got lost is said again
            if len(commands.messages) > heard:
                break
            ros.spin_once()
        return np.array(commands.messages[-1].data if commands.messages else [np.nan])

    def place() -> np.ndarray:
        effort()  # the controller's answer to a state that the completer may have sent before
        return np.array(states.messages[-1].position[:2])

    def expected(*numbers: float) -> np.ndarray:
        law.structure = sample(*numbers)
        q, v = np.array([numbers[0], 0.3]), np.array([numbers[1], 0.0])
        return law.command(State(0.0, q, v)).efforts

    still, pulled = expected(0.0, 0.0, 0.0), expected(0.25, 0.0, 2.0)
    assert abs(still[0] - pulled[0]) > 0.5, "the arm feels it"
    until_near(ros, say, effort, still, "the weight")
    until_near(ros, lambda: say(0.25, 0.0, 2.0), effort, pulled, "weight and pull")
    until_near(
        ros, lambda: say(0.25, 0.0, 2.0), place, np.array([0.25, 0.3]), "the carriage in its place"
    )

    diagnostics = DiagnosticsEar(node, "servo_controller")
    reference.publish(point(float("nan"), 0.0, 0.0))
    diagnostics.until(ros, "positions has nan")
    assert TOPIC in diagnostics.values["last_message_problem"]
    until_near(ros, say, effort, pulled, "the last usable one")


@pytest.mark.slow
def test_who_comes_late_knows_the_time_of_a_machine_that_moves_by_itself(
    ros: Ros, start_node: StartProcess
) -> None:
    """The particle turns by 1 rad/s, whoever looks; stamps are those of the wall clock."""
    particle = {"mechanism": "spiral_particle"}
    start_node("simulator", parameters={**particle, "paused": True, "rate": 10.0})
    node = ros.node()
    step = node.create_client(Trigger, "simulator/step")
    for _ in range(10):
        assert ros.call(step, Trigger.Request()).success
    start_node("forward_dynamics", parameters=particle)
    rows = Ear(node, JointState, "forward_dynamics/constraint_states")
    # stamps are rounded to ns; a node that counts from the first state it hears is off by 1 rad
    ros.until(lambda: np.abs(rows.next(ros).position).max() < 1e-8, "the same t")
