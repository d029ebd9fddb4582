# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The wrench_observer node: forces on a machine that neither its motors nor its model explain."""

from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from uk_dynamics.control.estimation import ExternalForces, WrenchObserver
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.ros.diagnostics.publisher import DiagnosticsPublisher, RateMonitor, Report
from uk_dynamics.ros.parameters.parameter import commanded_efforts
from uk_dynamics.ros.process.mechanism_source import MechanismNode
from uk_dynamics.ros.topics.messages import wrench_message
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS
from uk_dynamics.ros.topics.serialized import JointStateMessage


class WrenchObserverNode(MechanismNode):
    """Publishes external efforts at every state of ``joint_states``, and a wrench where it can."""

    def __init__(self, **options: Any) -> None:
        super().__init__("wrench_observer", **options)
        mechanism = self.mechanism
        self._observer = WrenchObserver(
            mechanism,
            self.settings["gain"],
            frame=self.settings["frame"],
            axes=self.settings["axes"].split(),
        )
        self._monitor = RateMonitor()
        self._found: ExternalForces | None = None
        self._failure = ""
        self._message = JointStateMessage(self._observer.joints.names, "effort")
        self._publisher = self.create_publisher(JointState, "~/external_efforts", PUBLISHED_QOS)
        self._wrench_publisher = None
        if self._observer.frame:
            self._wrench_publisher = self.create_publisher(
                WrenchStamped, "~/external_wrench", PUBLISHED_QOS
            )
        self._states = self.states(self._on_state, commanded_efforts(self.settings))
        self.create_service(Trigger, "~/reset", self._on_reset)
        DiagnosticsPublisher(self, "external forces", self._report, mechanism.name)

    def _on_state(self, stamp: Time) -> None:
        self._monitor.tick()
        self._observer.gain = self.settings["gain"]
        try:
            self._found = self._observer.update(
                self._states.state, self._states.inputs(self._states.force)
            )
        except UkDynamicsError as error:
            self._failure, self._found = str(error), None
            return
        self._failure = ""
        if self._found is None:
            self._failure = "near a singular configuration: the observer starts again after it"
            return
        self._message.effort[:] = self._found.efforts
        self._message.publish(self._publisher, stamp)
        if self._wrench_publisher is not None and self._found.wrench is not None:
            self._wrench_publisher.publish(
                wrench_message(stamp, self._observer.frame, self._found.wrench)
            )

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._observer.reset()
        response.success, response.message = True, "the residual is zero"
        return response

    def _report(self, report: Report) -> None:
        report.update(self._monitor.report())
        report.add("evaluator", self._observer.backend)
        self._states.report(report, self.settings["state_timeout"])
        self.problems.report(report)
        if self._failure:
            report.error(self._failure)
        elif self._found is not None and self._found.undetermined:
            report.warn(
                f"no wrench at {self._observer.frame}: this motion does not separate"
                f" {' '.join(self._found.undetermined)}; give fewer axes"
            )
