# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tables of topics, services and parameters in the documentation against the running nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.repository import DOCS

pytest.importorskip("rclpy")

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo
from support import readme_parts
from support.nodes.ros_fixtures import Ros

pytestmark = [pytest.mark.ros, pytest.mark.slow]

NODES = (
    "simulator",
    "forward_dynamics",
    "joint_state_completer",
    "wrench_observer",
    "servo_controller",
    "command_watchdog",
    "viewer",
    "markers",
    "recorder",
)
PAGE = DOCS / "reference" / "nodes.md"
CONSTRAINTS = ("middle_pin", "right_pin")
# What every ROS node has without being asked for.
COMMON = {"/rosout", "/parameter_events", "/clock", "/robot_description"}
EVERYWHERE = {"use_sim_time", "start_type_description_service"}
SETTINGS: dict[str, dict[str, Any]] = {
    "simulator": {"mechanism": "five_bar"},
    "forward_dynamics": {"mechanism": "five_bar"},
    "joint_state_completer": {"mechanism": "five_bar"},
    "wrench_observer": {"mechanism": "five_bar", "frame": "coupler_link", "axes": "z"},
    "command_watchdog": {"mechanism": "five_bar"},
    "viewer": {"mechanism": "five_bar", "tasks": "five_bar_track", "port": 0},
    "markers": {"mechanism": "five_bar", "tasks": "five_bar_track"},
    "recorder": {"mechanism": "five_bar", "file": "run.mcap"},
    "servo_controller": {"mechanism": "five_bar", "tasks": "five_bar_track", "autostart": True},
}


def _settings(node: str, directory: Path) -> dict[str, Any]:
    """Settings of a node; what it writes lies in a directory of its own."""
    settings = dict(SETTINGS[node])
    if "file" in settings:
        settings["file"] = str(directory / settings["file"])
    return settings


# What a name of docs/topics.md stands for with these settings.
PLACES = {"<task>": "track", "<motor>": "crank_motor"}


def _placed(name: str) -> str:
    for place, one in PLACES.items():
        name = name.replace(place, one)
    return name


def _full_names(node: str, name: str) -> set[str]:
    """What a name of docs/topics.md stands for in namespace / of the five-bar."""
    name = name.replace("~/", f"/{node}/")
    if not name.startswith("/"):
        name = f"/{name}"
    name = _placed(name)
    if "<frame_task>" in name or "<live_constraint>" in name:
        return set()  # the only task is one of a joint, and pins do not move by themselves
    if "<constraint>" in name:
        return {name.replace("<constraint>", constraint) for constraint in CONSTRAINTS}
    return {name}


def _documented(node: str, direction: str) -> dict[str, str]:
    return {
        full: type_
        for owner, way, name, type_ in readme_parts.table("topics")
        if owner == node and way == direction
        for full in _full_names(node, name)
    }


def _documented_defaults(node: str) -> dict[str, str]:
    """Defaults of the parameters that the page of nodes says a node has, by name."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {node}\n")[1].split("\n## ")[0]
    head = "| parameter | default |"
    lines = section[section.index(head) :].splitlines()[2:]
    rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    # the tasks file names none, and has neither robust nor adaptive nor observer
    rows = [row for row in rows if "<row>" not in row[0] and "tasks file has" not in row[1]]
    return {_placed(row[0].strip().strip("`")): row[1].strip().strip("`") for row in rows}


# What the graph calls the node of an endpoint whose own announcement has not come. A busy machine
# may wait for it in vain; the endpoint itself is then known, and here it is nobody else's.
UNNAMED = "_NODE_NAME_UNKNOWN_"


def _running(node: Node, name: str) -> dict[str, dict[str, str]]:
    """Topics and services of the node called ``name``, as discovery of endpoints shows them."""
    # the action is there where its messages are installed
    topics = [
        topic
        for topic, _ in node.get_topic_names_and_types()
        if topic not in COMMON and "/_action/" not in topic
    ]

    def of_the_node(find: Callable[[str], list[TopicEndpointInfo]]) -> dict[str, str]:
        return {
            topic: end.topic_type
            for topic in topics
            for end in find(topic)
            if end.node_name in (name, UNNAMED)
        }

    return {
        "publishes": of_the_node(node.get_publishers_info_by_topic),
        "subscribes": of_the_node(node.get_subscriptions_info_by_topic),
        "service": {
            service: types[0]
            for service, types in node.get_service_names_and_types()
            if not service.startswith(f"/{node.get_name()}/")
            and not types[0].startswith("simulation_interfaces/")  # where it is installed
        },
    }


@pytest.mark.parametrize("name", NODES)
def test_topics_and_services(ros: Ros, start_node, tmp_path, name):
    process = start_node(name, parameters=_settings(name, tmp_path))
    node = ros.node()

    for direction in ("publishes", "subscribes", "service"):
        documented = _documented(name, direction)

        def complete(direction=direction, documented=documented) -> bool:
            assert process.running, process.output
            return documented.items() <= _running(node, name)[direction].items()

        ros.until(complete, f"everything docs/topics.md says {name} {direction}: {documented}")
    for direction in ("publishes", "subscribes"):
        documented = _documented(name, direction)

        # an endpoint of the test before this one may be known a moment longer than it lives
        def nothing_else(direction=direction, documented=documented) -> bool:
            extra = _running(node, name)[direction].keys() - documented.keys()
            return all(topic.endswith("/transition_event") for topic in extra)

        ros.until(nothing_else, f"nothing else than docs/topics.md says {name} {direction}")


@pytest.mark.parametrize("name", NODES)
def test_parameters(ros: Ros, start_node, tmp_path, name):
    start_node(name, parameters=_settings(name, tmp_path))
    node = ros.node()
    listed = ros.call(
        node.create_client(ListParameters, f"/{name}/list_parameters"), ListParameters.Request()
    )
    own = set(listed.result.names) - EVERYWHERE
    defaults = _documented_defaults(name)
    assert set(defaults) == {p for p in own if not p.startswith("qos_overrides")}

    free = sorted(set(defaults) - SETTINGS[name].keys())
    values = ros.call(
        node.create_client(GetParameters, f"/{name}/get_parameters"),
        GetParameters.Request(names=free),
    ).values
    for parameter, value in zip(free, values, strict=True):
        actual = {
            1: str(value.bool_value).lower(),
            2: str(value.integer_value),
            3: str(value.double_value),
            4: value.string_value or '""',
        }[value.type]
        documented = defaults[parameter]
        if documented.startswith("of the "):  # a file's
            assert value.type == 3
        else:
            assert documented == actual, parameter
