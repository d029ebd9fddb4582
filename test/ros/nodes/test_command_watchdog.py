# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""When the controller's process dies or freezes, its last command is taken back."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy")

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, UInt64MultiArray
from support.floating_five_bar import floating_five_bar, sweep
from support.nodes.floating_machine import state_of
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess

from uk_dynamics import Mechanism
from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.nodes.command_watchdog import CommandWatchdog
from uk_dynamics.ros.servo.command_takeover import Phase
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = pytest.mark.ros

MECHANISM = {"mechanism": "five_bar"}
TASKS = {"tasks": "five_bar_sweep"}
TIMEOUT = 2.0  # s; test_command_path.py holds the promise of the default
BUSY = 3.0  # s: a period of the watchdog's look, and what a busy computer takes


class Ears:
    """Hears efforts, with the time at which each came."""

    def __init__(self, ros: Ros, mode: str = "effort_array") -> None:
        self.ros = ros
        self.node = ros.node()
        self.efforts: list[tuple[float, float]] = []
        kind, topic = {
            "effort_array": (Float64MultiArray, "effort_controller/commands"),
            "joint_state": (JointState, "joint_commands"),
        }[mode]
        self.node.create_subscription(kind, topic, self._hear, 200)

    def _hear(self, message: Any) -> None:
        values = message.data if isinstance(message, Float64MultiArray) else message.effort
        self.efforts.append((time.monotonic(), max(abs(value) for value in values)))

    @property
    def zero(self) -> bool:
        return bool(self.efforts) and self.efforts[-1][1] == 0.0


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize(
    ("mode", "end"), [("effort_array", signal.SIGKILL), ("joint_state", signal.SIGSTOP)]
)
def test_a_controller_that_is_gone_leaves_no_effort(
    ros: Ros, start_node: Any, mode: str, end: int
) -> None:
    ears = Ears(ros, mode)
    command = {"command_mode": mode}
    start_node("simulator", parameters={**MECHANISM, **command, "rate": 50.0})
    start_node("command_watchdog", parameters={**MECHANISM, **command, "timeout": 0.3})
    controller = start_node(
        "servo_controller",
        parameters={**MECHANISM, **TASKS, **command, "autostart": True, "state_timeout": 60.0},
    )
    watchdog = DiagnosticsEar(ears.node, "command_watchdog")
    ros.until(lambda: ears.efforts and ears.efforts[-1][1] > 1.0, "efforts")
    ros.until(lambda: watchdog.values.get("driving") == "true", "the heartbeat")
    controller.send_signal(end)
    try:
        gone = time.monotonic()
        ros.until(lambda: ears.zero, "zero efforts")
        assert ears.efforts[-1][0] - gone < 0.3 + BUSY
        watchdog.until(ros, "the heartbeat of the controller has stopped")
        heard = len(ears.efforts)
        ros.until(lambda: len(ears.efforts) > heard + 10, "zero efforts again and again")
        assert all(effort == 0.0 for _, effort in ears.efforts[heard:])
    finally:
        controller.send_signal(signal.SIGCONT)
        if end == signal.SIGKILL:
            controller.wait()


class FloatingMachine:
    """What the simulator tells of a machine in free fall: efforts at its drive, and its energy."""

    def __init__(self, ros: Ros, mechanism: Mechanism) -> None:
        node = ros.node()
        self._mechanism, self._dynamics = mechanism, mechanism.dynamics("interpreted")
        self._drive = mechanism.joint_names.index("crank")
        self._bases = Ear(node, Odometry, "odom")
        self.efforts: list[tuple[float, float]] = []  # with the time at which each came
        self.states: list[JointState] = []
        node.create_subscription(JointState, "joint_states", self._hear, 200)

    def _hear(self, message: JointState) -> None:
        self.states.append(message)
        self.efforts.append((time.monotonic(), abs(message.effort[self._drive])))

    @property
    def effort(self) -> float:
        return self.efforts[-1][1] if self.efforts else 0.0

    def energies(self, since: int) -> list[float]:
        """Kinetic energies at the states from one on, whose bases have come, too, in J."""
        bases = {nanoseconds(m.header.stamp): m for m in self._bases.messages}
        found = [(bases.get(nanoseconds(m.header.stamp)), m) for m in self.states[since:]]
        states = [state_of(self._mechanism, m, base) for base, m in found if base is not None]
        return [self._dynamics.energy(state).kinetic for state in states]


