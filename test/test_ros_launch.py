"""The launch file: every argument described, the right nodes with the right parameters."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

# a directory of this name stands beside the package, so only a module of launch tells
pytest.importorskip("launch.actions")
pytest.importorskip("launch_ros")

from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from uk_dynamics.control.ros2_control_files import TOPIC
from uk_dynamics.exceptions import InputError

pytestmark = pytest.mark.ros

FILE = Path(__file__).resolve().parent.parent / "launch" / "simulation.launch.py"


@pytest.fixture
def launch_file() -> Any:
    spec = importlib.util.spec_from_file_location("simulation_launch", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
        assert argument.description.endswith(".")
        assert argument.default_value is not None


def test_controller_comes_with_tasks(launch_file: Any) -> None:
    assert "servo_controller" not in started(launch_file, mechanism="five_bar")
    nodes = started(launch_file, mechanism="five_bar", tasks="five_bar_sweep")
    assert {"simulator", "forward_dynamics", "servo_controller"} <= set(nodes)


def test_view_comes_where_it_is_installed(
    launch_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_file, "installed", lambda package: True)
    nodes = started(launch_file)
    assert {"robot_state_publisher", "rviz2"} <= set(nodes)
    assert "rviz2" not in started(launch_file, rviz="false")
    monkeypatch.setattr(launch_file, "installed", lambda package: False)
    assert not {"robot_state_publisher", "rviz2"} & set(started(launch_file))


def test_one_argument_puts_ros2_control_between_machine_and_nodes(launch_file: Any) -> None:
    given = {"mechanism": "five_bar", "tasks": "five_bar_sweep", "rviz": "false"}
    nodes = started(launch_file, **given, ros2_control="true", namespace="left", rate="250")
    assert set(nodes) == {"simulator", "forward_dynamics", "included"}
    arguments = dict(nodes["included"].launch_arguments)
    expected = {"hardware": TOPIC, "rate": "250", "namespace": "left", "tasks": "five_bar_sweep"}
    assert expected.items() <= arguments.items()
    for factor in ("0.5", "0"):
        with pytest.raises(InputError, match="publish_clock"):
            started(launch_file, ros2_control="true", real_time_factor=factor)
    started(launch_file, ros2_control="true", real_time_factor="0.5", publish_clock="true")
