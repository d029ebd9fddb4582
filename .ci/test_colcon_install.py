# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The package in a ROS workspace: built by colcon, found through the ament index, its nodes run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.nodes.ros_fixtures import Ros, StartProcess
from support.repository import ROOT

EXECUTABLES = {
    "uk_dynamics",
    "simulator",
    "forward_dynamics",
    "joint_state_completer",
    "servo_controller",
    "command_watchdog",
    "viewer",
    "wrench_observer",
    "markers",
    "recorder",
}
PATIENCE = 60.0  # s; nothing of the new installation is compiled or cached yet

LOCATE = """
import ament_index_python, uk_dynamics
from uk_dynamics.resources import share_directory
print(ament_index_python.get_package_share_directory("uk_dynamics"))
print(share_directory())
print(uk_dynamics.__file__)
"""


class Workspace:
    """A workspace that is built, and the environment of a shell that sourced it."""

    def __init__(self, directory: Path, *options: str) -> None:
        self.directory = directory
        self.prefix = directory / "install" / "uk_dynamics"
        self.executables = self.prefix / "lib" / "uk_dynamics"
        # ROS from wheels has no setup file; its index is the environment itself.
        underlay = {**os.environ, "AMENT_PREFIX_PATH": sys.prefix}
        build = ["build", "--base-paths", str(ROOT), "--packages-select", "uk_dynamics", *options]
        self._run(["colcon", *build], underlay)
        sourced = self._run(["bash", "-c", ". install/setup.bash && env -0"], underlay)
        self.env = dict(line.split("=", 1) for line in sourced.split("\0") if line)
        self.env["AMENT_PREFIX_PATH"] += os.pathsep + sys.prefix

    def run(self, *command: str) -> str:
        """Run a command as from a shell that sourced the workspace; return its output."""
        return self._run(list(command), self.env)

    def _run(self, command: list[str], env: dict[str, str]) -> str:
        result = subprocess.run(
            command,
            cwd=self.directory,
            env=env,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


@pytest.fixture(scope="module", params=[[], ["--symlink-install"]], ids=["copied", "symlinked"])
def workspace(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("workspace"), *request.param)


def test_share_directory_is_found_through_the_ament_index(workspace: Workspace) -> None:
    index, share, code = workspace.run(sys.executable, "-c", LOCATE).splitlines()
    assert index == str(workspace.prefix / "share" / "uk_dynamics")
    if Path(code).resolve().is_relative_to(ROOT):
        assert share == str(ROOT), "symlinked code goes with the files beside it"
    else:
        assert share == index
        assert Path(code).is_relative_to(workspace.prefix)


def test_every_shipped_file_is_installed(workspace: Workspace) -> None:
    share = workspace.prefix / "share" / "uk_dynamics"
    for top in ("launch", "config", "urdf", "rviz", "layouts"):
        for file in (ROOT / top).rglob("*.*"):
            if file.is_file() and "__pycache__" not in file.parts:
                assert (share / file.relative_to(ROOT)).read_bytes() == file.read_bytes()


def test_executables_are_where_ros2_run_looks(workspace: Workspace) -> None:
    assert {path.name for path in workspace.executables.iterdir()} == EXECUTABLES


def test_installed_command(workspace: Workspace) -> None:
    file = str(workspace.prefix / "share" / "uk_dynamics" / "config" / "four_bar.yaml")
    command = str(workspace.executables / "uk_dynamics")
    assert "mobility" in workspace.run(command, "describe", file)


def test_installed_simulator_publishes_and_ends_on_ctrl_c(
    workspace: Workspace, ros: Ros, start_process: StartProcess
) -> None:
    from sensor_msgs.msg import JointState

    file = "package://uk_dynamics/config/four_bar.yaml"
    command = [str(workspace.executables / "simulator"), "--ros-args", "-p", f"mechanism:={file}"]
    simulator = start_process(command, env=workspace.env, cwd=workspace.directory)
    received: list[JointState] = []
    ros.node().create_subscription(JointState, "joint_states", received.append, 10)
    ros.until(lambda: received or not simulator.running, "joint_states", PATIENCE)
    assert received, simulator.output
    assert received[0].name
    assert simulator.stop(signal.SIGINT) == 0, simulator.output


@pytest.mark.parametrize(
    "executable", ["forward_dynamics", "joint_state_completer", "servo_controller"]
)
def test_other_installed_nodes_appear_and_end_on_ctrl_c(
    executable: str, workspace: Workspace, ros: Ros, start_process: StartProcess
) -> None:
    file = "package://uk_dynamics/config/four_bar.yaml"
    command = [str(workspace.executables / executable), "--ros-args", "-r", "__node:=installed"]
    command += ["-p", f"mechanism:={file}"]
    process = start_process(command, env=workspace.env, cwd=workspace.directory)
    tester = ros.node()
    ros.until(
        lambda: "installed" in tester.get_node_names() or not process.running, "the node", PATIENCE
    )
    assert process.running, process.output
    assert process.stop(signal.SIGINT) == 0, process.output