@pytest.mark.slow
@pytest.mark.retry(reason="a loaded computer suspends processes, which stops the controller")
def test_a_machine_that_floats_drifts_on_without_its_controller(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    """The efforts at its drive are zero, and no work is done on it any more."""
    file = floating_five_bar(tmp_path, gravity="[0, 0, 0]")
    # slow: the last effort acts for the timeout of the watchdog
    tasks = sweep(tmp_path)
    tasks.write_text(tasks.read_text().replace("frequency: 1.0", "frequency: 0.2"))
    given = {"mechanism": str(file), "tasks": str(tasks)}
    machine = FloatingMachine(ros, Mechanism.from_file(file))
    # it waits on its tasks for the first command, and commands do not expire by themselves
    moving = {"rate": 100.0, "start_on_tasks": True, "brakes": True, "command_timeout": 0.0}
    start_node("simulator", parameters=given | moving | {"backend": "interpreted"})
    watched = {"mechanism": str(file), "timeout": TIMEOUT}
    start_node("command_watchdog", parameters=watched)
    controlled = {
        "watchdog": "required",
        "autostart": True,
        "update_rate": 100.0,
        "state_timeout": 30.0,
        "backend": "interpreted",
    }
    controller = start_node("servo_controller", parameters=given | controlled)
    watchdog = DiagnosticsEar(ros.node(), "command_watchdog")
    ros.until(lambda: machine.effort > 1e-3, "efforts")
    controller.send_signal(signal.SIGKILL)
    gone = time.monotonic()
    controller.wait()
    ros.until(lambda: machine.effort == 0.0, "zero at the drive")
    heard = len(machine.efforts)
    assert machine.efforts[-1][0] - gone < TIMEOUT + BUSY
    watchdog.until(ros, "the heartbeat of the controller has stopped")
    ros.until(lambda: len(machine.efforts) > heard + 30, "states without efforts")
    assert all(effort == 0.0 for _, effort in machine.efforts[heard:])
    energies = machine.energies(heard)
    assert len(energies) > 20, "its base is told with its joints"
    assert energies[0] > 0.01, "it moves"
    # nothing does work on it; rounding, and what rk4 errs at 0.4 rad/s
    assert max(energies) - min(energies) < 1e-9 * energies[0]


class Bench:
    """A watchdog in this process, and a hand on the heartbeat."""

    def __init__(self, ros: Ros) -> None:
        self.ros = ros
        self.ears = Ears(ros)
        self.watchdog = ros.add(CommandWatchdog(**overrides(**MECHANISM, timeout=0.1)))
        topic = "servo_controller/heartbeat"
        self._beat = self.ears.node.create_publisher(UInt64MultiArray, topic, 10)
        self.grants = Ear(self.ears.node, UInt64MultiArray, f"{topic}/acknowledged")
        ros.until(self._beat.get_subscription_count, "the watchdog")
        self.answered()

    def answered(self) -> None:
        """Wait until the watchdog answers, which is when it is connected, and rest."""

        def answer() -> bool:
            self._beat.publish(UInt64MultiArray(data=[1, time.monotonic_ns(), 1]))
            return bool(self.grants.messages)

        self.ros.until(answer, "an answer")
        self.beat(False)
        self.ros.until(lambda: self.watchdog._takeover.phase is Phase.IDLE, "rest")
        self.ears.efforts.clear()

    def beat(self, driving: bool) -> None:
        self._beat.publish(UInt64MultiArray(data=[1, time.monotonic_ns(), driving]))


def test_it_is_silent_before_the_first_heartbeat_and_after_the_last_word(ros: Ros) -> None:
    bench = Bench(ros)
    bench.beat(True)
    bench.beat(False)
    end = time.monotonic() + 0.3
    ros.until(lambda: time.monotonic() > end, "three timeouts")
    assert not bench.ears.efforts


def test_it_falls_silent_when_the_heartbeat_is_back(ros: Ros) -> None:
    bench = Bench(ros)
    bench.beat(True)
    ros.until(lambda: bench.ears.zero, "zero efforts")
    bench.beat(False)
    ros.until(lambda: bench.watchdog._takeover.phase is Phase.IDLE, "the tenth zero")
    heard = len(bench.ears.efforts)
    end = time.monotonic() + 0.3
    ros.until(lambda: time.monotonic() > end, "three timeouts")
    assert len(bench.ears.efforts) <= heard + 1, "one may have been under way"


def test_mistakes_are_told(ros: Ros) -> None:
    with pytest.raises(InputError, match="name a mechanism file"):
        CommandWatchdog()
    with pytest.raises(InputError, match="needs controller_manager_msgs"):
        CommandWatchdog(**overrides(**MECHANISM, controller="effort_controller"))
