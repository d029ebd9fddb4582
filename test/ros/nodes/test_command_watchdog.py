# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""When the controller's process dies or freezes, its last command is taken back."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, UInt64MultiArray
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros

from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.nodes.command_watchdog import CommandWatchdog
from uk_dynamics.ros.servo.command_takeover import Phase

pytestmark = pytest.mark.ros

MECHANISM = {"mechanism": "five_bar"}
TASKS = {"tasks": "five_bar_sweep"}


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
        # the timeout, a period of the watchdog's look, and what a busy machine takes
        assert ears.efforts[-1][0] - gone < 0.3 + 3.0
        watchdog.until(ros, "the heartbeat of the controller has stopped")
        heard = len(ears.efforts)
        ros.until(lambda: len(ears.efforts) > heard + 10, "zero efforts again and again")
        assert all(effort == 0.0 for _, effort in ears.efforts[heard:])
    finally:
        controller.send_signal(signal.SIGCONT)
        if end == signal.SIGKILL:
            controller.wait()


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
