# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The joint_state_completer node: states of all joints from the measured ones."""

import time
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from uk_dynamics.control.estimation import EstimationStatus, JointStateEstimate, StateCompletion
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism.resolution import ActiveConstraints, State
from uk_dynamics.ros.diagnostics.joint_state_estimate import ERRORS, problem_of, report_estimate
from uk_dynamics.ros.diagnostics.publisher import DiagnosticsPublisher, RateMonitor, Report
from uk_dynamics.ros.process.mechanism_source import MechanismNode
from uk_dynamics.ros.timing.clock import nanoseconds, runs_on_simulated_time, write_stamp
from uk_dynamics.ros.timing.fair_turns import FairTurns
from uk_dynamics.ros.topics.inputs import StructureInput
from uk_dynamics.ros.topics.joint_measurements import JointMeasurements
from uk_dynamics.ros.topics.leg_odometry_topic import LegOdometryTopic
from uk_dynamics.ros.topics.qos import JOINT_STATE_QOS, MEASURED_QOS
from uk_dynamics.ros.topics.serialized import FIELDS, JointStateMessage

MEASURED = "measured_joint_states"
_SAID = 1.0  # s between two lines about a problem


class JointStateCompleter(MechanismNode):
    """Publishes complete ``joint_states`` whenever all measured joints have new values."""

    def __init__(self, **options: Any) -> None:
        super().__init__("joint_state_completer", **options)
        mechanism = self.mechanism
        self._completion = StateCompletion(mechanism)
        encoders = self._completion.encoders
        self._measurements = JointMeasurements(encoders.names, encoders.turning)
        # places among the joints of joint_states
        self._measured = [mechanism.joint_names.index(name) for name in encoders.names]
        self._monitor = RateMonitor()
        self._message = JointStateMessage(self.mechanism.joint_names, "position", "velocity")
        self._stamp = Time()
        self._found: JointStateEstimate | None = None
        self._failure = self._undetermined = ""
        self._jumps = 0
        self._solve_time = 0.0
        self._publisher = self.create_publisher(JointState, "joint_states", JOINT_STATE_QOS)
        self._structure = StructureInput(self, mechanism, self.problems, self._on_switched)
        self._turns = FairTurns(self, self._complete)
        self.create_subscription(JointState, MEASURED, self._on_message, MEASURED_QOS)
        self._odometry: LegOdometryTopic | None = None
        if self.settings["odometry"]:
            self._odometry = LegOdometryTopic(self, self.settings, mechanism, self.problems)
        self.create_service(Trigger, "~/reset", self._on_reset)
        DiagnosticsPublisher(self, "state completion", self._report, mechanism.name)

    def _on_switched(self, active: ActiveConstraints) -> None:
        if self._undetermined:
            self._undetermined = self._failure = ""
        try:
            self._completion.switch(active)
        except InputError as error:  # no states until the constraints change again
            self._undetermined = self._failure = str(error)

    def _on_message(self, message: JointState) -> None:
        stamp = nanoseconds(message.header.stamp)
        if not stamp and not runs_on_simulated_time(self):
            stamp = self.get_clock().now().nanoseconds  # the source has no clock
        measurements, settings = self._measurements, self.settings
        problem = measurements.read(
            message, stamp, settings["state_timeout"], settings["velocity_filter"]
        )
        if problem:
            self.problems.note(MEASURED, problem, before_first=self._found is None)
        if measurements.went_back:
            self.get_logger().warning("time went back: starting again")
            self._structure.origin.reset()
            self._completion.reset()
        if measurements.complete:
            self._turns.take()

    def _complete(self) -> None:
        measurements, completion = self._measurements, self._completion
        if not measurements.complete:  # time went back since they were
            return
        position, stamp, problem = measurements.take(self.settings["state_timeout"])
        if problem:
            self.problems.note(MEASURED, problem)
            return
        if self._undetermined:
            return
        write_stamp(self._stamp, stamp)
        completion.jump = self.settings["jump"]
        completion.largest_misfit = self.settings["misfit_warning"]
        start = time.perf_counter()
        try:
            found = completion.complete(
                position,
                measurements.velocity,
                self._structure.origin.since(self._stamp),
                self._structure.references,
            )
        except UkDynamicsError as error:
            self._failure = str(error)
            return
        self._solve_time = time.perf_counter() - start
        self._say(found)
        self._found = found
        self._failure = ""
        self._jumps += found.status is EstimationStatus.JUMP
        finite = np.isfinite(found.q).all() and np.isfinite(found.v).all()
        if not finite:
            self._failure = "the estimated state is not finite"
        if found.usable and finite:
            self._publish(found)

    def _say(self, found: JointStateEstimate) -> None:
        """Say on the console what has changed: that states are published, and what is wrong."""
        log, before = self.get_logger(), self._found
        if found.usable and (before is None or not before.usable):
            joints, count = len(self.mechanism.joint_names), len(self._measurements.names)
            log.info(f"publishing {joints} joints, of which {count} are measured")
        if before is None or before.status is not found.status:
            if found.status in ERRORS:
                log.error(problem_of(found), throttle_duration_sec=_SAID)
            elif problem := problem_of(found):
                log.warning(problem, throttle_duration_sec=_SAID)

    def _publish(self, found: JointStateEstimate) -> None:
        measurements = self._measurements
        if measurements.has_effort and not len(self._message.effort):
            self._message = JointStateMessage(self.mechanism.joint_names, *FIELDS)
        message = self._message
        positions, velocities = self.mechanism.model.joint_places
        message.position[:] = found.q[positions]
        message.velocity[:] = found.v[velocities]
        if measurements.has_effort:
            # passive joints have no motor: their effort is zero
            message.effort[self._measured] = measurements.effort
        if self._odometry is not None:  # first: a joint state never comes without its base
            state = State(self._structure.origin.since(self._stamp), found.q, found.v)
            self._odometry.update(self._stamp, state, self._completion.sensitivity())
        message.publish(self._publisher, self._stamp)
        self._monitor.tick()

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._completion.reset()
        self._measurements.forget()
        self._structure.origin.reset()
        if self._odometry is not None:
            self._odometry.reset()
        self._found = None
        self._failure = self._undetermined
        response.success = True
        response.message = "the next state is on the branch of the initial guess"
        return response

    def _report(self, report: Report) -> None:
        report.update(self._monitor.report())
        self.problems.report(report)
        measurements = self._measurements
        timeout, silent = self.settings["state_timeout"], []
        for name, age in zip(measurements.names, measurements.ages.tolist(), strict=True):
            report.add(f"age of {name}", age)
            if age > timeout:
                silent.append(name)
        if silent:
            report.error(f"not measured for {timeout:g} s or more: {', '.join(silent)}")
        chosen = zip(measurements.names, measurements.differentiated.tolist(), strict=True)
        report.add("differentiated", ", ".join(n for n, missing in chosen if missing) or "none")
        if measurements.index.unknown:
            report.add("unused_joints", ", ".join(measurements.index.unknown[:8]))
        if self._odometry is not None:
            self._odometry.report(report)
        if self._failure:
            report.error(self._failure)
        if self._found is not None:
            report_estimate(report, self._found, self.settings, self._jumps, self._solve_time)
