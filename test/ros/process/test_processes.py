# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Nodes as a user starts them: processes that talk over DDS and end when they are told to."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from support.nodes.node_process import NodeProcess, node_command
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from support.waiting import wait_until
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics import Inputs, Mechanism, Tasks
from uk_dynamics.compilation.build import is_cached
from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import share_directory
from uk_dynamics.ros.demo import demo, demonstration
from uk_dynamics.ros.process.node_processes import NodeProcesses
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = pytest.mark.ros


@pytest.fixture
def start_node(start_process: StartProcess, tmp_path: Path) -> StartProcess:
    """Start nodes with all their imports, not forked from a process that has done them."""

    def start(executable: str, **arguments: Any) -> NodeProcess:
        return start_process(node_command(executable, directory=tmp_path, **arguments))

    return start


DELAYED = pytest.mark.retry(reason="a loaded computer delays commands, which the machine feels")
DEMO = """
import argparse, sys
from uk_dynamics.ros.demo import demo
parser = argparse.ArgumentParser()
demo.register(parser.add_subparsers())
arguments = parser.parse_args()
sys.exit(arguments.run(arguments))
"""


def demo_command(*arguments: str) -> list[str]:
    # as the command line runs it, but without the entry point that only an installation has
    return [sys.executable, "-c", DEMO, "demo", *arguments]


def children(process: NodeProcess) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in listed.read_text().split()] if listed.exists() else []


@DELAYED
def test_three_nodes_close_the_loop_and_end_in_order(ros: Ros, start_node: StartProcess) -> None:
    files = {"mechanism": "five_bar", "tasks": "five_bar_sweep"}
    mechanism_only = {"mechanism": "five_bar"}
    simulator = start_node(
        "simulator",
        # slow enough that a busy computer cannot delay the control by many steps
        parameters={**mechanism_only, "rate": 100, "real_time_factor": 0.3, "paused": True},
        namespace="arm",
    )
    dynamics = start_node("forward_dynamics", parameters=mechanism_only, namespace="arm")
    controller = start_node(
        "servo_controller",
        parameters={**files, "autostart": True, "state_timeout": 5.0},
        namespace="arm",
    )
    node = ros.node()
    states = Ear(node, JointState, "/arm/joint_states")
    commands = Ear(node, Float64MultiArray, "/arm/effort_controller/commands")
    motions = Ear(node, JointTrajectory, "/arm/forward_dynamics/dynamics")
    ros.until(lambda: states.messages and motions.messages, "simulator and forward_dynamics")
    # until it hears the first state the controller commands zero
    ros.until(lambda: commands.messages and commands.messages[-1].data[0] != 0.0, "controller")
    ros.call(node.create_client(SetBool, "/arm/simulator/pause"), SetBool.Request(data=False))
    start = nanoseconds(states.messages[0].header.stamp)

    def time_of(message: JointState) -> float:
        return (nanoseconds(message.header.stamp) - start) * 1e-9

    ros.until(lambda: time_of(states.messages[-1]) > 0.9, "0.9 s of motion")

    moving = [message for message in states.messages if time_of(message) > 0.0]
    steps = np.diff([nanoseconds(message.header.stamp) for message in moving])
    assert set(steps % 10_000_000) == {0}, "stamps are whole steps apart, also where one is lost"
    for message in moving:
        if time_of(message) > 0.3:
            reference = 0.9 - 0.3 * np.cos(np.pi * time_of(message))
            # efforts are held for a step of 10 ms and come at least one step late
            assert message.position[0] == pytest.approx(reference, abs=0.05)

    mechanism = Mechanism.from_file("five_bar")
    efforts = {nanoseconds(message.header.stamp): message.effort for message in moving}
    compared = 0
    for motion in motions.messages:
        effort = efforts.get(nanoseconds(motion.header.stamp))
        if effort is None:
            continue
        compared += 1
        point = motion.points[0]
        state = mechanism.state(point.positions, point.velocities)
        terms = mechanism.terms(state, Inputs(tau=np.array(effort)))
        # rounding of accelerations of size 100
        np.testing.assert_allclose(terms.A @ point.accelerations, terms.b, atol=1e-9, rtol=0)
    assert compared > 10

    assert controller.stop(signal.SIGINT) == 0
    ros.until(lambda: commands.messages[-1].data[0] == 0.0, "the last word: zero effort")
    dynamics.send_signal(signal.SIGINT)  # Ctrl-C reaches a node twice: by terminal and by launch
    assert dynamics.stop(signal.SIGINT) == 0
    assert simulator.stop(signal.SIGTERM) == 0
    for process in (controller, dynamics, simulator):
        assert "Traceback" not in process.output


