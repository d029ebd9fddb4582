# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The launch file: every argument described, the right nodes with the right parameters."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from support.repository import ROOT

# a directory of this name stands beside the package, so only a module of launch tells
pytest.importorskip("launch.actions")
pytest.importorskip("launch_ros")

from launch import LaunchContext
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch_ros.utilities import evaluate_parameters

from uk_dynamics.conversion.ros2_control_files import TOPIC
from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.process import launch_files as launching

pytestmark = pytest.mark.ros

EXAMPLES = ROOT / "examples"
FILE = ROOT / "launch" / "simulation.launch.py"


def loaded(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("launch_file", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def launch_file() -> Any:
    return loaded(FILE)


def started(launch_file: Any, **given: str) -> dict[str, Any]:
    """Nodes that are started with some arguments, by executable."""
    context = LaunchContext()
    context.launch_configurations.update(given)
    description = launch_file.generate_launch_description()
    for entity in description.entities:
        if isinstance(entity, DeclareLaunchArgument):
            entity.execute(context)
    (function,) = (e for e in description.entities if isinstance(e, OpaqueFunction))
    actions = function.execute(context)
    return {getattr(action, "node_executable", "included"): action for action in actions}


def test_every_argument_is_described_and_has_a_default(launch_file: Any) -> None:
    arguments = launch_file.generate_launch_description().get_launch_arguments()
    assert {argument.name for argument in arguments} == {n for n, _, _ in launch_file.ARGUMENTS}
    for argument in arguments:
        assert re.search(r"\.( Valid choices are: .*)?$", argument.description)
        assert argument.default_value is not None


def test_controller_comes_with_tasks(launch_file: Any) -> None:
    assert "servo_controller" not in started(launch_file, mechanism="five_bar")
    nodes = started(launch_file, mechanism="five_bar", tasks="five_bar_sweep")
    assert {"simulator", "forward_dynamics", "servo_controller"} <= set(nodes)


def test_what_an_argument_cannot_be_is_said_before_anything_starts(launch_file: Any) -> None:
    for given, text in (
        ({"rate": "fast"}, '^rate: expected a number from 1 on, found "fast"'),
        ({"rate": "0.5"}, "^rate: expected a number from 1 on"),
        ({"rate": "99.5", "ros2_control": "true"}, "^rate: expected a whole number"),
        ({"start_on_tasks": "true"}, "^start_on_tasks: needs tasks"),
        ({"real_time_factor": "-1"}, "^real_time_factor: expected a number from 0 on"),
        ({"mechanism": "nope"}, "neither a file nor a shipped mechanism file"),
        ({"tasks": "nope"}, "neither a file nor a shipped tasks file"),
        ({"tasks": "stewart_platform_heave_roll"}, "stewart_platform_heave_roll"),
    ):
        with pytest.raises(InputError, match=text):
            started(launch_file, **given)
    with pytest.raises(RuntimeError, match="yes"):  # launch's own, with the choices
        started(launch_file, paused="yes")
    assert started(launch_file, paused="True")


def test_rviz_comes_where_it_is_installed(
    launch_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pretend(there: bool) -> None:
        for place in (launch_file, launching):
            monkeypatch.setattr(place, "installed", lambda package: there)

    pretend(True)
    assert {"robot_state_publisher", "markers", "rviz2"} <= set(started(launch_file))
    assert not {"markers", "rviz2"} & set(started(launch_file, rviz="false"))
    pretend(False)
    assert not {"robot_state_publisher", "markers", "rviz2"} & set(started(launch_file))
    with pytest.raises(InputError, match="rviz: not installed, or not sourced: rviz2; try"):
        started(launch_file, rviz="true")
    with pytest.raises(RuntimeError, match="auto"):
        started(launch_file, rviz="yes")


def test_view_and_recording_come_when_asked_for(
    launch_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("viser")
    pytest.importorskip("mcap_ros2")
    assert not {"viewer", "recorder"} & set(started(launch_file))
    nodes = started(launch_file, tasks="five_bar_sweep", view="true", record="run.mcap")
    assert {"viewer", "recorder"} <= set(nodes)
    with pytest.raises(InputError, match="name a file that ends in"):
        started(launch_file, record="run.bag")
    monkeypatch.setattr(launching.importlib.util, "find_spec", lambda name: None)
    for given, missing in (({"view": "true"}, "viser"), ({"record": "run.mcap"}, "mcap_ros2")):
        with pytest.raises(InputError, match=f"{missing} is not installed here; try: pip install"):
            started(launch_file, **given)


def test_one_argument_puts_ros2_control_between_machine_and_nodes(launch_file: Any) -> None:
    given = {"mechanism": "five_bar", "tasks": "five_bar_sweep", "rviz": "false"}
    nodes = started(launch_file, **given, ros2_control="true", namespace="left", rate="250")
    assert set(nodes) == {"simulator", "forward_dynamics", "included"}
    arguments = dict(nodes["included"].launch_arguments)  # RViz and its like are started there
    expected = {"hardware": TOPIC, "rate": "250", "namespace": "left", "tasks": "five_bar_sweep"}
    assert expected.items() <= arguments.items()
    assert arguments["use_sim_time"] == "true"


def test_real_time_goes_with_a_manager_and_at_its_own_pace(launch_file: Any) -> None:
    nodes = started(launch_file, ros2_control="true", real_time="true")
    arguments = dict(nodes["included"].launch_arguments)
    assert arguments["use_sim_time"] == "false"
    # its stamps of joints are not the simulator's of the base
    (told, *_) = (
        parameters
        for parameters in evaluate_parameters(
            LaunchContext(), nodes["forward_dynamics"]._Node__parameters
        )
        if "base_lag" in parameters
    )
    assert told["base_lag"] == float(arguments["base_lag"]) > 0.0
    nodes = started(launch_file, ros2_control="true", real_time_factor="0")
    assert "base_lag" not in dict(nodes["included"].launch_arguments)
    with pytest.raises(InputError, match=r"^priority: goes with real_time:=true"):
        started(launch_file, ros2_control="true", priority="1")
    with pytest.raises(InputError, match=r"^priority: expected at most 48, found 49"):
        started(launch_file, ros2_control="true", real_time="true", priority="49")
    for given, place in (
        ({"ros2_control": "true", "real_time_factor": "0.5"}, "real_time_factor"),
        ({"ros2_control": "true", "publish_clock": "true"}, "publish_clock"),
        ({}, "real_time"),
    ):
        with pytest.raises(InputError, match=f"^{place}: goes with"):
            started(launch_file, real_time="true", **given)


@pytest.mark.parametrize(
    "file", sorted(EXAMPLES.glob("*/bringup.launch.py")), ids=lambda file: file.parent.name
)
def test_an_example_starts_the_simulation_with_its_own_files(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ament_index_python import packages

    monkeypatch.setattr(packages, "get_package_share_directory", lambda package: str(ROOT))
    (include,) = loaded(file).generate_launch_description().entities
    assert isinstance(include, IncludeLaunchDescription)
    nodes = started(loaded(FILE), **dict(include.launch_arguments), rviz="false")
    assert {"simulator", "forward_dynamics", "servo_controller"} <= set(nodes)
    source = include.launch_description_source
    source.get_launch_description(LaunchContext())
    assert Path(source.location) == FILE
