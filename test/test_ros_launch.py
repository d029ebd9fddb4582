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
    return {node.node_executable: node for node in function.execute(context)}


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
