# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The topics between ros2_control and the nodes, with small peers that do as it documents.

The peers are made from the files that ``uk_dynamics ros2-control`` writes, and hear of the machine
by ``robot_description``, as a controller_manager does.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.repository import DOCS

pytest.importorskip("rclpy")

from array import array

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool
from support.mechanism_builder import shipped
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess
from support.peers.peer_controller_manager import LATCHED, ControllerManager

from uk_dynamics.conversion.ros2_control_files import (
    BROADCASTER,
    EFFORT_CONTROLLER,
    TOPIC,
    complete_description,
    controllers,
)
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import share_directory
from uk_dynamics.ros.nodes.joint_state_completer import JointStateCompleter

pytestmark = pytest.mark.ros

RATE = 100
TRAJECTORIES = "joint_trajectory_controller"
# Nothing is compiled while others wait.
INTERPRETED = {"backend": "interpreted"}
# A computer that does other work lets states jump.
PATIENCE = {**INTERPRETED, "state_timeout": 5.0, "position_jump": 10.0, "listener_timeout": 30.0}
GUIDE = DOCS / "hardware.md"


def manager(
    ros: Ros, directory: Path, mechanism: Mechanism, plugin: str = TOPIC, more: Any = None
) -> ControllerManager:
    """A controller_manager with the hardware of a mechanism, not yet with controllers."""
    parameters = yaml.safe_load(controllers(mechanism, RATE))
    for node, values in (more or {}).items():
        given = parameters.setdefault(node, {"ros__parameters": {}})
        given["ros__parameters"].update(values["ros__parameters"])
    file = directory / "controllers.yaml"
    file.write_text(yaml.safe_dump(parameters))
    peer = ControllerManager(ros.node, cli_args=["--ros-args", "--params-file", str(file)])
    description = ros.node("describer").create_publisher(String, "robot_description", LATCHED)
    description.publish(String(data=complete_description(mechanism, plugin)))
    ros.until(lambda: peer.hardware, "robot_description")
    return peer


def machine(start_node: StartProcess, name: str) -> None:
    start_node(
        "simulator",
        parameters={
            "mechanism": name,
            **INTERPRETED,
            "rate": 200,
            "command_mode": "joint_state",
            "paused": True,
        },
        remappings={"joint_states": "machine_joint_states"},
    )


def gentle(name: str, tasks: str, directory: Path) -> str:
    """Shipped tasks with feedback that bears the delays of a computer that does other work."""
    text = (share_directory() / "config" / "tasks" / f"{name}_{tasks}.yaml").read_text()
    file = directory / "tasks.yaml"
    file.write_text(text + "defaults: {stabilization: {frequency: 0.8, damping_ratio: 1.0}}\n")
    return str(file)


def run(ros: Ros, peer: ControllerManager, states: Ear, count: int) -> list[JointState]:
    """Let the machine move for some states, and return them."""
    client = peer.node.create_client(SetBool, "simulator/pause")
    ros.call(client, SetBool.Request(data=False))
    heard = len(states.messages)
    ros.until(lambda: len(states.messages) > heard + count, f"{count} states under control")
    return states.messages[heard:]


