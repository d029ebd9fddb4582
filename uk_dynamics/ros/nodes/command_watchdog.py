"""The command_watchdog node: commands zero efforts when the controller's process has ended."""

from __future__ import annotations

import importlib.util
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.ros.diagnostics.publisher import DiagnosticsPublisher, Report
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.parameters.tables import JOINT_STATE, TABLES, command_topic
from uk_dynamics.ros.timing.clock import Watchdog, steady_clock
from uk_dynamics.ros.topics.messages import EffortsMessage, JointStateMessage
from uk_dynamics.ros.topics.qos import COMMAND_QOS

_LOOK_PERIOD = 0.01  # s
_LONGEST_END = 1.0  # s that the end may take after the heartbeat has stopped
_ACKNOWLEDGED = Duration(seconds=0.5)  # longest wait for subscribers to receive the final message


class CommandWatchdog(Node):
    """Commands zero efforts when the heartbeat of an active controller stops.

    It is a separate process that reads only names from files and computes nothing, so that it
    outlives the one it watches.
    """

    def __init__(self, **options: Any) -> None:
        self._triggered = False  # before anything can fail: rclpy destroys a node that has failed
        super().__init__("command_watchdog", **options)
        self._settings = Parameters(self, TABLES["command_watchdog"])
        if not self._settings["mechanism"]:
            raise InputError("name a mechanism file", place="parameter mechanism")
        spec = MechanismSpec.from_file(self._settings["mechanism"])
        self._zero: Float64MultiArray | JointState
        if self._settings["command_mode"] == JOINT_STATE:
            driven = dict.fromkeys(joint for motor in spec.actuators for joint, _ in motor.joints)
            self._zero = JointStateMessage(list(driven), effort=True).message
        else:
            self._zero = EffortsMessage(len(spec.actuators)).message
        topic = command_topic(self._settings)
        self._publisher = self.create_publisher(type(self._zero), topic, COMMAND_QOS)
        self._heartbeat = Watchdog()
        self._end_requested = Watchdog()
        self._driving = False
        self.create_subscription(
            Bool, self._settings["heartbeat_topic"], self._on_heartbeat, COMMAND_QOS
        )
        self.create_timer(_LOOK_PERIOD, self._look, clock=steady_clock())
        self._switch = self._make_switch()
        self._switched: Future | None = None
        self._diagnostics = DiagnosticsPublisher(self, "heartbeat", self._report)
        self._diagnostics.hardware = spec.name

    def _make_switch(self) -> Any:
        """Client that deactivates the controller of ros2_control, None where none is named."""
        if not self._settings["controller"]:
            return None
        if importlib.util.find_spec("controller_manager_msgs") is None:
            raise InputError(
                "needs controller_manager_msgs to deactivate a controller; leave it empty,"
                " or install ros2_control",
                place="parameter controller",
            )
        from controller_manager_msgs.srv import SwitchController

        manager = self._settings["controller_manager"]
        return self.create_client(SwitchController, f"{manager}/switch_controller")

    def _on_heartbeat(self, message: Bool) -> None:
        if self._triggered:
            self.get_logger().info("the heartbeat is back")
            self._triggered = False
        self._driving = message.data
        self._heartbeat.feed()

    def _look(self) -> None:
        if not self._driving or self._heartbeat.age <= self._settings["timeout"]:
            return
        if not self._triggered:
            self._triggered = True
            self.get_logger().error(
                f"no heartbeat for {self._heartbeat.age:.3g} s: commanding zero efforts"
            )
            self._deactivate()
        if isinstance(self._zero, JointState):
            self._zero.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(self._zero)

    def _deactivate(self) -> None:
        if self._switch is None:
            return
        from controller_manager_msgs.srv import SwitchController

        request = SwitchController.Request()
        request.deactivate_controllers = [self._settings["controller"]]
        request.strictness = SwitchController.Request.BEST_EFFORT
        self._switched = self._switch.call_async(request)

    def may_end(self) -> bool:
        """Whether the controller is inactive, or its commands have been replaced by zeros.

        A controller that was killed cannot report that it is inactive, so the wait is limited.
        """
        if not self._end_requested.fed:
            self._end_requested.feed()
        if not self._driving or self._end_requested.age > self._settings["timeout"] + _LONGEST_END:
            return True
        return self._triggered and (self._switched is None or self._switched.done())

    def destroy_node(self) -> None:
        """End, after the subscribers have received the final message."""
        if self._triggered and self.context.ok():
            self._publisher.wait_for_all_acked(_ACKNOWLEDGED)
        super().destroy_node()

    def _report(self, report: Report) -> None:
        report.add("driving", self._driving)
        report.add("heartbeat_age", self._heartbeat.age if self._heartbeat.fed else -1.0)
        if self._triggered:
            report.error("the heartbeat of the controller has stopped; zero efforts are commanded")
