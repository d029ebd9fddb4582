# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parameters: declared from one table, checked at the start and whenever they are set."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("rclpy")

from rclpy.parameter import Parameter as RosParameter
from support.nodes.ros_fixtures import Ros

import uk_dynamics.conversion.ros2_control_files as files
from uk_dynamics.control.servo import MODES, TASKS
from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.parameters.parameter import (
    EFFORT_COMMANDS,
    JOINT_COMMANDS,
    TABLES,
    Parameter,
    Parameters,
)

pytestmark = pytest.mark.ros

TABLE = (
    Parameter("rate", 500.0, "Steps.", unit="Hz", bounds=(1.0, 1000.0), live=True),
    Parameter("count", 3, "How many.", bounds=(1, 100), live=True),
    Parameter("mode", "fast", "How.", choices=("fast", "exact"), live=True),
    Parameter("enabled", True, "Whether.", live=True),
    Parameter("file", "", "Which."),
)

WRONG = [
    ("rate", 0.5, "1"),
    ("rate", 1000.1, "1000"),
    ("rate", math.nan, "nan"),
    ("rate", math.inf, "inf"),
    ("rate", "fast", "number"),
    ("rate", True, "number"),
    ("rate", 2000, "1000 Hz"),
    ("count", 0, "1"),
    ("count", 2.5, "a whole number"),
    ("mode", "faster", "one of fast, exact"),
    ("enabled", 1, "true or false"),
    ("enabled", "yes", "true or false"),
]


def overrides(**values: object) -> dict[str, object]:
    return {"parameter_overrides": [RosParameter(name, value=v) for name, v in values.items()]}


@pytest.mark.parametrize(("name", "value", "reason"), WRONG)
def test_wrong_value_at_the_start_is_an_error_that_names_it(
    ros: Ros, name: str, value: object, reason: str
) -> None:
    node = ros.node(**overrides(**{name: value}))
    with pytest.raises(InputError, match=f"parameter {name}.*{reason}"):
        Parameters(node, TABLE)


@pytest.mark.parametrize(("name", "value", "reason"), WRONG)
def test_wrong_value_later_is_refused_and_changes_nothing(
    ros: Ros, name: str, value: object, reason: str
) -> None:
    node = ros.node()
    parameters = Parameters(node, TABLE)
    before = parameters[name]
    (result,) = node.set_parameters([RosParameter(name, value=value)])
    assert not result.successful
    assert reason in result.reason
    assert parameters[name] == before == node.get_parameter(name).value


def test_whole_numbers_are_numbers(ros: Ros) -> None:
    node = ros.node(**overrides(rate=250))
    parameters = Parameters(node, TABLE)
    assert isinstance(parameters["rate"], float)
    assert parameters["rate"] == 250.0
    (result,) = node.set_parameters([RosParameter("rate", value=300)])
    assert result.successful
    assert parameters["rate"] == 300.0


def test_listener_hears_of_changes_only_and_after_they_are_made(ros: Ros) -> None:
    node = ros.node()
    parameters = Parameters(node, TABLE)
    heard: list[float] = []
    parameters.on_change("rate", lambda: heard.append(parameters["rate"]))
    node.set_parameters([RosParameter("rate", value=100.0), RosParameter("count", value=4)])
    assert heard == [100.0]
    assert parameters["count"] == 4


def test_parameter_that_is_not_live_cannot_be_set_later(ros: Ros) -> None:
    node = ros.node(**overrides(file="five_bar"))
    parameters = Parameters(node, TABLE)
    assert parameters["file"] == "five_bar"
    (result,) = node.set_parameters([RosParameter("file", value="other")])
    assert not result.successful
    assert parameters["file"] == "five_bar"


@pytest.mark.parametrize("name", TABLES)
def test_table_of_a_node_is_declared_as_it_stands(ros: Ros, name: str) -> None:
    node = ros.node()
    parameters = Parameters(node, TABLES[name])
    for parameter in TABLES[name]:
        descriptor = node.describe_parameter(parameter.name)
        assert parameter.description in descriptor.description
        assert descriptor.read_only is not parameter.live
        assert parameters[parameter.name] == parameter.default
        assert parameter.problem(parameter.default) == ""
        assert descriptor.floating_point_range or not isinstance(parameter.default, float)


def test_topics_are_those_that_the_files_for_ros2_control_name() -> None:
    for node in ("servo_controller", "command_watchdog", "simulator"):
        (topic,) = (p.description for p in TABLES[node] if p.name == "command_topic")
        assert f"{files.EFFORT_CONTROLLER}/commands" in topic
        assert files.COMMANDS_TOPIC in topic
    assert f"{files.EFFORT_CONTROLLER}/commands" == EFFORT_COMMANDS
    assert files.COMMANDS_TOPIC == JOINT_COMMANDS


def test_modes_are_those_of_the_servo_law() -> None:
    (mode,) = (p for p in TABLES["servo_controller"] if p.name == "mode")
    assert mode.choices == MODES
    assert mode.default == TASKS


def test_more_parameters_come_and_go(ros: Ros) -> None:
    node = ros.node(**overrides(later=7.0, wrong=-1.0))
    parameters = Parameters(node, TABLE)
    later = Parameter("later", 1.0, "Later.", bounds=(0.0, math.inf), live=True)
    parameters.declare([later])
    assert parameters["later"] == 7.0
    (result,) = node.set_parameters([RosParameter("later", value=math.inf)])
    assert result.successful, "where no limit is, infinite is one"
    (result,) = node.set_parameters([RosParameter("later", value=math.nan)])
    assert not result.successful
    parameters.refuse("later", lambda value: "too small" if value < 1.0 else "")
    (result,) = node.set_parameters([RosParameter("later", value=0.5)])
    assert result.reason == "later: too small"
    assert parameters["later"] == math.inf
    parameters.forget(["later"])
    assert not node.has_parameter("later")
    wrong = Parameter("wrong", 1.0, "Wrong.", bounds=(0.0, 10.0))
    with pytest.raises(InputError, match="parameter wrong"):
        parameters.declare([later, wrong])
    assert not node.has_parameter("later"), "all of them or none"
