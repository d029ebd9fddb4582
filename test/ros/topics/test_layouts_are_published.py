# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every topic and field that the layouts name is there when the nodes run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("rclpy")

from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support import readme_parts
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics.cli.main import main
from uk_dynamics.resources import share_directory

pytestmark = [pytest.mark.ros, pytest.mark.slow]

MECHANISM = "five_bar"
STEP = re.compile(r"\.?(\w+)((?:\[[^\]]*\]|\{[^}]*\})*)")
PART = re.compile(r"\[([^\]]*)\]|\{(\w+)==(\"[^}]*\")\}")


def _juggled(topic: str, message: Any) -> Iterator[str]:
    """Names of series as PlotJuggler makes them of a message, see its ros_parser.cpp."""
    if isinstance(message, JointState):
        for field in ("position", "velocity", "effort"):
            for name, _ in zip(message.name, getattr(message, field), strict=False):
                yield f"{topic}/{name}/{field}"
    elif isinstance(message, DiagnosticArray):
        for status in message.status:
            for value in status.values:
                yield f"{topic}/{status.hardware_id}/{status.name}/{value.key}"
    else:
        yield from _flat(topic, message)


def _flat(path: str, value: Any) -> Iterator[str]:
    if hasattr(value, "get_fields_and_field_types"):
        for field in value.get_fields_and_field_types():
            yield from _flat(f"{path}/{field}", getattr(value, field))
    elif isinstance(value, int | float | str | bool):
        yield path
    else:
        for index, element in enumerate(value):
            yield from _flat(f"{path}[{index}]", element)


def _found(message: Any, path: str) -> list[Any]:
    """What a message path of Foxglove leads to."""
    values = [message]
    while path:
        step = STEP.match(path)
        assert step, path
        values = [getattr(value, step[1]) for value in values]
        for index, key, wanted in PART.findall(step[2]):
            if key:
                values = [v for v in values if getattr(v, key) == json.loads(wanted)]
            elif index == ":":
                values = [element for value in values for element in value]
            else:
                values = [value[int(index)] for value in values]
        path = path[step.end() :]
    return values


@pytest.fixture
def heard(ros: Ros, start_node) -> dict[str, list[Any]]:
    """Messages by topic, as the nodes publish them."""
    settings = {"mechanism": MECHANISM}
    start_node("forward_dynamics", parameters=settings)
    start_node("simulator", parameters={**settings, "rate": 100.0, "brakes": True})
    tasks = {"tasks": "five_bar_sweep", "autostart": True, "state_timeout": 10.0}
    start_node("servo_controller", parameters={**settings, **tasks, "update_rate": 100.0})
    node = ros.node()
    topics = {
        "/joint_states": JointState,
        "/effort_controller/commands": Float64MultiArray,
        "/forward_dynamics/dynamics": JointTrajectory,
        "/forward_dynamics/constraint_states": JointState,
        "/servo_controller/task_states": JointState,
        "/servo_controller/task_references": JointTrajectory,
        "/diagnostics": DiagnosticArray,
    }
    ears = [Ear(node, type_, topic) for topic, type_ in topics.items()]

    def told() -> bool:
        reports = [s for m in ears[-1].messages for s in m.status if "dynamics: d" in s.name]
        return all(ear.messages for ear in ears) and any(
            value.key == "energy" for status in reports for value in status.values
        )

    ros.until(told, "all topics", 60.0)
    return {ear.topic: ear.messages for ear in ears}


def test_every_curve_is_published(ros: Ros, heard, tmp_path):
    directory = tmp_path  # as shipped, and what is shown of tasks
    words = ["layouts", MECHANISM, "--tasks", "five_bar_sweep", "--out", str(directory)]
    assert main(words) == 0
    xml = ET.parse(directory / f"{MECHANISM}_plotjuggler.xml")
    curves = [curve.attrib["name"] for curve in xml.iter("curve")]
    assert len(curves) > 20
    missing, read = set(curves), dict.fromkeys(heard, 0)

    def published() -> bool:
        """Of each topic what came since the last look: nodes report once in a second."""
        for topic, messages in heard.items():
            for message in messages[read[topic] :]:
                missing.difference_update(_juggled(topic, message))
            read[topic] = len(messages)
        return not missing

    ros.until(published, "all curves")
    assert "/servo_controller/task_states/sweep/position" in curves

    panels = json.loads((directory / f"{MECHANISM}_foxglove.json").read_text())["configById"]
    paths = [path["value"] for panel in panels.values() for path in panel.get("paths", ())]
    told = [path for path in paths if path.startswith("/")]
    assert len(told) == len(curves)
    for path in told:
        topic, _, rest = path.partition(".")
        values = [value for message in heard[topic] for value in _found(message, rest)]
        assert values, path
        assert all(isinstance(float(value), float) for value in values), path
    assert all(float(path) for path in set(paths) - set(told))  # limits


def test_other_topics_and_services_are_those_of_the_nodes():
    """The table of docs/topics.md is held to the nodes by a test of its own."""
    known = {
        (way, f"/{name.replace('~', node).lstrip('/')}")
        for node, way, name, _ in readme_parts.table("topics")
    }
    file = share_directory() / "layouts" / f"{MECHANISM}_foxglove.json"
    panels = json.loads(file.read_text())["configById"]
    for topic in panels["3D!machine"]["topics"]:
        assert ("publishes", topic) in known
    assert ("publishes", panels["DiagnosticSummary!nodes"]["topicToRender"]) in known
    services = [p["serviceName"] for p in panels.values() if "serviceName" in p]
    assert len(services) == 4
    for service in services:
        assert ("service", service) in known
