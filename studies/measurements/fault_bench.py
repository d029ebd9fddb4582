# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine with everything around it, each a process of its own, and an eye on its commands."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from state_relay import StateRelay, healthy
from std_msgs.msg import Float64MultiArray, UInt64MultiArray
from std_srvs.srv import Trigger

import uk_dynamics as ukd
from uk_dynamics.ros.process.node_processes import NodeProcesses
from uk_dynamics.ros.process.run_node import make_executor

STATE_TIMEOUT, RAMP_TIME, WATCHDOG_TIMEOUT = 0.5, 0.1, 0.3  # s
POSITION_JUMP = 0.15  # rad
PACE = 0.5  # real-time factor: delays of a busy computer count half in the loop
_LOOK = 0.02  # s, period at which controller and watchdog look whether something is late
_STARTED = 15  # commands in a row that say that the machine is driven
_START = 60.0  # s
_ANSWER, _ATTEMPTS = 3.0, 15
_MACHINE = {"mechanism": "five_bar"}
_NODES: dict[str, tuple[dict[str, object], dict[str, str]]] = {
    "simulator": (
        {**_MACHINE, "rate": 100.0, "real_time_factor": PACE, "brakes": True},
        {"joint_states": "machine_joint_states"},
    ),
    "joint_state_completer": (_MACHINE, {}),
    "servo_controller": (
        {
            **_MACHINE,
            "tasks": "five_bar_sweep",
            "update_rate": 100.0,
            "autostart": True,
            "state_timeout": STATE_TIMEOUT,
            "ramp_time": RAMP_TIME,
            "position_jump": POSITION_JUMP,
            "listener_timeout": 30.0,
        },
        {},
    ),
    "command_watchdog": ({**_MACHINE, "timeout": WATCHDOG_TIMEOUT}, {}),
}
STOP_TIME = STATE_TIMEOUT + RAMP_TIME + _LOOK
TAKEN_BACK = WATCHDOG_TIMEOUT + _LOOK


