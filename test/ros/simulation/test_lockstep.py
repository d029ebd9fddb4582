# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Simulator and controller exchange one state and one command per step, over DDS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros

from uk_dynamics import Mechanism, ServoController, Tasks
from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.ros.nodes.simulator import Simulator
from uk_dynamics.ros.simulation.simulated_machine import SimulatedMachine
from uk_dynamics.ros.simulation.simulation_time import Lockstep
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = pytest.mark.ros

RATE = 500
STEPS = 300
EVERYTHING = QoSProfile(depth=5000)
SIMULATOR = {
    "mechanism": "five_bar",
    "rate": float(RATE),
    "lockstep": True,
    "command_mode": "joint_state",
}
CONTROLLER = {
    "mechanism": "five_bar",
    "tasks": "five_bar_sweep",
    "command_mode": "joint_state",
    "autostart": True,
    "update_rate": float(RATE),
    "state_timeout": 100.0,
}


def _run(ros: Ros, start_node: Any, backend: str) -> tuple[dict[int, Any], dict[int, Any]]:
    """States and commands by stamp, of nodes in processes of their own."""
    node = ros.node()
    states: dict[int, Any] = {}
    commands: dict[int, Any] = {}

    def keep(table: dict[int, Any], message: JointState, *fields: str) -> None:
        values = [np.array(getattr(message, field)) for field in fields]
        table.setdefault(nanoseconds(message.header.stamp), values)

    node.create_subscription(
        JointState, "joint_states", lambda m: keep(states, m, "position", "velocity"), EVERYTHING
    )
    node.create_subscription(
        JointState, "joint_commands", lambda m: keep(commands, m, "effort"), EVERYTHING
    )
    processes = [
        start_node("simulator", parameters={**SIMULATOR, "backend": backend, "paused": True}),
        start_node("servo_controller", parameters={**CONTROLLER, "backend": backend}),
    ]
    topics = ("joint_states", "joint_commands")
    ros.until(lambda: all(node.count_publishers(topic) for topic in topics), "both nodes")
    ros.call(node.create_client(SetBool, "simulator/pause"), SetBool.Request(data=False))
    ros.until(lambda: max(states, default=0) >= STEPS * 10**9 // RATE, "the motion", 60.0)
    for process in processes:
        assert process.stop() == 0
    return states, commands


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_runs_are_identical_and_as_computed_without_ros(
    ros: Ros, start_node: Any, backend: str
) -> None:
    mechanism = Mechanism.from_file("five_bar")
    try:
        dynamics = mechanism.dynamics(backend)
    except CompilationError:
        pytest.skip("there is no C compiler")
    states, commands = _run(ros, start_node, backend)
    tasks = Tasks.from_file("five_bar_sweep", mechanism)
    controller = ServoController(mechanism, tasks, control_period=1.0 / RATE, backend=backend)
    machine = SimulatedMachine(mechanism, 1.0 / RATE, dynamics=dynamics)
    heard, rounding = 0, 0.0 if backend == "interpreted" else 1e-11
    for step in range(STEPS):
        stamp = step * 10**9 // RATE
        efforts = controller.command(State(stamp * 1e-9, machine.state.q, machine.state.v)).efforts
        if stamp in states and stamp in commands:
            heard += 1
            q, v = states[stamp]
            # nothing depends on when a message came
            np.testing.assert_allclose(q, machine.state.q, rtol=0.0, atol=rounding)
            np.testing.assert_allclose(v, machine.state.v, rtol=0.0, atol=rounding)
            # the node's law is in C where it is compiled: rounding of efforts of some tens of N m
            np.testing.assert_allclose(commands[stamp][0], efforts, rtol=0.0, atol=rounding)
        machine.command(efforts)
        machine.step()
    assert heard > 0.9 * STEPS, "the ears of a busy machine may miss some"


class Bench:
    """A simulator in lockstep, and a hand that answers it."""

    def __init__(self, ros: Ros, **parameters: Any) -> None:
        self.ros = ros
        self.simulator = ros.add(Simulator(**overrides(**{**SIMULATOR, **parameters})))
        self.node = ros.node()
        self.states = Ear(self.node, JointState, "joint_states")
        self.diagnostics = DiagnosticsEar(self.node, "simulator")
        self._commands = self.node.create_publisher(JointState, "joint_commands", 10)
        ros.until(
            lambda: self._commands.get_subscription_count() and self.states.messages, "a state"
        )

    @property
    def stamp(self) -> Time:
        return self.states.messages[-1].header.stamp

    def answer(self, stamp: Time, effort: float = 1.0) -> None:
        message = JointState(name=["crank"], effort=[effort])
        message.header.stamp = stamp
        self._commands.publish(message)

    def step(self) -> None:
        before = self.stamp
        self.answer(before)
        self.ros.until(lambda: self.stamp != before, "the next state")


def test_the_simulation_waits_and_says_its_state_again(ros: Ros) -> None:
    bench = Bench(ros)
    heard = len(bench.states.messages)
    ros.until(lambda: len(bench.states.messages) >= heard + 2, "the same state again")
    assert {nanoseconds(m.header.stamp) for m in bench.states.messages} == {0}
    bench.step()
    assert nanoseconds(bench.stamp) == 10**9 // RATE


def test_late_and_repeated_commands_are_recognised(ros: Ros) -> None:
    bench = Bench(ros)
    first = bench.stamp
    bench.step()
    second = bench.stamp
    bench.answer(first, effort=50.0)
    bench.diagnostics.until(ros, "late or repeated: answers t = 0 s, not 0.002 s")
    bench.answer(Time(sec=7), effort=50.0)
    bench.diagnostics.until(ros, "ahead of its state: answers t = 7 s, not 0.002 s")
    assert bench.stamp == second
    ros.until(lambda: bench.diagnostics.values.get("unexpected_commands") == "2", "the count")
    bench.step()


def test_efforts_are_held_between_states_that_are_published(ros: Ros) -> None:
    bench = Bench(ros, publish_rate=100.0)
    bench.step()
    assert nanoseconds(bench.stamp) == 10**7


def test_lockstep_needs_commands_with_a_stamp(ros: Ros) -> None:
    with pytest.raises(InputError, match="lockstep: needs command_mode joint_state"):
        Simulator(**overrides(**{**SIMULATOR, "command_mode": "effort_array"}))


def test_no_command_is_taken_while_none_is_awaited(ros: Ros) -> None:
    lockstep = Lockstep(ros.node(), lambda: None)
    assert lockstep.accept(Time()) == "no command is awaited"
    lockstep.expect(Time(sec=1))
    assert lockstep.accept(Time(sec=1)) == ""
    assert lockstep.accept(Time(sec=1)) == "no command is awaited"
    assert lockstep.unexpected == 2


def test_pause_and_resume(ros: Ros, tmp_path: Path) -> None:
    bench = Bench(ros)
    bench.step()
    bench.simulator._set_paused(True)
    before = bench.stamp
    bench.answer(before)
    bench.diagnostics.until(ros, "no command is awaited")
    bench.simulator._set_paused(False)
    bench.step()
    assert nanoseconds(bench.stamp) == 2 * nanoseconds(before)
