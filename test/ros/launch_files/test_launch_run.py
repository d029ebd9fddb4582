# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The launch files, run: everything starts, drives, and ends in order when it is interrupted.

ros2_control is played by peers that stand in an ament prefix of their own; launch and the nodes are
the real ones.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.repository import ROOT

pytest.importorskip("rclpy")
# a directory of this name stands beside the package, so only a module of launch tells
pytest.importorskip("launch.actions")
pytest.importorskip("launch_ros")

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.nodes.node_process import NodeProcess
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros
from support.peers import peer_controller_manager

import uk_dynamics as ukd

pytestmark = pytest.mark.ros

PEERS = Path(peer_controller_manager.__file__)
MARKERS = (
    "joint_state_broadcaster",
    "forward_command_controller",
    "joint_state_topic_hardware_interface",
)
START = 90.0  # s for nine processes that start at once, on a busy computer
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
file, *given = sys.argv[1:]
source = PythonLaunchDescriptionSource(file)
arguments = [argument.split(":=", 1) for argument in given]
service = LaunchService()
included = IncludeLaunchDescription(source, launch_arguments=arguments)
service.include_launch_description(LaunchDescription([included]))
sys.exit(service.run())
"""


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An ament prefix with the nodes of this package and the peers of ros2_control."""
    top = tmp_path / "prefix"
    executables = {
        "uk_dynamics": [
            "simulator",
            "forward_dynamics",
            "joint_state_completer",
            "servo_controller",
            "command_watchdog",
            "recorder",
        ],
        "controller_manager": ["ros2_control_node", "spawner"],
        "robot_state_publisher": ["robot_state_publisher"],
        **{package: [] for package in MARKERS},
    }
    index = top / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    for package, names in executables.items():
        (index / package).touch()
        library = top / "lib" / package
        library.mkdir(parents=True)
        for name in names:
            what = f"-m uk_dynamics.ros.nodes {name}"
            if package != "uk_dynamics":
                what = f"{PEERS} {name}"
            (library / name).write_text(
                f"#!/bin/sh\nexport PYTHONPATH={ROOT / 'test'}:$PYTHONPATH\n"
                f'exec {sys.executable} {what} "$@"\n'
            )
            (library / name).chmod(0o755)
    return top


@pytest.fixture
def launched(prefix: Path, tmp_path: Path) -> Iterator[list[NodeProcess]]:
    """Processes that run launch, each with its children in a group, as in a terminal."""
    processes: list[NodeProcess] = []
    yield processes
    for process in processes:
        if process.running:
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(START) in (0, 1)


def launch(prefix: Path, directory: Path, file: str, *arguments: str) -> NodeProcess:
    env = {
        # without the tests' profile of Fast DDS, in the place of which launch sets its own
        **{name: text for name, text in os.environ.items() if "DEFAULT_PROFILES" not in name},
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "AMENT_PREFIX_PATH": str(prefix),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
    }
    command = [sys.executable, "-c", LAUNCH, str(ROOT / "launch" / file), *arguments]
    return NodeProcess(command, directory / "launch.log", env=env, new_session=True)


def ends(output: str) -> list[str]:
    """Names of processes in the order in which they ended."""
    found = re.findall(r"\[(\w+)-\d+\]: process has (?:finished|died)", output)
    return [str(name) for name in found]


def mapped(output: str) -> dict[str, str]:
    """What the processes that run have in their memory, by their names."""
    found = re.findall(r"\[(\S+)\]: process started with pid \[(\d+)\]", output)
    files = {name: Path("/proc", pid, "maps") for name, pid in found}
    return {name: file.read_text() for name, file in files.items() if file.exists()}


