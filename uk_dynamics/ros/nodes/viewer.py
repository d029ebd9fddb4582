# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The viewer node: a real or simulated mechanism in the browser."""

import time
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from std_srvs.srv import SetBool, Trigger

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Inputs, State
from uk_dynamics.ros.process.mechanism_source import MechanismNode
from uk_dynamics.ros.timing.clock import steady_clock
from uk_dynamics.ros.topics.live_references import ControlTime
from uk_dynamics.viewing import (
    FRAME_RATE,
    MechanismView,
    Snapshot,
    Source,
    address,
    close_server,
    load_viser,
    open_server,
)


class TopicSource(Source):
    """Shows ``joint_states``; the buttons call the services of a simulator."""

    def __init__(self, node: MechanismNode, tasks: Tasks | None) -> None:
        """Subscribe; the view warns of states older than ``state_timeout``, in s."""
        mechanism, simulator = node.mechanism, node.settings["simulator"]
        self._state_timeout = node.settings["state_timeout"]
        self._control = ControlTime(node, tasks, node.problems) if tasks else None
        self._task_time: float | None = None
        self._states = node.states(self._on_state)
        self._of_motors = np.linalg.pinv(mechanism.actuators.matrix)
        self._initial = mechanism.initial_guess
        self._answer = ""
        pause = node.create_client(SetBool, f"{simulator}/pause")
        self._services = {
            "play": (pause, SetBool.Request(data=False)),
            "pause": (pause, SetBool.Request(data=True)),
            "step": (node.create_client(Trigger, f"{simulator}/step"), Trigger.Request()),
            "reset": (node.create_client(Trigger, f"{simulator}/reset"), Trigger.Request()),
        }

    def control(self, action: str) -> None:
        """Call a service of the simulator."""
        client, request = self._services[action]
        if not client.service_is_ready():
            self._answer = f"no service {client.srv_name}: a real mechanism has no {action}"
            return
        self._answer = ""
        if action == "reset":
            self._states.origin.reset()
        client.call_async(request).add_done_callback(self._on_answer)

    def frame(self, elapsed: float) -> Snapshot:
        """The last state, with the efforts measured there."""
        reader, watchdog = self._states.reader, self._states.watchdog
        if not watchdog.fed:
            state = State(0.0, self._initial, np.zeros(len(reader.v)))
            missing = f"nothing on {self._states.topic} yet"
            return Snapshot(state, Inputs(), np.zeros(len(self._of_motors)), missing)
        age, message = watchdog.age, self._answer
        if age > self._state_timeout:
            message = f"{message}; " * bool(message) + f"the last state is {age:.1f} s old"
        state, inputs = self._states.copied()
        return Snapshot(
            state,
            inputs,
            self._of_motors @ reader.effort,
            message,
            "from topics",
            task_time=self._task_time,
            followed=dict(self._control.live.followed) if self._control else {},
        )

    def _on_state(self, stamp: Time) -> None:
        if self._control is not None:
            self._task_time = self._control.origin.since(stamp)

    def _on_answer(self, future: Any) -> None:
        if not future.result().success:
            self._answer = future.result().message


_UNSEEN_PERIOD = 0.2  # s between frames without a client


class Viewer(MechanismNode):
    """Shows the mechanism of ``joint_states``; it publishes nothing."""

    def __init__(self, **options: Any) -> None:
        load_viser()  # before the node exists, so that it answers at once
        super().__init__("viewer", **options)
        self._server: Any = None
        settings, mechanism = self.settings, self.mechanism
        tasks = self.tasks()
        source = TopicSource(self, tasks)
        title = f"{self.get_namespace()} {mechanism.name}".strip("/ ").replace("_", " ")
        self._server = open_server(settings["host"], settings["port"], title)
        self._view = MechanismView(self._server, mechanism, source, tasks=tasks)
        for problem in self._view.problems:
            self.get_logger().warning(f"not shown: {problem}")
        self.get_logger().info(f"{mechanism.name}: {address(self._server)}")
        self._last, self._took = time.perf_counter(), 0.0
        self.create_timer(1.0 / FRAME_RATE, self._show, clock=steady_clock())

    @property
    def url(self) -> str:
        """Address of the view."""
        return address(self._server)

    def destroy_node(self) -> None:
        """Stop serving."""
        if self._server is not None:
            close_server(self._server)
            self._server = None
        super().destroy_node()

    def _show(self) -> None:
        """Show a frame, less often without a client or after a slow frame.

        A timer that is always late would leave no time for messages and services.
        """
        began = time.perf_counter()
        rest = self._took if self._server.get_clients() else _UNSEEN_PERIOD
        if began - self._last < self._took + rest:
            return
        try:
            self._view.update(began - self._last)
        except UkDynamicsError as error:
            self.get_logger().warning(str(error), throttle_duration_sec=5.0)
        self._took, self._last = time.perf_counter() - began, began
