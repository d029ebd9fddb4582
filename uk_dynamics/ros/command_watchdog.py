"""The command_watchdog node: takes the last command back when the controller's process is gone."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.specification import MechanismSpec
from uk_dynamics.ros.clock import Watchdog, steady_clock
from uk_dynamics.ros.common_parameters import EFFORT_COMMANDS, JOINT_COMMANDS
from uk_dynamics.ros.diagnostics import DiagnosticsPublisher, Report
from uk_dynamics.ros.inputs import COMMAND_QOS
from uk_dynamics.ros.messages import EffortsMessage, JointStateMessage
from uk_dynamics.ros.parameter_tables import COMMAND_WATCHDOG
from uk_dynamics.ros.parameters import Parameters
from uk_dynamics.ros.run_node import run_node

_LOOK_PERIOD = 0.01  # s
_LONGEST_END = 1.0  # s that the end may take after the heartbeat has ended
_LAST_WORD = Duration(seconds=0.5)


class CommandWatchdog(Node):
    """Commands zero efforts when the heartbeat of a driving controller ends.

    It is a process of its own, small enough to outlive the one it watches: it reads names from
    files, and computes nothing.
    """

    def __init__(self, **options: Any) -> None:
        """Listen.

        Args:
            **options: Passed on to the node: namespace, parameter_overrides ...

        Raises:
            UkDynamicsError: Anything wrong in the parameters or in the mechanism file.
        """
        super().__init__("command_watchdog", **options)
        self._settings = Parameters(self, COMMAND_WATCHDOG)
        if not self._settings["mechanism"]:
            raise InputError("name a mechanism file", place="parameter mechanism")
        spec = MechanismSpec.from_file(self._settings["mechanism"])
        topic = self._settings["command_topic"]
        self._zero: Float64MultiArray | JointState
        if self._settings["command_mode"] == "joint_state":
            driven = dict.fromkeys(joint for motor in spec.actuators for joint, _ in motor.joints)
            self._zero = JointStateMessage(list(driven), effort=True).message
            self._publisher = self.create_publisher(
                JointState, topic or JOINT_COMMANDS, COMMAND_QOS
            )
        else:
            self._zero = EffortsMessage(len(spec.actuators)).message
            self._publisher = self.create_publisher(
                Float64MultiArray, topic or EFFORT_COMMANDS, COMMAND_QOS
            )
        self._heartbeat = Watchdog()
        self._asked_to_end = Watchdog()
        self._driving = False
        self._barking = False
        self.create_subscription(Bool, self._settings["heartbeat_topic"], self._hear, COMMAND_QOS)
        self.create_timer(_LOOK_PERIOD, self._look, clock=steady_clock())
        self._switch = self._make_switch()
        self._switched: Future | None = None
        self._diagnostics = DiagnosticsPublisher(self, "heartbeat", self._report)
        self._diagnostics.hardware = spec.name

    def _make_switch(self) -> Any:
        """Client that deactivates the controller of the motors, None where there is none."""
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

    def _hear(self, message: Bool) -> None:
        if self._barking:
            self.get_logger().info("the heartbeat is back")
            self._barking = False
        self._driving = message.data
        self._heartbeat.feed()

    def _look(self) -> None:
        if not self._driving or self._heartbeat.age <= self._settings["timeout"]:
            return
        if not self._barking:
            self._barking = True
            self.get_logger().error(
                f"no heartbeat for {self._heartbeat.age:.3g} s: zero efforts from here"
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
        """Whether nobody drives any more, or what could be done about it has been done.

        A controller that was killed could not say that it does not drive any more.
        """
        if not self._asked_to_end.fed:
            self._asked_to_end.feed()
        if not self._driving or self._asked_to_end.age > self._settings["timeout"] + _LONGEST_END:
            return True
        return self._barking and (self._switched is None or self._switched.done())

    def destroy_node(self) -> None:
        """End, when the last word has been heard."""
        if self._barking and self.context.ok():
            self._publisher.wait_for_all_acked(_LAST_WORD)
        super().destroy_node()

    def _report(self, report: Report) -> None:
        report.add("driving", str(self._driving).lower())
        report.add("heartbeat_age", self._heartbeat.age if self._heartbeat.fed else -1.0)
        if self._barking:
            report.error("the controller is gone, zero efforts are commanded from here")


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is told to end."""
    return run_node(CommandWatchdog, args, CommandWatchdog.may_end)


if __name__ == "__main__":
    raise SystemExit(main())