class FaultBench:
    """Simulator, encoders, completer, controller and watchdog of the five-bar at 100 Hz.

    Attributes:
        processes: The nodes.
        relay: The encoders.
        active: Whether the controller says that it drives.
        cause: What its diagnostics say.
    """

    def __init__(self, directory: Path) -> None:
        """Start everything.

        Args:
            directory: Where logs and the recorder's report are written.
        """
        self.processes = NodeProcesses(directory)
        mechanism = ukd.Mechanism.from_file(_MACHINE["mechanism"])
        self._report = directory / "recorder.json"
        script = Path(__file__).with_name("command_recorder.py")
        limits = [repr(limit) for limit in mechanism.actuators.effort_limits.tolist()]
        self._recorder = subprocess.Popen([sys.executable, script, self._report, *limits])
        self.active, self.cause = False, ""
        self._watched = False
        self._commands: list[tuple[float, float]] = []
        for name in _NODES:
            self.start(name)
        rclpy.init(args=[])
        self._node = node = rclpy.create_node("observer")
        self._executor = make_executor()
        self._executor.add_node(node)
        node.create_subscription(
            Float64MultiArray, "effort_controller/commands", self._on_command, 1000
        )
        node.create_subscription(
            UInt64MultiArray, "servo_controller/heartbeat", self._on_heartbeat, 10
        )
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._change = node.create_client(ChangeState, "servo_controller/change_state")
        self._triggers = {
            name: node.create_client(Trigger, name)
            for name in (
                "simulator/reset",
                "joint_state_completer/reset",
                "servo_controller/emergency_stop",
            )
        }
        self.relay = StateRelay(["crank"])

    def close(self) -> dict[str, float]:
        """End everything; return what the recorder has heard."""
        self.relay.leave()
        self.processes.stop()
        self._recorder.send_signal(signal.SIGINT)
        self._recorder.wait(20.0)
        self._executor.shutdown()  # lets go of what it waited for, or the node stays
        self._node.destroy_node()
        rclpy.try_shutdown()
        report: dict[str, float] = json.loads(self._report.read_text())
        return report

    def start(self, name: str) -> None:
        """Start a node, again if it was killed."""
        if name in ("servo_controller", "command_watchdog"):
            self._watched = False  # until the watchdog has heard the controller's heartbeat
        parameters, remappings = _NODES[name]
        self.processes.start(name, parameters, remappings)

    def trigger(self, name: str) -> None:
        """Call a service."""
        self._call(self._triggers[name], Trigger.Request())

    def until(self, condition: Callable[[], object], what: str, patience: float = 10.0) -> None:
        """Wait for something.

        Raises:
            TimeoutError: It did not come.
        """
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                dead = [
                    f"{name}: {self.processes.last_lines(name)}" for name in self.processes.ended()
                ]
                raise TimeoutError("\n".join((f"waited {patience:g} s in vain for {what}", *dead)))
            self._executor.spin_once(timeout_sec=0.01)

    def wait(self, duration: float) -> None:
        """Let a time pass, with open eyes."""
        end = time.monotonic() + duration
        self.until(lambda: time.monotonic() > end, "the end of a pause", duration + 5.0)

    def drive(self) -> None:
        """Drive the machine, from its start unless it is driven already."""
        self.relay.fault = healthy
        self.relay.join()
        self._settle()
        for attempt in range(3):
            if not self.active:
                self.trigger("simulator/reset")
                self.trigger("joint_state_completer/reset")
                request = ChangeState.Request(
                    transition=Transition(id=Transition.TRANSITION_ACTIVATE)
                )
                self._call(self._change, request)
            try:
                self.until(lambda: self.active, "the heartbeat", _START)
                self.until(lambda: self._driven_alone() or not self.active, "commands", _START)
            except TimeoutError:
                if attempt == 2:
                    raise
                continue
            if self.active:
                self._wait_for_the_watchdog()
                return
        raise TimeoutError(f"the machine is not driven: {self.cause}")

    def _wait_for_the_watchdog(self) -> None:
        """One that has not heard a heartbeat yet cannot miss it."""
        self.until(lambda: self._watched or not self.active, "the watchdog", _START)

    def _driven_alone(self) -> bool:
        """Whether the last commands are the controller's, none the watchdog's."""
        last = self._commands[-_STARTED:]
        return len(last) == _STARTED and all(effort > 0.0 for _, effort in last)

    def relieved(self, since: float) -> float:
        """When motors got the zero that has stayed, counted from an instant, in s."""
        zero_since = since
        for at, effort in reversed(self._commands):
            if at < since or effort > 0.0:
                break
            zero_since = at
        return zero_since - since

    def efforts_since(self, instant: float) -> int:
        """How many commands other than zero have come since an instant."""
        return sum(at >= instant and effort > 0.0 for at, effort in self._commands)

    @property
    def at_rest(self) -> bool:
        """Whether the last command is zero."""
        return bool(self._commands) and self._commands[-1][1] == 0.0

    def commands_since(self, instant: float) -> int:
        """How many commands have come since an instant."""
        return sum(at >= instant for at, _ in self._commands)

    def _settle(self) -> None:
        """All nodes are there, and states flow."""
        heard = self.relay.heard
        for client in (self._change, *self._triggers.values()):
            self.until(client.service_is_ready, client.srv_name, _START)
        self.until(lambda: self.relay.heard > heard + 2, "states of the machine", _START)
        self.until(
            lambda: self._node.count_publishers("effort_controller/commands") >= 2,
            "controller and watchdog",
            _START,
        )

    def _call(self, client: Any, request: Any) -> None:
        """Ask until there is an answer: of a killed server DDS learns after many seconds only."""
        for attempt in range(_ATTEMPTS):
            self.until(client.service_is_ready, client.srv_name, _START)
            future = client.call_async(request)
            try:
                self.until(future.done, f"the answer of {client.srv_name}", _ANSWER)
            except TimeoutError:
                if attempt + 1 == _ATTEMPTS:
                    raise
            else:
                return

    def _on_command(self, message: Float64MultiArray) -> None:
        self._commands.append((time.monotonic(), max(map(abs, message.data))))

    def _on_heartbeat(self, message: UInt64MultiArray) -> None:
        self.active = bool(message.data[2])

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.startswith("servo_controller:"):
                self.cause = status.message
            if status.name.startswith("command_watchdog:"):
                values = {value.key: value.value for value in status.values}
                self._watched = values["driving"] == "true" and status.level == status.OK