def test_mistakes_of_the_user_are_one_line_and_exit_code_two(start_node: StartProcess) -> None:
    started = {
        "parameter rate:": start_node("simulator", parameters={"rate": -1.0}),
        "parameter tasks: name a tasks file": start_node(
            "servo_controller", parameters={"mechanism": "five_bar", "autostart": True}
        ),
    }
    for text, process in started.items():
        assert process.wait() == 2, process.output
        lines = [line for line in process.output.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1
        assert text in lines[0]
        assert "Traceback" not in process.output


@pytest.mark.slow
@DELAYED
def test_demo_follows_its_task_and_leaves_picture_and_numbers(
    start_process: StartProcess, tmp_path: Path
) -> None:
    tasks = tmp_path / "swing.yaml"
    reference = "{type: sinusoid, offset: 0.9, amplitude: 0.3, frequency: 0.5}"
    tasks.write_text(
        f"schema: 1\ntasks: {{swing: {{type: joint, joint: crank, reference: {reference}}}}}"
    )
    out = tmp_path / "demo"
    where = ("--tasks", str(tasks), "--start-on-tasks", "--out", str(out))
    # slow motion, so that a busy computer cannot delay the control by many steps
    slowly = ("--duration", "0.6", "--rate", "100", "--real-time-factor", "0.3")
    process = start_process(demo_command("five_bar", *where, *slowly))
    assert process.wait(180.0) == 0, process.output
    assert "tracking error" in process.output
    assert (out / "five_bar.png").stat().st_size > 10_000
    numbers = json.loads((out / "five_bar.json").read_text())
    assert numbers["exit_codes"] == dict.fromkeys(
        ("simulator", "forward_dynamics", "servo_controller"), 0
    )
    assert numbers["lowest_rank"] == numbers["highest_rank"] == 3
    assert numbers["largest_violation"] < 1e-12
    with np.load(out / "five_bar.npz") as recorded:
        assert recorded["t"][-1] >= 0.6
        # it starts on its tasks; from its usual start it would be off by 0.3 rad
        assert np.abs(recorded["tracking_error"][0]).max() < 1e-9
        assert np.abs(recorded["tracking_error"]).max() < 0.02


def prepared(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the demo does before it starts nodes, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(directory))
    monkeypatch.delenv("UK_DYNAMICS_BACKEND")
    files = {"file": "five_bar", "start_on_tasks": False, "view": None}
    asked = Namespace(**files, rate=500.0, real_time_factor=1.0)
    demonstration.Demonstration(asked, "five_bar_sweep")


def test_demo_that_cannot_compile_says_so_and_is_interpreted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", str(tmp_path / "cc"))
    prepared(tmp_path, monkeypatch)
    said = capfd.readouterr().err.splitlines()
    assert [line.partition(": CC is")[0] for line in sorted(said)] == [
        "uk_dynamics: five_bar is not compiled but interpreted",
        "uk_dynamics: the servo law of five_bar is not compiled but interpreted",
    ]


@pytest.mark.slow
def test_demo_has_compiled_everything_before_its_nodes_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    prepared(tmp_path, monkeypatch)
    mechanism = Mechanism.from_file("five_bar")
    assert is_cached(mechanism)
    assert is_cached(Tasks.from_file("five_bar_sweep", mechanism))


def test_demo_without_tasks_cannot_start_on_them(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    demo.register(parser.add_subparsers())
    words = ["demo", "rolling_disc", "--start-on-tasks", "--out", str(tmp_path / "demo")]
    arguments = parser.parse_args(words)
    with pytest.raises(InputError, match="--start-on-tasks needs --tasks"):
        arguments.run(arguments)


@pytest.mark.slow
def test_demo_without_tasks_lets_the_mechanism_move_by_itself(
    start_process: StartProcess, tmp_path: Path
) -> None:
    file = tmp_path / "falling.yaml"
    file.write_text((share_directory() / "config" / "five_bar.yaml").read_text())
    out = tmp_path / "demo"
    process = start_process(
        demo_command(str(file), "--duration", "0.5", "--rate", "100", "--out", str(out))
    )
    assert process.wait(180.0) == 0, process.output
    assert "constraints satisfied" in process.output
    numbers = json.loads((out / "falling.json").read_text())
    assert numbers["exit_codes"] == {"simulator": 0, "forward_dynamics": 0}
    # RK4 at 10 ms: the energy of a pendulum of some 10 J is kept to a millionth
    assert abs(numbers["energy_change"]) < 1e-4
    assert numbers["energy_range"] > 1.0


@pytest.mark.slow
def test_demo_is_shown_in_the_browser_and_leaves_no_processes_when_interrupted(
    start_process: StartProcess, tmp_path: Path
) -> None:
    pytest.importorskip("viser", reason="needs viser")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    out = ("--out", str(tmp_path / "demo"))
    process = start_process(
        demo_command("five_bar", "--view", str(port), "--duration", "600", *out)
    )

    def served() -> bool:
        assert process.running, process.output
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=1.0) as page:
                return b"<html" in page.read().lower()
        except OSError:
            return False

    wait_until(served, "the page", 120.0)
    process.wait_for_output("tracking error", 120.0)  # it moves
    nodes = children(process)
    assert len(nodes) == 4  # three, and the viewer
    process.stop(signal.SIGINT)
    assert [pid for pid in nodes if Path(f"/proc/{pid}").exists()] == []


def five_bar_demo(out: Path, rate: float) -> demonstration.Demonstration:
    asked = Namespace(
        file="five_bar",
        rate=rate,
        real_time_factor=1.0,
        start_on_tasks=False,
        view=None,
        record=False,
        out=out,
        duration=0.1,
        tolerance=1.0,
    )
    return demonstration.Demonstration(asked, None)


@pytest.mark.slow
def test_demo_whose_node_fails_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert five_bar_demo(tmp_path, rate=1e9).run() == 1
    said = capfd.readouterr().out.partition("simulator ended early")[2]
    assert "parameter rate" in said


@pytest.mark.slow
def test_demo_says_which_node_has_not_ended_in_order(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killing(NodeProcesses):
        def stop(self, patience: float = 20.0) -> dict[str, int]:
            self["simulator"].kill()
            return super().stop(patience)

    monkeypatch.setattr(demonstration, "NodeProcesses", Killing)
    assert five_bar_demo(tmp_path, rate=100.0).run() == 1
    said = capfd.readouterr().out
    assert "constraints satisfied" in said
    assert f"simulator ended with exit code {-signal.SIGKILL}" in said
    assert "forward_dynamics ended" not in said


@pytest.mark.slow
def test_a_node_that_does_not_end_says_where_it_stands(tmp_path: Path) -> None:
    node = "command_watchdog"
    with NodeProcesses(tmp_path) as processes:
        processes.start(node, {"mechanism": "five_bar"})
        wait_until(lambda: "waiting for" in processes.last_lines(node), "the start")
        processes[node].send_signal(signal.SIGSTOP)
        with pytest.raises(TimeoutError, match=r"command_watchdog:(.|\n)* in run_node\n"):
            processes.stop(patience=0.2)
        assert processes.stop() == {node: -signal.SIGABRT}


def test_a_node_takes_its_real_time_priority_or_says_why_not(start_node: StartProcess) -> None:
    take = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(3))"
    refused = subprocess.run([sys.executable, "-c", take], capture_output=True).returncode
    process = start_node("command_watchdog", parameters={"mechanism": "five_bar", "priority": 3})
    if refused:
        wait_until(lambda: not process.running, what="the end")
        assert process.exit_code == 2
        assert "parameter priority: not permitted" in process.output
        return
    threads = Path("/proc", str(process.pid), "task")

    def policies() -> set[int]:
        return {os.sched_getscheduler(int(thread.name)) for thread in threads.iterdir()}

    wait_until(lambda: policies() == {os.SCHED_FIFO}, timeout=30.0, what="the priority")
    assert os.sched_getparam(process.pid).sched_priority == 3
