# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The forward_dynamics node: accelerations and constraint forces at every measured state."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node

from uk_dynamics.core.equation import Solution
from uk_dynamics.exceptions import SimulationError, UkDynamicsError
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.ros.diagnostics.motion import MotionReport
from uk_dynamics.ros.diagnostics.publisher import (
    DiagnosticsPublisher,
    MessageProblems,
    RateMonitor,
    Report,
)
from uk_dynamics.ros.parameters.parameter import TABLES, Parameters, commanded_efforts
from uk_dynamics.ros.process.mechanism_source import load_mechanism, make_dynamics, selection
from uk_dynamics.ros.topics.dynamics_topics import DynamicsTopics
from uk_dynamics.ros.topics.inputs import StateInput


class ForwardDynamics(Node):
    """Solves the fundamental equation at every state of ``joint_states``."""

    def __init__(self, **options: Any) -> None:
        super().__init__("forward_dynamics", **options)
        self._settings = Parameters(self, TABLES["forward_dynamics"])
        self._mechanism = load_mechanism(self, self._settings)
        self._dynamics = make_dynamics(self._mechanism, selection(self, self._settings))
        self._topics = DynamicsTopics(self, self._mechanism)
        self._problems = MessageProblems(self)
        self._monitor = RateMonitor()
        self._motion = MotionReport(self._mechanism, self._dynamics, self._settings)
        self._state: State | None = None
        self._solution: Solution | None = None
        self._failure = ""
        self._states = StateInput(
            self,
            self._mechanism,
            self._problems,
            self._on_state,
            command_topic=commanded_efforts(self._settings),
        )
        DiagnosticsPublisher(self, "dynamics", self._report, self._mechanism.name)

    def _on_state(self, stamp: Time) -> None:
        state = self._states.state
        self._monitor.tick()
        try:
            inputs = self._states.inputs(self._states.force)
            solution = self._dynamics.evaluate(state, inputs)
            if not np.isfinite(solution.qdd).all():
                raise SimulationError("the acceleration is not finite", state.t)
        except UkDynamicsError as error:
            self._failure = str(error)
            return
        self._failure = ""
        self._state, self._solution = state, solution
        self._topics.publish(stamp, state, solution, inputs)
        self._motion.see(state, inputs)

    def _report(self, report: Report) -> None:
        report.update(self._monitor.report())
        self._states.report(report, self._settings["state_timeout"])
        self._problems.report(report)
        if self._failure:
            report.error(self._failure)
        elif self._state is not None and self._solution is not None:
            self._motion.report(report, self._state, self._solution, self._states.inputs())
