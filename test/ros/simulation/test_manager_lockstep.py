# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One step of the machine for each update of a controller_manager that sleeps on /clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")

from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String, UInt64MultiArray
from std_srvs.srv import SetBool, Trigger
from support.floating_five_bar import floating_five_bar
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess
from support.peers.peer_controller_manager import LATCHED, ControllerManager

from uk_dynamics import Mechanism
from uk_dynamics.conversion.ros2_control_files import (
    BROADCASTER,
    EFFORT_CONTROLLER,
    TOPIC,
    UPDATE_BROADCASTER,
    complete_description,
    controllers,
)
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.ros.nodes.simulator import Simulator
from uk_dynamics.ros.simulation.simulated_machine import SimulatedMachine
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = pytest.mark.ros

RATE = 100
UPDATES = 5
PERIOD = 10**9 // RATE  # ns
EVERYTHING = QoSProfile(depth=5000)
SIMULATOR = {
    "mechanism": "five_bar",
    "backend": "interpreted",
    "rate": float(RATE),
    "command_mode": "joint_state",
    "publish_clock": True,
    "manager_updates": UPDATES,
    "brakes": True,
}


@pytest.mark.slow
def test_the_machine_moves_by_each_command_for_one_period_and_by_none_twice(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    """Replayed with a delay of one period, the commands give the same motion to the last bit."""
    mechanism = Mechanism.from_file("five_bar")
    simulated = {"use_sim_time": True}
    parameters = yaml.safe_load(controllers(mechanism, RATE, updates=UPDATES))
    parameters["controller_manager"]["ros__parameters"].update(simulated)
    file = tmp_path / "controllers.yaml"
    file.write_text(yaml.safe_dump(parameters))
    peer = ControllerManager(ros.node, cli_args=["--ros-args", "--params-file", str(file)])
    node = ros.node()
    description = node.create_publisher(String, "robot_description", LATCHED)
    description.publish(String(data=complete_description(mechanism, TOPIC)))
    states: dict[int, JointState] = {}
    efforts: list[float] = []
    node.create_subscription(
        JointState,
        "machine_joint_states",
        lambda m: states.setdefault(nanoseconds(m.header.stamp) // PERIOD, m),
        EVERYTHING,
    )
    node.create_subscription(
        Float64MultiArray,
        "effort_controller/commands",
        lambda m: efforts.append(m.data[0]),
        EVERYTHING,
    )
    start_node(
        "simulator",
        parameters={**SIMULATOR, "real_time_factor": 0.0},
        remappings={"joint_states": "machine_joint_states"},
    )
    start_node("joint_state_completer", parameters={"mechanism": "five_bar", **simulated})
    ros.until(lambda: peer.hardware and states, "a machine")
    for name in (BROADCASTER, UPDATE_BROADCASTER, EFFORT_CONTROLLER):
        peer.load(name)
        peer.activate(name)
    tasks = {"tasks": "five_bar_sweep", "autostart": True, "update_rate": float(RATE)}
    servo = {"mechanism": "five_bar", "backend": "interpreted", "state_timeout": 100.0}
    start_node("servo_controller", parameters={**servo, **tasks, **simulated})
    ros.until(lambda: len(efforts) >= 260, "answers", 60.0)

    # the first answers come while nobody waits for them yet
    first = min(k for k, state in states.items() if state.effort[0]) + 60
    start = states[first - 1]
    machine = SimulatedMachine(mechanism, 1.0 / RATE)
    machine.steps = first - 1
    machine.state = State(machine.steps / RATE, np.array(start.position), np.array(start.velocity))
    replayed = efforts[efforts.index(states[first].effort[0]) : 250]
    assert len(replayed) > 150
    for k, effort in enumerate(replayed, first):
        machine.command(np.array([effort]))
        machine.step()
        np.testing.assert_array_equal(states[k].position, machine.state.q)
        np.testing.assert_array_equal(states[k].velocity, machine.state.v)


class Hand:
    """A simulator, and a hand that plays controller_manager and servo_controller.

    ``held`` is what the manager commands, in answer to each new time; None: it does not answer.
    """

    def __init__(self, ros: Ros, **parameters: Any) -> None:
        self.ros = ros
        self.node = ros.node()
        self.times: list[int] = []
        self.held: float | None = None
        self.node.create_subscription(Clock, "/clock", self._on_clock, EVERYTHING)
        self._commands = self.node.create_publisher(JointState, "joint_commands", 10)
        self._efforts = self.node.create_publisher(
            Float64MultiArray, "effort_controller/commands", 10
        )
        self._heartbeat = self.node.create_publisher(
            UInt64MultiArray, "servo_controller/heartbeat", 10
        )
        self.diagnostics = DiagnosticsEar(self.node, "simulator")
        self.simulator = ros.add(Simulator(**overrides(**{**SIMULATOR, **parameters})))
        self.lockstep = self.simulator._manager
        publishers = (self._commands, self._efforts, self._heartbeat)
        ros.until(lambda: all(p.get_subscription_count() for p in publishers), "the simulator")

    def _on_clock(self, message: Clock) -> None:
        t = nanoseconds(message.clock)
        if self.held is not None and t not in self.times[-1:]:
            self.update(self.held)
        self.times.append(t)

    @property
    def steps(self) -> int:
        return self.times[-1] // PERIOD

    def update(self, effort: float) -> None:
        self._commands.publish(JointState(name=["crank"], effort=[effort]))

    def drive(self, effort: float) -> None:
        self._efforts.publish(Float64MultiArray(data=[effort]))

    def beat(self, *, active: bool) -> None:
        self._heartbeat.publish(UInt64MultiArray(data=[1, 1, int(active)]))

    def join(self) -> None:
        """Be heard for the first time as a manager that answers from now on."""
        self.ros.until(lambda: self.times, "time")
        self.held = 0.0
        self.ros.until(lambda: "controller_manager" in self.lockstep._known, "the manager")

    def goes_on(self) -> None:
        before = self.steps
        self.ros.until(lambda: self.steps > before, "time")

    def stands_still(self, name: str) -> None:
        """Time is published again and again, and is the same to a microsecond."""
        heard = len(self.times)

        def same() -> bool:
            # repeated with a few ns more, so that a manager that sleeps looks at its clock
            last = [t // 1000 for t in self.times[heard:][-3:]]
            return len(last) == 3 and len(set(last)) == 1 and self.lockstep.waiting_for == name

        self.ros.until(same, f"the wait for {name or 'nobody'}")


def test_time_goes_on_before_a_manager_is_heard_and_waits_for_every_update_then(ros: Ros) -> None:
    hand = Hand(ros)
    ros.until(lambda: hand.times and hand.steps > 10, "time before the manager")
    hand.join()
    hand.goes_on()
    hand.held = None
    hand.stands_still("controller_manager")
    before = hand.steps
    for count, effort in enumerate((1.0, np.nan)):  # not a number is an update all the same
        hand.update(effort)
        hand.stands_still("controller_manager")
        assert hand.steps == before + count + 1


def test_every_time_that_a_manager_may_give_its_joint_states_has_a_base(
    ros: Ros, tmp_path: Path
) -> None:
    """A manager that was woken by a repeated time stamps what it publishes with that."""
    hand = Hand(ros, mechanism=str(floating_five_bar(tmp_path)))
    bases = Ear(hand.node, Odometry, "odom", EVERYTHING)
    hand.join()
    hand.goes_on()
    hand.held = None
    heard = len(hand.times)
    hand.stands_still("controller_manager")
    last = hand.times[-1] // PERIOD
    times = {t for t in hand.times[heard:] if t // PERIOD == last}
    assert len(times) > 2

    def poses() -> dict[int, str]:
        return {nanoseconds(m.header.stamp): str(m.pose.pose) for m in bases.messages}

    ros.until(lambda: times <= poses().keys(), "bases")
    assert len({poses()[t] for t in times}) == 1
    hand.drive(0.0)
    hand.held = 0.0
    hand.update(0.0)
    hand.stands_still("servo_controller")  # which has not read the base of this time yet
    assert max(poses()) <= max(hand.times)


def test_time_waits_for_an_active_servo_controller_too(ros: Ros) -> None:
    hand = Hand(ros)
    hand.join()
    hand.drive(2.0)
    hand.held = 2.0
    hand.stands_still("servo_controller")
    hand.drive(3.0)  # the manager does not have it yet
    ros.until(lambda: hand.lockstep.again, "another update")
    before = hand.steps
    hand.held = 3.0
    hand.stands_still("servo_controller")
    assert hand.steps == before + 1
    assert hand.lockstep.delayed == 0
    hand.drive(4.0)  # the manager never has it
    hand.stands_still("servo_controller")
    assert hand.steps == before + 2
    assert hand.lockstep.delayed == 1
    hand.beat(active=False)
    hand.goes_on()
    hand.goes_on()


def test_an_answer_that_does_not_come_is_reported_by_name(ros: Ros) -> None:
    hand = Hand(ros, answer_timeout=0.3)
    hand.join()
    hand.goes_on()
    hand.held = None
    hand.diagnostics.until(ros, "no answer of controller_manager for")
    hand.stands_still("controller_manager")
    hand.held = 0.0
    hand.update(0.0)
    hand.drive(0.0)
    ros.until(lambda: hand.lockstep.waiting_for == "servo_controller", "the servo_controller")
    hand.goes_on()  # without servo_controller, which was waited for in vain


def test_pause_step_and_reset(ros: Ros) -> None:
    hand = Hand(ros)
    hand.join()
    hand.goes_on()
    node = hand.node
    hand.held = None
    hand.stands_still("controller_manager")
    ros.call(node.create_client(SetBool, "simulator/pause"), SetBool.Request(data=True))
    step = node.create_client(Trigger, "simulator/step")
    refused = ros.call(step, Trigger.Request())
    assert not refused.success
    assert refused.message == "waiting for controller_manager"
    hand.update(0.0)
    hand.stands_still("")
    before = hand.steps
    hand.held = 0.0
    assert ros.call(step, Trigger.Request()).success
    ros.until(lambda: hand.steps == before + 1, "one step")
    hand.stands_still("")
    ros.call(node.create_client(Trigger, "simulator/reset"), Trigger.Request())
    ros.call(node.create_client(SetBool, "simulator/pause"), SetBool.Request(data=False))
    hand.goes_on()  # a manager would sleep if time were set back
    assert hand.steps > before


def test_what_does_not_go_together_is_refused(ros: Ros) -> None:
    for wrong in (
        {"publish_clock": False},
        {"command_mode": "effort_array"},
        {"lockstep": True},
        {"manager_updates": 1},
    ):
        with pytest.raises(InputError, match=r"^manager_updates: (needs|expected)"):
            Simulator(**overrides(**{**SIMULATOR, **wrong}))