@pytest.mark.slow
def test_a_machine_behind_forward_command_controller_follows_its_task(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    name = "stewart_platform"
    mechanism = shipped(name)
    machine(start_node, name)
    peer = manager(ros, tmp_path, mechanism)
    (hardware,) = peer.hardware
    simulator = DiagnosticsEar(peer.node, "simulator")
    ros.until(
        lambda: int(simulator.values.get("ignored_messages", "0")) > 20,
        "commands before activation to be ignored and counted",
    )
    assert "is nan" in simulator.values["last_message_problem"]

    peer.order = lambda names: sorted(names, reverse=True)
    broadcaster = peer.load(BROADCASTER)
    assert set(broadcaster.names) == set(mechanism.measured.names)
    assert broadcaster.names != list(mechanism.measured.names), "an order of its own"
    peer.activate(BROADCASTER)
    start_node("joint_state_completer", parameters={"mechanism": name})
    states = Ear(peer.node, JointState, "joint_states")
    ros.until(lambda: states.messages, "complete states")
    assert tuple(states.messages[-1].name) == mechanism.joint_names

    forward = peer.load(EFFORT_CONTROLLER)
    motors = [motor.joints[0][0] for motor in mechanism.spec.actuators]
    assert forward.keys == [f"{joint}/effort" for joint in motors]
    peer.activate(EFFORT_CONTROLLER)
    tasks = {"tasks": gentle(name, "heave_roll", tmp_path), "autostart": True, "update_rate": RATE}
    controller = start_node("servo_controller", parameters={"mechanism": name, **tasks, **PATIENCE})
    ros.until(lambda: np.isfinite(list(hardware.commands.values())).all(), "the first command")
    before = peer.hardware[0].sent
    moving = run(ros, peer, states, 60)
    for state in moving:
        residual = mechanism.dynamics().residual(mechanism.state(state.position, state.velocity))
        assert np.abs(residual.position).max() < 1e-9
        assert np.abs(residual.velocity).max() < 1e-9
        # held against gravity; by itself the platform would fall by 1.8 m in that time
        assert np.abs(np.subtract(state.position, moving[0].position)).max() < 0.3
    # by joint, what the broadcaster has in an order of its own is what was commanded
    driven = [mechanism.joint_names.index(joint) for joint in motors]
    assert any(np.array(state.effort)[driven].any() for state in moving)
    assert hardware.sent > before + 50, "a threshold of -1 sends every command"

    controller.stop(signal.SIGTERM)
    ros.until(lambda: not any(hardware.commands.values()), "zero efforts at the hardware")
    assert EFFORT_CONTROLLER in peer.active, "the controller was still there to pass them on"


def documented_parameters() -> Any:
    """The block for joint_trajectory_controller in the guide."""
    blocks = re.findall(r"^```yaml\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    (block,) = [text for text in blocks if TRAJECTORIES in text]
    return yaml.safe_load(block)


@pytest.mark.slow
def test_a_machine_behind_joint_trajectory_controller_follows_and_is_held(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    file = tmp_path / "weightless.yaml"  # so that gains need not carry any weight
    text = (share_directory() / "config" / "five_bar.yaml").read_text()
    file.write_text(text.replace("model:", "model:\n  gravity: [0.0, 0.0, 0.0]", 1))
    name = str(file)
    machine(start_node, name)
    parameters = documented_parameters()
    # soft: they bear the delays of a computer that does other work
    parameters[TRAJECTORIES]["ros__parameters"]["gains"] = {"crank": {"p": 12.0, "d": 12.0}}
    peer = manager(ros, tmp_path, Mechanism.from_file(name), more=parameters)
    peer.load(BROADCASTER)
    peer.activate(BROADCASTER)
    start_node("joint_state_completer", parameters={"mechanism": name})
    follower = peer.load(TRAJECTORIES)
    (hardware,) = peer.hardware
    ros.until(lambda: np.isfinite(list(hardware.states.values())).all(), "the machine")
    peer.activate(TRAJECTORIES)
    states = Ear(peer.node, JointState, "joint_states")
    controller = start_node(
        "servo_controller",
        parameters={
            "mechanism": name,
            "tasks": "five_bar_sweep",
            "autostart": True,
            "command_mode": "trajectory",
            "update_rate": RATE,
            **PATIENCE,
        },
    )
    ros.until(lambda: follower.accepted > 10, "trajectories")
    run(ros, peer, states, 100)
    # from rest at 0.6 rad into the sweep around 0.9
    ros.until(lambda: states.messages[-1].position[0] > 0.65, "the sweep")
    # what a busy computer delivers late is refused here as by the real one; nothing else is
    assert set(follower.refused) <= {"ends in the past"}
    assert not follower.holding
    angles = [state.position[0] for state in states.messages]
    assert min(angles) > 0.3
    assert max(angles) < 1.6

    controller.send_signal(signal.SIGKILL)
    controller.wait()
    ros.until(lambda: follower.holding, "cmd_timeout")
    ros.until(lambda: abs(states.messages[-1].velocity[0]) < 0.1, "rest")
    assert abs(states.messages[-1].position[0] - angles[-1]) < 0.5


# Which states a maker's hardware exports is its own choice: positions alone are enough.
ENCODERS = {
    "position, velocity and effort": ("position", "velocity", "effort"),
    "no effort": ("position", "velocity"),
    "position alone": ("position",),
}


@pytest.mark.parametrize("interfaces", ENCODERS.values(), ids=ENCODERS)
def test_states_that_the_hardware_lacks_are_found_without(
    ros: Ros, tmp_path: Path, interfaces: tuple[str, ...]
) -> None:
    text = (share_directory() / "config" / "five_bar.yaml").read_text()
    spec = MechanismSpec.from_text(text + "measured: [middle, crank]\n", file="variant.yaml")
    mechanism = Mechanism.from_spec(spec)
    file = tmp_path / "variant.yaml"
    file.write_text(text + "measured: [middle, crank]\n")
    peer = manager(ros, tmp_path, mechanism, "my_drives/Drives")
    (hardware,) = peer.hardware
    assert set(hardware.commands) == {"crank/effort"}
    assert "middle/effort" not in hardware.states
    for key in [key for key in hardware.states if key.partition("/")[2] not in interfaces]:
        del hardware.states[key]
    broadcaster = peer.load(BROADCASTER)
    assert broadcaster.names == ["crank", "middle"], "motors first, and other encoders"
    peer.activate(BROADCASTER)
    ros.add(JointStateCompleter(**overrides(mechanism=str(file))))
    states = Ear(peer.node, JointState, "joint_states")
    measured = Ear(peer.node, JointState, "measured_joint_states")
    machine = ros.node("machine").create_publisher(JointState, "robot_joint_states", 10)
    angle = 0.7

    def move() -> bool:
        message = JointState(name=["middle", "crank", "coupler"])
        message.position = array("d", [angle, angle, -angle])
        message.velocity = array("d", [0.0, 0.0, 0.0])
        message.effort = array("d", [0.0, 2.0, 0.0])
        machine.publish(message)
        return bool(states.messages) and abs(states.messages[-1].position[0] - angle) < 1e-9

    ros.until(move, "complete states")
    ros.until(lambda: abs(states.messages[-1].velocity[0]) < 1e-3, "rest")
    np.testing.assert_allclose(
        states.messages[-1].position, [angle, -angle, angle, angle], atol=1e-9, rtol=0
    )
    lacking = measured.messages[-1]
    assert np.isnan(lacking.effort).sum() == (1 if "effort" in interfaces else 2)
    effort = list(states.messages[-1].effort)
    assert effort == ([2.0, 0.0, 0.0, 0.0] if "effort" in interfaces else [0.0] * 4)


def test_a_command_of_the_wrong_size_ends_the_controller_and_ours_never_is(
    ros: Ros, tmp_path: Path
) -> None:
    peer = manager(ros, tmp_path, shipped("stewart_platform"))
    forward = peer.load(EFFORT_CONTROLLER)
    peer.activate(EFFORT_CONTROLLER)
    commands = ros.node().create_publisher(Float64MultiArray, "effort_controller/commands", 10)
    ros.until(commands.get_subscription_count, "the controller")
    commands.publish(Float64MultiArray(data=[np.nan] * 6))
    ros.until(lambda: forward.dropped, "a command that is not finite")
    commands.publish(Float64MultiArray(data=[1.0] * 5))
    ros.until(lambda: EFFORT_CONTROLLER not in peer.active, "the end of the controller")
