# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The forward_dynamics node: accelerations and constraint forces at every measured state."""

from typing import Any

import numpy as np
from builtin_interfaces.msg import Time

from uk_dynamics.core.equation import Solution
from uk_dynamics.exceptions import SimulationError, UkDynamicsError
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.ros.diagnostics.motion import MotionReport
from uk_dynamics.ros.diagnostics.publisher import DiagnosticsPublisher, RateMonitor, Report
from uk_dynamics.ros.parameters.parameter import commanded_efforts
from uk_dynamics.ros.process.mechanism_source import MechanismNode, make_dynamics, selection
from uk_dynamics.ros.topics.dynamics_topics import DynamicsTopics


class ForwardDynamics(MechanismNode):
    """Solves the fundamental equation at every state of ``joint_states``."""

    def __init__(self, **options: Any) -> None:
        super().__init__("forward_dynamics", **options)
        self._dynamics = make_dynamics(self.mechanism, selection(self, self.settings))
        self._topics = DynamicsTopics(self, self.mechanism)
        self._monitor = RateMonitor()
        self._motion = MotionReport(self.mechanism, self._dynamics, self.settings)
        self._state: State | None = None
        self._solution: Solution | None = None
        self._failure = ""
        self._states = self.states(self._on_state, commanded_efforts(self.settings))
        DiagnosticsPublisher(self, "dynamics", self._report, self.mechanism.name)

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
        self._states.report(report, self.settings["state_timeout"])
        self.problems.report(report)
        if self._failure:
            report.error(self._failure)
        elif self._state is not None and self._solution is not None:
            self._motion.report(report, self._state, self._solution, self._states.inputs())
