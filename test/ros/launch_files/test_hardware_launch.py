# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""hardware.launch.py: arguments described, nodes in order, motors driven only when all is ready."""

from __future__ import annotations

import importlib.util
import re
from types import SimpleNamespace
from typing import Any

import pytest
from support.repository import ROOT

# a directory of this name stands beside the package, so only a module of launch tells
pytest.importorskip("launch.actions")
pytest.importorskip("launch_ros")

from launch import LaunchContext
from launch.actions import (
    DeclareLaunchArgument,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch_ros.actions import Node
from launch_ros.utilities import evaluate_parameters

from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.process import launch_files as launching

pytestmark = pytest.mark.ros

FILE = ROOT / "launch" / "hardware.launch.py"
BEFORE = {
    "robot_state_publisher",
    "ros2_control_node",
    "spawner",
    "joint_state_completer",
    "command_watchdog",
}


@pytest.fixture
def launch_file(monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location("hardware_launch", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for place in (module, launching):
        monkeypatch.setattr(place, "installed", lambda package: True)
    return module


def started(launch_file: Any, **given: str) -> tuple[dict[str, Any], Any]:
    """Nodes by executable, and what follows the end of the spawner."""
    context = LaunchContext()
    context.launch_configurations.update(given)
    description = launch_file.generate_launch_description()
    for entity in description.entities:
        if isinstance(entity, DeclareLaunchArgument):
            entity.execute(context)
    (function,) = (e for e in description.entities if isinstance(e, OpaqueFunction))
    actions = function.execute(context)
    (handler,) = (a for a in actions if isinstance(a, RegisterEventHandler))
    nodes = {a.node_executable: a for a in actions if isinstance(a, Node)}

    def after(returncode: int) -> list[Any]:
        event = SimpleNamespace(action=nodes["spawner"], returncode=returncode)
        return list(handler.event_handler.handle(event, context))

    return nodes, after


def test_every_argument_is_described_and_has_a_default(launch_file: Any) -> None:
    arguments = launch_file.generate_launch_description().get_launch_arguments()
    assert {argument.name for argument in arguments} == {n for n, _, _ in launch_file.ARGUMENTS}
    for argument in arguments:
        assert re.search(r"\.( Valid choices are: .*)?$", argument.description)
        assert argument.default_value is not None


def test_motors_are_driven_when_controllers_are_active_and_never_before(launch_file: Any) -> None:
    nodes, after = started(launch_file, mechanism="five_bar", tasks="five_bar_sweep")
    assert set(nodes) == BEFORE
    (servo,) = (action for action in after(0) if isinstance(action, Node))
    assert servo.node_executable == "servo_controller"
    assert any(isinstance(action, Shutdown) for action in after(1))


def test_whoever_watches_comes_when_asked_for(launch_file: Any) -> None:
    pytest.importorskip("viser")
    pytest.importorskip("mcap_ros2")
    nodes, _ = started(launch_file, view="true", rviz="true", record="run.mcap")
    assert set(nodes) == BEFORE | {"viewer", "markers", "rviz2", "recorder"}


def test_who_hears_a_floating_base_is_told_where_it_comes_from(launch_file: Any) -> None:
    pytest.importorskip("viser")
    given = {"base_source": "tf", "base_twist": "child", "base_lag": "0.02"}
    nodes, after = started(
        launch_file, tasks="five_bar_sweep", observe="true", view="true", rviz="true", **given
    )
    (servo,) = (action for action in after(0) if isinstance(action, Node))
    heard = [servo, *(nodes[name] for name in ("wrench_observer", "viewer", "markers"))]
    for node in heard:
        told: dict[str, Any] = {}
        for parameters in evaluate_parameters(LaunchContext(), node._Node__parameters):
            told.update(parameters)
        assert {name: told[name] for name in given} == {**given, "base_lag": 0.02}
    with pytest.raises(InputError, match=r"^base_lag: expected a number from 0 on, found "):
        started(launch_file, base_lag="late")


def test_without_tasks_nobody_drives(launch_file: Any) -> None:
    _, after = started(launch_file, mechanism="five_bar")
    assert not any(isinstance(action, Node) for action in after(0))
    nodes, _ = started(launch_file, mechanism="five_bar", watchdog="false")
    assert set(nodes) == BEFORE - {"command_watchdog"}


def test_all_that_is_missing_is_named_at_once(
    launch_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "installed", lambda package: package != "controller_manager")
    with pytest.raises(InputError, match=r"controller_manager; try: sudo apt install ros-\S+r$"):
        started(launch_file)
    monkeypatch.setattr(launching, "installed", lambda package: "joint_state" not in package)
    missing = "joint_state_broadcaster, joint_state_topic_hardware_interface;"
    with pytest.raises(InputError, match=missing):
        started(launch_file, hardware=launch_file.TOPIC)


def test_numbers_and_files_are_checked_before_anything_starts(launch_file: Any) -> None:
    for rate in ("0", "2.5", "fast", "nan"):
        with pytest.raises(InputError, match=f'^rate: expected a whole number .*found "{rate}"'):
            started(launch_file, rate=rate)
    with pytest.raises(InputError, match=r"^state_timeout: expected a number from 0\.001 on"):
        started(launch_file, tasks="five_bar_sweep", state_timeout="0")
    with pytest.raises(InputError, match="neither a file nor a shipped"):
        started(launch_file, tasks="nope")
    for mechanism, remedy in (
        ("landing_leg", r"write measured: \[knee, height, hip\]"),
        ("coordinated_robots", "write joint: right_wrist, and give the factor -1 to its drive"),
    ):
        with pytest.raises(InputError, match=f"^{mechanism}.yaml: .*{remedy}$"):
            started(launch_file, mechanism=mechanism)
