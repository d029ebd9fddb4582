"""The viewer node: a real or simulated mechanism in the browser."""

from __future__ import annotations

import time
from typing import Any

from rclpy.node import Node

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.parameters.tables import TABLES
from uk_dynamics.ros.process.mechanism_source import load_mechanism
from uk_dynamics.ros.timing.clock import steady_clock
from uk_dynamics.ros.topics.view_source import TopicSource
from uk_dynamics.viewing import (
    FRAME_RATE,
    MechanismView,
    address,
    close_server,
    load_viser,
    open_server,
)

_UNSEEN_PERIOD = 0.2  # s between frames without a client


class Viewer(Node):
    """Shows the mechanism of ``joint_states``; it publishes nothing."""

    def __init__(self, **options: Any) -> None:
        """Read the mechanism, subscribe and serve.

        Raises:
            UkDynamicsError: Anything wrong in the parameters or files, or nothing can be served.
        """
        load_viser()  # before the node exists, so that it answers at once
        super().__init__("viewer", **options)
        self._server: Any = None
        settings = Parameters(self, TABLES["viewer"])
        mechanism = load_mechanism(self, settings)
        tasks = Tasks.from_file(settings["tasks"], mechanism) if settings["tasks"] else None
        source = TopicSource(
            self, mechanism, settings["simulator"], settings["state_timeout"], tasks=tasks
        )
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
