# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics ros2-control``: what is written keeps the contracts that ros2_control documents."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import xacro
import yaml
from support.mechanism_builder import arm, link, mechanism, shipped
from support.mechanism_builder import joint as urdf_joint
from urdf_parser_py.urdf import URDF

from uk_dynamics.cli.main import main
from uk_dynamics.control.estimation import EstimationStatus, StateCompletion
from uk_dynamics.conversion.ros2_control_files import (
    CONTROLLER_TYPES,
    EFFORT_CONTROLLER,
    MOCK,
    TOPIC,
    ZEROING_CONTROLLER,
    complete_description,
    controllers,
    hardware_block,
)
from uk_dynamics.exceptions import InputError

TYPES = (ZEROING_CONTROLLER, CONTROLLER_TYPES[EFFORT_CONTROLLER])
MECHANISMS = ("five_bar", "stewart_platform", "parallel_2dof", "slider_crank")
# The shipped robots that have as many motors as joints with encoders, and one that has not.
ENCODERS = "actuators: {m: {joint: j1, effort_limit: 7.0}}\nmeasured: [j2]\n"


def interfaces(joint: ET.Element, kind: str) -> list[str]:
    return [element.attrib["name"] for element in joint.findall(f"{kind}_interface")]


@pytest.mark.parametrize("plugin", [MOCK, TOPIC, "my_drives/EtherCatSystem"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_motors_have_commands_encoders_have_states_passive_joints_are_left_out(
    name: str, plugin: str
) -> None:
    machine = shipped(name)
    (system,) = ET.fromstring(hardware_block(machine, plugin)).findall("ros2_control")
    assert system.attrib == {"name": name, "type": "system"}
    hardware = system.find("hardware")
    assert hardware is not None
    assert hardware.findtext("plugin") == plugin
    joints = {joint.attrib["name"]: joint for joint in system.findall("joint")}
    driven = [joint for motor in machine.spec.actuators for joint, _ in motor.joints]
    assert list(joints) == driven, "the order of the motors"
    for joint, limit in zip(joints.values(), machine.actuators.effort_limits, strict=True):
        assert interfaces(joint, "command") == ["effort"]
        # an effort state beside the effort command, as JointStateTopicSystem wants
        assert interfaces(joint, "state") == ["position", "velocity", "effort"]
        parameters = joint.iterfind("command_interface/param")
        bounds = {p.attrib["name"]: float(p.text or "") for p in parameters}
        assert bounds == {"min": -limit, "max": limit}


def test_topics_are_set_and_every_command_is_sent() -> None:
    block = ET.fromstring(hardware_block(shipped("five_bar"), TOPIC, "left"))
    given = {p.attrib["name"]: p.text for p in block.iterfind("ros2_control/hardware/param")}
    assert given == {
        "joint_commands_topic": "/left/joint_commands",
        "joint_states_topic": "/left/machine_joint_states",
        "trigger_joint_command_threshold": "-1",
    }
    mock = ET.fromstring(hardware_block(shipped("five_bar"), MOCK, "left"))
    assert mock.find("ros2_control/hardware/param") is None


def test_encoders_without_motors_and_motors_without_encoders() -> None:
    machine = mechanism(arm((1.0, 1.0)), ENCODERS)
    (system,) = ET.fromstring(hardware_block(machine, MOCK)).findall("ros2_control")
    first, second = system.findall("joint")
    assert (interfaces(first, "command"), interfaces(first, "state")) == (["effort"], ["effort"])
    assert (interfaces(second, "command"), interfaces(second, "state")) == (
        [],
        ["position", "velocity"],
    )
    # a message of JointStateTopicSystem names all joints of its block, with efforts of the driven
    # ones: names and efforts would not fit together
    motors, encoders = ET.fromstring(hardware_block(machine, TOPIC)).findall("ros2_control")
    assert [j.attrib["name"] for j in motors.findall("joint")] == ["j1"]
    assert [j.attrib["name"] for j in encoders.findall("joint")] == ["j2"]
    topics = {e.text for e in (*motors.iter("param"), *encoders.iter("param"))}
    assert {"/joint_commands", "/encoders_joint_commands", "/machine_joint_states"} <= topics
    for joint in (*motors.findall("joint"), *encoders.findall("joint")):
        assert interfaces(joint, "state") == ["position", "velocity", "effort"]


def test_an_encoder_on_a_mimic_joint_counts_and_its_motor_is_refused() -> None:
    parts = link("base") + link("l1") + urdf_joint("j1", "base", "l1") + link("l2")
    parts += urdf_joint("j2", "base", "l2", more='<mimic joint="j1" multiplier="-2.0"/>')
    machine = mechanism(parts, "actuators: {m: {joint: j1}}\nmeasured: [j1, j2]\n")
    for plugin in (MOCK, TOPIC):
        joints = ET.fromstring(hardware_block(machine, plugin)).iter("joint")
        assert {j.attrib["name"]: j.get("mimic") for j in joints} == {"j1": None, "j2": "false"}
    driven = mechanism(parts, "actuators: {m: {joint: j2}}\n")
    with pytest.raises(InputError, match="drive j1"):
        hardware_block(driven, MOCK)


def test_limits_of_zero_do_not_keep_all_efforts_back() -> None:
    parts, text = link("base"), "actuators:\n"
    for name, limit in (
        ("none", ""),
        ("real", '<limit effort="5" velocity="2"/>'),
        ("no_effort", '<limit effort="0" velocity="2"/>'),
        ("no_velocity", '<limit effort="5" velocity="0.0"/>'),
    ):
        parts += link(f"{name}_link") + urdf_joint(name, "base", f"{name}_link", more=limit)
        text += f"  {name}_motor: {{joint: {name}, effort_limit: 5.0}}\n"
    block = ET.fromstring(hardware_block(mechanism(parts, text), MOCK))
    limits = {j.attrib["name"]: j.find("limits") for j in block.iter("joint")}
    assert {name: found is None for name, found in limits.items()} == {
        "none": True,
        "real": True,
        "no_effort": False,
        "no_velocity": False,
    }
    assert all(found.get("enable") == "false" for found in limits.values() if found is not None)


@pytest.mark.parametrize("name", MECHANISMS)
def test_controllers_take_the_motors_in_the_order_of_the_mechanism(name: str) -> None:
    machine = shipped(name)
    parameters = yaml.safe_load(controllers(machine, rate=800))
    manager = parameters["controller_manager"]["ros__parameters"]
    assert manager["update_rate"] == 800
    types = {key: value["type"] for key, value in manager.items() if isinstance(value, dict)}
    assert types == {
        "joint_state_broadcaster": "joint_state_broadcaster/JointStateBroadcaster",
        "effort_controller": "effort_controllers/JointGroupEffortController",
    }
    remap = manager["joint_state_broadcaster"]["node_options_args"]
    assert remap == ["--ros-args", "-r", "joint_states:=measured_joint_states"]
    controller = parameters["effort_controller"]["ros__parameters"]
    assert controller == {
        "joints": [motor.joints[0][0] for motor in machine.spec.actuators],
        "interface_name": "effort",
    }
    # every command interface that the controller claims is exported by the hardware
    block = ET.fromstring(hardware_block(machine, MOCK))
    exported = {
        f"{joint.attrib['name']}/{interface}"
        for joint in block.iter("joint")
        for interface in interfaces(joint, "command")
    }
    assert {f"{joint}/effort" for joint in controller["joints"]} == exported


def test_a_comment_says_what_to_write_where_effort_controllers_is_gone() -> None:
    machine, (zeroing, lasting) = shipped("five_bar"), TYPES
    text = controllers(machine)
    (advice,) = (line[2:] for line in text.splitlines() if line.startswith("# type: "))
    assert yaml.safe_load(advice) == {"type": lasting}
    edited = "".join(line for line in text.splitlines(keepends=True) if line[0] != "#")
    edited = edited.replace(f"type: {zeroing}", advice)
    assert edited == controllers(machine, effort_type=lasting), "nothing else has to change"


@pytest.mark.parametrize("name", ["parallel_2dof", "excavator", "five_bar"])
def test_mock_hardware_starts_where_the_loops_are_closed(name: str) -> None:
    machine = shipped(name)
    values = {
        joint.attrib["name"]: float(value.text or "nan")
        for joint in ET.fromstring(hardware_block(machine, MOCK)).iter("joint")
        for value in joint.iterfind(
            "state_interface[@name='position']/param[@name='initial_value']"
        )
    }
    completion = StateCompletion(machine)
    positions = np.array([values[name] for name in completion.encoders.names])
    found = completion.complete(positions, np.zeros(len(positions)))
    assert found.status is EstimationStatus.COMPLETE
    assert found.residual < 1e-9
    # real hardware reports nothing before it has measured
    assert "initial_value" not in hardware_block(machine, TOPIC)


def test_a_manager_may_update_more_often_than_states_are_published() -> None:
    parameters = yaml.safe_load(controllers(shipped("five_bar"), 200, updates=10))
    rates = {name: of["ros__parameters"].get("update_rate") for name, of in parameters.items()}
    assert rates == {
        "controller_manager": 2000,
        "effort_controller": None,  # every update
        "joint_state_broadcaster": 200,
    }
    # time comes as fast as it is answered: no rate is a fault there, while on hardware each is
    manager = parameters["controller_manager"]["ros__parameters"]["diagnostics"]["threshold"]
    assert manager["controller_manager"]["periodicity"]["mean_error"]["error"] > 1e6
    assert "diagnostics" not in controllers(shipped("five_bar"), 200)


def test_names_of_nodes_in_a_namespace() -> None:
    text = controllers(shipped("five_bar"), namespace="/left/")
    assert set(yaml.safe_load(text)) == {"/left/controller_manager", "/left/effort_controller"}


def test_complete_description_is_a_urdf_with_the_same_tree() -> None:
    machine = shipped("five_bar")
    text = complete_description(machine, MOCK)
    assert len(ET.fromstring(text).findall("ros2_control")) == 1
    before = URDF.from_xml_string(machine.model.description.text)
    after = URDF.from_xml_string(text)
    assert list(after.joint_map) == list(before.joint_map)
    assert list(after.link_map) == list(before.link_map)


def test_written_files_are_included_by_xacro_and_printed_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "bringup"
    assert main(["ros2-control", "five_bar", "--out", str(out)]) == 0
    printed = capsys.readouterr().out.split()
    assert [Path(line).name for line in printed] == [
        "five_bar.ros2_control.xacro",
        "five_bar_controllers.yaml",
    ]
    top = tmp_path / "top.urdf.xacro"
    top.write_text(
        '<robot name="five_bar" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f'<xacro:include filename="{printed[0]}"/></robot>'
    )
    expanded = ET.fromstring(xacro.process_file(str(top)).toxml())
    assert [e.attrib["name"] for e in expanded.findall("ros2_control/joint")] == ["crank"]
    assert main(["ros2-control", "five_bar"]) == 0
    text = capsys.readouterr().out
    for file in printed:
        assert Path(file).read_text() in text


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("actuators: {m: {joints: {j1: 1, j2: -1}}}", "actuators.m", "single joints"),
        ("actuators: {m: {joints: {j1: 2}}}", "actuators.m", "write joint: j1.* factor 2"),
        ("actuators: {m: {joint: j1}, n: {joint: j1}}", "actuators.n", "driven by m already"),
        ("measured: [j1]", "actuators", "no motors"),
    ],
)
def test_motors_that_ros2_control_cannot_command(text: str, place: str, reason: str) -> None:
    machine = mechanism(arm((1.0, 1.0)), text)
    for write in (lambda: hardware_block(machine, MOCK), lambda: controllers(machine)):
        with pytest.raises(InputError, match=reason) as caught:
            write()
        assert caught.value.place == place


@pytest.mark.parametrize(
    "arguments",
    [
        ["five_bar", "--hardware", "NoSlash"],
        ["five_bar", "--hardware", "a/b<c"],
        ["five_bar", "--out", "/dev/null/x"],
        ["no_such_mechanism"],
    ],
)
def test_mistakes_on_the_command_line_are_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ros2-control", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("rate", ["0", "fast", "10001", "2.5"])
def test_a_rate_is_a_whole_number(rate: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["ros2-control", "five_bar", "--rate", rate])
    assert "whole number from 1 to 10000" in capsys.readouterr().err


def test_what_was_written_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ros2-control", "five_bar", "--out", str(tmp_path), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert sorted(written["files"]) == sorted(map(str, tmp_path.iterdir()))
    assert main(["ros2-control", "five_bar", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["mechanism"] == written["mechanism"] == "five_bar"
    assert len(printed["texts"]) == 2
    for name, text in printed["texts"].items():
        assert (tmp_path / name).read_text(encoding="utf-8") == text
