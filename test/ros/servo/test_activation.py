# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Requests to activate servo_controller: yes when efforts flow, else no, and the reason."""

from __future__ import annotations

import subprocess
import sys
from array import array
from typing import Any

import pytest

pytest.importorskip("rclpy")

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.nodes.ros_ears import DiagnosticsEar, Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from support.waiting import DEADLINE

from uk_dynamics import Mechanism

pytestmark = pytest.mark.ros

COMMANDS = "effort_controller/commands"
SHORT = 0.4  # s: what is refused


class Bench:
    """servo_controller as a process, configured, and a machine at rest that talks if told to."""

    def __init__(
        self, ros: Ros, start_node: StartProcess, *, talks: bool = True, **parameters: Any
    ) -> None:
        self.ros, self.node = ros, ros.node()
        given = {
            "mechanism": "five_bar",
            "tasks": "five_bar_sweep",
            "backend": "interpreted",
            "state_timeout": 20.0,
            "update_rate": 0.0,
            **parameters,
        }
        self.process = start_node("servo_controller", parameters=given)
        self.diagnostics = DiagnosticsEar(self.node, "servo_controller")
        mechanism = Mechanism.from_file("five_bar")
        self.names, self.q = list(mechanism.joint_names), mechanism.assemble(crank=0.7)
        self.talks = talks  # what was sent before may be taken after an activation
        self._states = self.node.create_publisher(JointState, "joint_states", 10)
        self.node.create_timer(0.01, self._talk)
        self._change = self.node.create_client(ChangeState, "servo_controller/change_state")
        self._get = self.node.create_client(GetState, "servo_controller/get_state")
        assert self.change("configure")

    def _talk(self) -> None:
        if self.talks:
            message = JointState(name=self.names, position=array("d", self.q))
            message.velocity = array("d", [0.0] * len(self.q))
            message.header.stamp = self.node.get_clock().now().to_msg()
            self._states.publish(message)

    def ask(self, name: str) -> Future:
        transition = Transition(id=getattr(Transition, f"TRANSITION_{name.upper()}"))
        return self._change.call_async(ChangeState.Request(transition=transition))

    def change(self, name: str) -> bool:
        transition = Transition(id=getattr(Transition, f"TRANSITION_{name.upper()}"))
        request = ChangeState.Request(transition=transition)
        return bool(self.ros.call(self._change, request).success)

    def set(self, name: str, value: Any) -> None:
        client = self.node.create_client(SetParameters, "servo_controller/set_parameters")
        parameters = [Parameter(name, value=value).to_parameter_msg()]
        (result,) = self.ros.call(client, SetParameters.Request(parameters=parameters)).results
        assert result.successful, result.reason

    @property
    def phase(self) -> str:
        return str(self.ros.call(self._get, GetState.Request()).current_state.label)

    def expect_refusal(self, reason: str) -> None:
        assert not self.change("activate")
        assert self.phase == "inactive"
        assert reason in self.process.output.replace("\n", " ")
        self.diagnostics.until(self.ros, reason)


@pytest.mark.slow
def test_yes_means_that_efforts_flow_also_after_refusals(
    ros: Ros, start_node: StartProcess
) -> None:
    bench = Bench(ros, start_node, talks=False, start_timeout=SHORT)
    commands = Ear(bench.node, Float64MultiArray, COMMANDS)
    for _ in range(3):
        bench.expect_refusal(f"no efforts within {SHORT:g} s: no usable state on /joint_states")
        assert not any(message.data[0] for message in commands.messages)
    good, bench.q = bench.q, bench.q * float("nan")
    bench.talks = True

    def refused_for_the_states() -> bool:
        # on a busy computer they may not have come in so short a time
        assert not bench.change("activate")
        return "the last problem: joint_states" in bench.process.output.replace("\n", " ")

    ros.until(refused_for_the_states, "what is wrong with the states")
    bench.q = good
    bench.set("start_timeout", 20.0)
    for _ in range(3):
        heard = len(commands.messages)
        assert bench.change("activate")
        # the answer and the commands travel apart
        ros.until(
            lambda: any(abs(m.data[0]) > 1.0 for m in commands.messages[heard:]),  # noqa: B023
            "efforts sent before the answer; the last zero may come first",
        )
        assert bench.change("deactivate")


@pytest.mark.slow
def test_commands_without_a_subscriber_are_no_success(ros: Ros, start_node: StartProcess) -> None:
    bench = Bench(ros, start_node, start_timeout=SHORT)
    bench.expect_refusal(f"no subscriber takes /{COMMANDS}")


@pytest.mark.slow
def test_a_watchdog_that_is_required_and_not_there_is_named(
    ros: Ros, start_node: StartProcess
) -> None:
    bench = Bench(ros, start_node, start_timeout=SHORT, watchdog="required")
    commands = Ear(bench.node, Float64MultiArray, COMMANDS)
    bench.expect_refusal("there is no command_watchdog")
    assert not commands.messages


@pytest.mark.slow
def test_a_fault_at_the_start_is_the_answer(ros: Ros, start_node: StartProcess) -> None:
    bench = Bench(ros, start_node, start_timeout=20.0)
    Ear(bench.node, Float64MultiArray, COMMANDS)
    bench.q = bench.q + 0.1  # loops are open
    bench.expect_refusal("open_loop: ")


@pytest.mark.slow
def test_deactivation_ends_the_wait(ros: Ros, start_node: StartProcess) -> None:
    bench = Bench(ros, start_node, talks=False, start_timeout=60.0)
    asked = bench.ask("activate")
    again = bench.ask("activate")  # as clients do that have heard nothing
    ros.until(lambda: bench.phase == "active", "the wait")
    assert not asked.done()
    ended = bench.ask("deactivate")
    ros.until(lambda: asked.done() and again.done() and ended.done(), "all answers")
    assert not asked.result().success
    assert not again.result().success
    assert ended.result().success


FIRST_DECISION = """
import sys

import numpy as np
import rclpy
from rclpy.parameter import Parameter

from uk_dynamics.ros.nodes.servo_controller import ServoControllerNode

rclpy.init()
given = {"mechanism": "five_bar", "tasks": "five_bar_sweep", "backend": "interpreted"}
node = ServoControllerNode(parameter_overrides=[Parameter(n, value=v) for n, v in given.items()])
node.trigger_configure()
node.loop.prepare()
known = set(sys.modules)
node.loop.controller.restrict(np.array([1e-3]))  # N m, less than the task asks for
node.loop.controller.command(node.loop.mechanism.start())
node.loop._gain_check.look(0.002, 0.002)  # s, as when the first delay has been measured
print(*sorted(set(sys.modules) - known))
"""


def test_nothing_is_left_to_load_when_it_drives() -> None:
    """The lease of its commands would be over, on a busy computer."""
    command = [sys.executable, "-c", FIRST_DECISION]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=DEADLINE)
    assert run.stdout.split() == []
