# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whatever stops, the effort at the drives is zero soon, and stays so; see docs/command_path.md.

The controllers behave as those of ros2_control: deactivated at once when asked, and the interface
keeps the last command for ever.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from array import array
from pathlib import Path
from typing import Any

import pytest
from support.repository import ROOT
from support.waiting import DEADLINE

pytest.importorskip("rclpy")

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from support.mechanism_builder import shipped
from support.nodes.node_process import NodeProcess
from support.nodes.ros_ears import DiagnosticsEar
from support.nodes.ros_fixtures import Ros, StartProcess
from support.peers.peer_controller_manager import LATCHED, ControllerManager

from uk_dynamics.conversion.ros2_control_files import (
    BROADCASTER,
    CONTROLLER_TYPES,
    EFFORT_CONTROLLER,
    ZEROING_CONTROLLER,
    complete_description,
    controllers,
)

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.alone]

RATE = 200
Processes = tuple[NodeProcess, NodeProcess]
SOON = 0.25  # s until the effort is zero: the promise of docs/command_path.md


class Machine:
    """Drives and controllers in this process, a machine that stands still, and its states."""

    def __init__(self, ros: Ros, directory: Path, effort_type: str) -> None:
        self.ros = ros
        mechanism = shipped("five_bar")
        file = directory / "controllers.yaml"
        file.write_text(controllers(mechanism, RATE, effort_type=effort_type))
        self.manager = ControllerManager(
            ros.node, cli_args=["--ros-args", "--params-file", str(file)]
        )
        self.node = ros.node("machine")
        describer = self.node.create_publisher(String, "robot_description", LATCHED)
        text = complete_description(mechanism, "my_drives/EchoingDrives")
        describer.publish(String(data=text))
        ros.until(lambda: self.manager.hardware, "robot_description")
        (self.drives,) = self.manager.hardware
        for name in (BROADCASTER, EFFORT_CONTROLLER):
            self.manager.load(name)
            self.manager.activate(name)
        self._rest = JointState(name=list(mechanism.joint_names))
        self._rest.position = array("d", mechanism.assemble(crank=0.7))
        self._rest.velocity = array("d", [0.0] * len(self._rest.name))
        self._states = self.node.create_publisher(JointState, "joint_states", 10)
        self.node.create_timer(1.0 / RATE, self._tell)
        self._slowest, self._told = 0.0, time.monotonic()
        self.diagnostics = DiagnosticsEar(self.node, "servo_controller")
        self._zeros = 0
        self.heard_before_switch = 0
        self.node.create_subscription(
            Float64MultiArray, "effort_controller/commands", self._count_zeros, 10
        )

    def _tell(self) -> None:
        self._rest.header.stamp = self.node.get_clock().now().to_msg()
        self._states.publish(self._rest)
        now = time.monotonic()
        self._slowest, self._told = max(self._slowest, now - self._told), now

    def _count_zeros(self, message: Float64MultiArray) -> None:
        """Zeros in a row until the controller is deactivated."""
        if not self.manager.switches:
            self._zeros = 0 if any(message.data) else self._zeros + 1
            self.heard_before_switch = self._zeros

    @property
    def effort(self) -> float:
        return self.drives.applied[-1][1] if self.drives.applied else 0.0

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.ros.until(lambda: time.monotonic() > end, "time")

    def drives_on(self) -> None:
        """Wait for efforts; on a busy computer it may stop by itself, and begins again."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            again = time.monotonic() + 5.0
            self.ros.until(lambda: self.effort > 1.0 or time.monotonic() > again, "efforts")  # noqa: B023
            if self.effort > 1.0:
                self.wait(0.3)
                if self.effort > 1.0 and not self.manager.switches:
                    break
            self.activate()
        else:
            raise AssertionError(f"does not drive: {self.diagnostics.message}")
        self._slowest = 0.0

    def activate(self) -> None:
        """Activate the controller of the motors, and servo_controller."""
        change = self.node.create_client(ChangeState, "servo_controller/change_state")
        request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_ACTIVATE))
        if EFFORT_CONTROLLER not in self.manager.active:
            self.manager.activate(EFFORT_CONTROLLER)
        self.ros.call(change, request)
        self.manager.switches.clear()

    def expect_zero(self, since: float) -> None:
        """The effort is zero soon after an instant and from then on."""
        self.ros.until(lambda: self.effort == 0.0, "zero at the drives")
        self.wait(1.0)
        driven = [at for at, effort in self.drives.applied if effort > 0.0]
        zero = [at for at, effort in self.drives.applied if effort == 0.0 and at > driven[-1]]
        assert self.effort == 0.0
        # what this process was late itself says how busy the computer is
        assert zero[0] - since < SOON + 2.0 * self._slowest


@pytest.fixture
def machine(ros: Ros, tmp_path: Path, request: pytest.FixtureRequest) -> Machine:
    """One whose controller keeps the last effort, unless a type is given."""
    kind = getattr(request, "param", CONTROLLER_TYPES[EFFORT_CONTROLLER])
    return Machine(ros, tmp_path, kind)


def start_watchdog(start_process: StartProcess, **parameters: Any) -> NodeProcess:
    given = {
        "mechanism": "five_bar",
        "controller": EFFORT_CONTROLLER,
        "effort_topic": "measured_joint_states",
        **parameters,
    }
    command = [sys.executable, "-m", "support.peers.peer_command_watchdog", "--ros-args"]
    for name, value in given.items():
        command += ["-p", f"{name}:={value}"]
    paths = [str(ROOT), str(ROOT / "test"), os.environ.get("PYTHONPATH", "")]
    return start_process(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})


def start_controller(start_node: StartProcess, **parameters: Any) -> NodeProcess:
    given = {
        "mechanism": "five_bar",
        "tasks": "five_bar_sweep",
        "autostart": True,
        "watchdog": "required",
        **parameters,
    }
    return start_node(
        "servo_controller",
        parameters={
            **given,
            "state_timeout": 30.0,
            "update_rate": float(RATE),
        },
    )


def drive(machine: Machine, start_process: StartProcess, start_node: StartProcess) -> Processes:
    """A controller that waits for its watchdog, then the watchdog, then efforts."""
    controller = start_controller(start_node)
    machine.diagnostics.until(machine.ros, "waiting for command_watchdog")
    assert machine.effort == 0.0, "nothing is commanded that nobody watches"
    watchdog = start_watchdog(start_process)
    machine.drives_on()
    return controller, watchdog


@pytest.mark.retry(reason="a loaded computer suspends processes, which stops the controller")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_controller_that_stops_leaves_no_effort(
    machine: Machine, start_process: StartProcess, start_node: StartProcess, end: int
) -> None:
    """A frozen one wakes up when the manager is asked to switch: the worst of all instants."""
    controller, watchdog = drive(machine, start_process, start_node)
    machine.manager.before_switch = lambda: controller.send_signal(signal.SIGCONT)
    controller.send_signal(end)
    gone = time.monotonic()
    machine.expect_zero(gone)
    # what is not answered is asked again after a second
    machine.ros.until(lambda: machine.manager.switches, "the deactivation")
    assert set(machine.manager.switches) == {EFFORT_CONTROLLER}
    assert machine.heard_before_switch >= 10, "zeros first"
    if end == signal.SIGKILL:
        controller.wait()
        assert watchdog.stop() == 3, "taken over"
    else:
        machine.diagnostics.until(machine.ros, "watchdog_lost")
        assert controller.stop() == 3, "stopped by a fault"
        assert watchdog.stop() == 0, "the controller has told it that it has ended"


@pytest.mark.retry(reason="a loaded computer suspends processes, which stops the controller")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_controller_stops_when_nobody_watches_it(
    machine: Machine, start_process: StartProcess, start_node: StartProcess, end: int
) -> None:
    """A watchdog that wakes up hears first that all is over, and asks for nothing."""
    _, watchdog = drive(machine, start_process, start_node)
    watchdog.send_signal(end)
    gone = time.monotonic()
    try:
        machine.expect_zero(gone)
        machine.diagnostics.until(machine.ros, "watchdog_lost: command_watchdog does not answer")
    finally:
        watchdog.send_signal(signal.SIGCONT)
    machine.wait(0.5)
    assert not machine.manager.switches
    if end == signal.SIGKILL:
        watchdog.wait()
        start_watchdog(start_process)
    machine.activate()
    machine.drives_on()


@pytest.mark.retry(reason="a loaded computer suspends processes, which stops the controller")
@pytest.mark.parametrize("machine", [ZEROING_CONTROLLER], indirect=True)
def test_a_controller_deactivated_by_somebody_else_leaves_no_effort(
    machine: Machine, start_process: StartProcess, start_node: StartProcess
) -> None:
    """Nobody commands what does not listen, so that it does not start again with a jolt."""
    drive(machine, start_process, start_node)
    machine.manager.deactivate(EFFORT_CONTROLLER)
    machine.expect_zero(time.monotonic())
    machine.diagnostics.until(machine.ros, "watchdog_lost: command_watchdog does not answer")
    assert not machine.manager.switches
    machine.activate()
    machine.drives_on()