@pytest.mark.parametrize("way", ["terminal", pytest.param("launch alone", marks=pytest.mark.slow)])
def test_simulation_behind_ros2_control_drives_and_ends_with_zero_efforts(
    ros: Ros, prefix: Path, launched: list[NodeProcess], tmp_path: Path, way: str
) -> None:
    process = launch(
        prefix,
        tmp_path,
        "simulation.launch.py",
        "ros2_control:=true",
        "mechanism:=five_bar",
        "tasks:=five_bar_sweep",
        "namespace:=left",
        "rate:=100",
    )
    launched.append(process)
    node = ros.node()
    states = Ear(node, JointState, "/left/joint_states")
    commands = Ear(node, Float64MultiArray, "/left/effort_controller/commands")
    # a computer that does other work may let states jump, and the controller stop by itself then
    ros.until(lambda: any(message.data[0] for message in commands.messages), "efforts", START)
    ros.until(lambda: any(any(state.effort) for state in states.messages), "states")
    assert [name for name, maps in mapped(process.output).items() if "/dev/shm/fast" in maps] == []
    if way == "terminal":
        os.killpg(process.pid, signal.SIGINT)
    else:  # it believes that its processes have been interrupted too, and terminates them later
        os.kill(process.pid, signal.SIGINT)
    ros.until(lambda: not process.running, "the end", START)
    assert process.exit_code == 0
    output = process.output
    assert "Traceback" not in output
    order = ends(output)
    assert order.index("servo_controller") < order.index("command_watchdog")
    assert order[-1] == "ros2_control_node"
    assert "deactivating effort_controller at [0.0]" in output
    ros.until(lambda: commands.messages[-1].data[0] == 0.0, "the last word")


@pytest.mark.slow
def test_a_simulation_is_recorded_to_its_end(
    ros: Ros, prefix: Path, launched: list[NodeProcess], tmp_path: Path
) -> None:
    pytest.importorskip("mcap_ros2")
    recording = tmp_path / "run.mcap"
    process = launch(
        prefix,
        tmp_path,
        "simulation.launch.py",
        "mechanism:=five_bar",
        "tasks:=five_bar_sweep",
        "rate:=100",
        f"record:={recording}",
    )
    launched.append(process)
    commands = Ear(ros.node(), Float64MultiArray, "effort_controller/commands")
    ros.until(lambda: any(message.data[0] for message in commands.messages), "efforts", START)
    ros.until(lambda: len(commands.messages) > 50, "half a second")
    os.killpg(process.pid, signal.SIGINT)
    ros.until(lambda: not process.running, "the end", START)
    assert process.exit_code == 0
    order = ends(process.output)
    assert order.index("servo_controller") < order.index("recorder")
    motion = ukd.Trajectory.load(recording)
    assert not motion.warnings  # such as that it was cut short
    assert motion.names.motors == ("crank_motor",)
    assert len(motion.t) > 20
    assert np.abs(motion.efforts).max() > 0.0


NEEDED = (
    "ros2_control_node",
    "simulator",
    "joint_state_completer",
    "servo_controller",
    "command_watchdog",
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name != "servo_controller" else [])
        for name in NEEDED
    ],
)
def test_everything_ends_with_any_process_that_the_machine_needs(
    ros: Ros, prefix: Path, launched: list[NodeProcess], tmp_path: Path, name: str
) -> None:
    process = launch(
        prefix,
        tmp_path,
        "simulation.launch.py",
        "ros2_control:=true",
        "mechanism:=five_bar",
        "tasks:=five_bar_sweep",
        "rate:=100",
    )
    launched.append(process)
    states = Ear(ros.node(), JointState, "joint_states")
    ros.until(lambda: any(any(state.effort) for state in states.messages), "efforts", START)
    (pid,) = re.findall(rf"{name}-\d+\]: process started with pid \[(\d+)\]", process.output)
    # the process behind setsid, if that has not become it
    os.kill(int(pid), signal.SIGKILL)
    ros.until(lambda: not process.running, "the end", START)
    assert process.exit_code == 1
    assert f"{name} has ended (exit code -9): everything ends" in process.output
    assert set(NEEDED) <= set(ends(process.output))
    if name == "servo_controller":  # of which heartbeats may be missed for 10 s
        assert "commanding zero efforts" in process.output
        assert "escalating" not in process.output  # none had to be terminated
    assert "Traceback" not in process.output


def test_what_is_not_installed_is_named_and_nothing_is_started(
    prefix: Path, launched: list[NodeProcess], tmp_path: Path
) -> None:
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    (index / "forward_command_controller").unlink()
    process = launch(prefix, tmp_path, "simulation.launch.py", "ros2_control:=true")
    launched.append(process)
    assert process.wait(START) == 1
    assert "not installed, or not sourced: forward_command_controller; try" in process.output
    assert "process started" not in process.output
    assert "Traceback" not in process.output
