# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The markers node: loop frames, loop-closure errors, forces and targets for RViz."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from visualization_msgs.msg import MarkerArray

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.parameters.parameter import TABLES, Parameters
from uk_dynamics.ros.process.mechanism_source import load_mechanism
from uk_dynamics.ros.timing.clock import steady_clock
from uk_dynamics.ros.topics.inputs import StateInput
from uk_dynamics.ros.topics.live_references import ControlTime
from uk_dynamics.ros.topics.marker_messages import MarkerMessages
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS
from uk_dynamics.viewing.scene import Marker, stage

TOPIC = "mechanism_markers"


class Markers(Node):
    """Marks the mechanism of ``joint_states``; without a subscriber nothing is computed."""

    def __init__(self, **options: Any) -> None:
        super().__init__("markers", **options)
        self._settings = Parameters(self, TABLES["markers"])
        mechanism = load_mechanism(self, self._settings)
        tasks = None
        if self._settings["tasks"]:
            tasks = Tasks.from_file(self._settings["tasks"], mechanism)
        self._dynamics = InterpretedDynamics(mechanism)
        self._marker = Marker(mechanism, tasks)
        self._messages = MarkerMessages(
            mechanism.model.description.root,
            self._marker.constraints,
            self._marker.tasks,
            stage(mechanism).size,
        )
        problems = MessageProblems(self)
        self._control = ControlTime(self, tasks, problems) if tasks else None
        self._stamp: Time | None = None
        self._states = StateInput(self, mechanism, problems, self._on_state)
        self._publisher = self.create_publisher(MarkerArray, TOPIC, PUBLISHED_QOS)
        self.create_timer(1.0 / self._settings["rate"], self._publish, clock=steady_clock())

    def _on_state(self, stamp: Time) -> None:
        self._stamp = stamp

    def _publish(self) -> None:
        """Publish the marks of the last state, once."""
        if not self._publisher.get_subscription_count():
            self._messages.forget()
            return
        stamp, self._stamp = self._stamp, None
        if stamp is None:
            return
        state, inputs = self._states.copied()
        residual = self._dynamics.residual(state, inputs).position
        solution = None
        try:
            solution = self._dynamics.evaluate(state, inputs)
        except UkDynamicsError as error:
            self.get_logger().warning(f"no forces: {error}", throttle_duration_sec=5.0)
        if solution is not None and not np.isfinite(solution.joint_multipliers).all():
            solution = None
        task_time, followed = None, None
        if self._control is not None:
            task_time, followed = self._control.since(stamp), self._control.followed
        marks = self._marker.marks(state, residual, solution, task_time, followed)
        longest = self._settings["arrow_length"]
        self._publisher.publish(self._messages.array(marks, stamp, longest))
