# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The command_watchdog node: commands zero efforts when the controller's process has ended."""

import importlib.util
import math
from collections.abc import Callable, Iterable
from typing import Any

from lifecycle_msgs.msg import State
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, UInt64MultiArray

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.ros.diagnostics.publisher import DiagnosticsPublisher, MessageProblems, Report
from uk_dynamics.ros.parameters.parameter import JOINT_STATE, TABLES, Parameters, command_topic
from uk_dynamics.ros.servo.command_authority import Heartbeat
from uk_dynamics.ros.servo.command_takeover import LOOK_PERIOD, CommandTakeover, Phase
from uk_dynamics.ros.timing.clock import Watchdog, steady_clock
from uk_dynamics.ros.topics.qos import COMMAND_QOS, LATCHED_QOS, STATE_QOS

_SETTLED = 0.2  # s for which the controller has been connected
_ASK_AGAIN = 1.0  # s after which a request to controller_manager is repeated
_LONGEST_END = 1.0  # s that the end may take after the heartbeat has stopped
_ACKNOWLEDGED = Duration(seconds=0.5)  # longest wait for subscribers to receive the final message
_TAKEN_OVER, _UNFINISHED = 3, 4  # exit codes


class CommandWatchdog(Node):
    """Commands zero efforts when the heartbeat of an active controller stops.

    It is a separate process that reads only names from files and computes nothing, so that it
    outlives the one it watches.
    """

    def __init__(self, **options: Any) -> None:
        self._takeover = CommandTakeover(deactivates=False)  # rclpy destroys a node that has failed
        super().__init__("command_watchdog", **options)
        self._settings = Parameters(self, TABLES["command_watchdog"])
        if not self._settings["mechanism"]:
            raise InputError("name a mechanism file", place="parameter mechanism")
        spec = MechanismSpec.from_file(self._settings["mechanism"])
        self._driven = dict.fromkeys(joint for motor in spec.actuators for joint, _ in motor.joints)
        self._zero: Float64MultiArray | JointState
        if self._settings["command_mode"] == JOINT_STATE:
            self._zero = JointState(name=list(self._driven), effort=[0.0] * len(self._driven))
        else:
            self._zero = Float64MultiArray(data=[0.0] * len(spec.actuators))
        topic = command_topic(self._settings)
        self._publisher = self.create_publisher(type(self._zero), topic, COMMAND_QOS)
        self._switch = self._make_switch()
        self._switched: Future | None = None
        self._active = True  # of the controller of the motors, until something else is heard
        self._to_restore = False  # whether this watchdog has deactivated it
        self._restoring = Watchdog()
        if self._switch is not None:
            self._hear_activity()
        self._takeover = CommandTakeover(deactivates=self._switch is not None)
        self._problems = MessageProblems(self)
        self._end_requested, self._unheard = Watchdog(), Watchdog()
        self._unheard.feed()
        topic = self._settings["heartbeat_topic"]
        self._grants = self.create_publisher(UInt64MultiArray, f"{topic}/acknowledged", COMMAND_QOS)
        self._problems.listen(UInt64MultiArray, topic, self._on_heartbeat)
        self._reported = False
        if self._settings["effort_topic"]:
            # read only when it matters: a controller_manager publishes a thousand times per second
            self.create_subscription(
                JointState, self._settings["effort_topic"], self._on_efforts, STATE_QOS, raw=True
            )
        self.create_timer(LOOK_PERIOD, self._look, clock=steady_clock())
        DiagnosticsPublisher(self, "heartbeat", self._report, spec.name)
        # the first message of a logger takes a tenth of a second, which an emergency has not
        self.get_logger().info(f"waiting for a heartbeat on {topic}")

    def _make_switch(self) -> Any:
        """Client that switches the controller of ros2_control, None where none is named."""
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

    def _switch_to(self, *, active: bool) -> Any:
        """The request with which the controller is active, or not."""
        request = self._switch.srv_type.Request()
        names = request.activate_controllers if active else request.deactivate_controllers
        names.append(self._settings["controller"])
        request.strictness = request.BEST_EFFORT
        return request

    def _hear_activity(self) -> None:
        """Hear which controllers are active; the first versions of Jazzy do not tell."""
        from controller_manager_msgs import msg

        if hasattr(msg, "ControllerManagerActivity"):
            self.create_subscription(
                msg.ControllerManagerActivity,
                f"{self._settings['controller_manager']}/activity",
                lambda message: self._on_activity(
                    entry.name
                    for entry in message.controllers
                    if entry.state.id == State.PRIMARY_STATE_ACTIVE
                ),
                LATCHED_QOS,
            )

    def _on_activity(self, names: Iterable[str]) -> None:
        """The controllers that are active now."""
        controller = self._settings["controller"]
        before, self._active = self._active, controller in names
        self._to_restore &= not self._active
        if before and not self._active and self._takeover.phase is Phase.WATCHING:
            self.get_logger().error(f"{controller} is not active any more: heartbeats not answered")

    def _on_heartbeat(self, message: UInt64MultiArray) -> str:
        if len(message.data) != len(Heartbeat._fields):
            return "expected three numbers"
        grant = self._takeover.heartbeat(
            Heartbeat(*message.data), self._settings["timeout"], connected=self._connected()
        )
        if grant is not None:
            self._grants.publish(UInt64MultiArray(data=grant))
        if self._to_restore and self._takeover.phase is Phase.WATCHING:
            self._restore()
        return ""

    def _connected(self) -> bool:
        """Whether zeros reach the active controller of ros2_control, or any subscriber.

        The subscriber's side of a connection may take a little longer than this one.
        """
        if not self._listens():
            self._unheard.feed()
        return self._unheard.age > _SETTLED

    def _listens(self) -> bool:
        if not (self._active and self._publisher.get_subscription_count()):
            return False
        name = self._settings["controller"]
        topic = self._publisher.topic_name
        return not name or any(
            end.node_name == name for end in self.get_subscriptions_info_by_topic(topic)
        )

    def _on_efforts(self, data: bytes) -> None:
        if self._reported and not self._takeover.taken_over:
            return
        message = deserialize_message(data, JointState)
        efforts = dict(zip(message.name, message.effort, strict=False))
        driven = [efforts.get(joint, math.nan) for joint in self._driven]
        if all(map(math.isfinite, driven)):
            self._reported = True
            largest = max(map(abs, driven), default=0.0)
            self._takeover.effort(zero=largest <= self._settings["effort_tolerance"])

    def _look(self) -> None:
        before = self._takeover.phase
        action = self._takeover.look()
        if action.zero:
            if isinstance(self._zero, JointState):
                self._zero.header.stamp = self.get_clock().now().to_msg()
            self._publisher.publish(self._zero)
        if self._takeover.phase is not before:
            self._tell()
        if action.deactivate:
            self._ask(self._switch_to(active=False), self._on_deactivated)

    def _tell(self) -> None:
        """Say in the log that the phase has changed."""
        phase = self._takeover.phase
        if phase is Phase.ZEROING:
            timeout = self._settings["timeout"]
            self.get_logger().error(f"no heartbeat for {timeout:.3g} s: commanding zero efforts")
        else:
            self.get_logger().info(phase.value)

    def _restore(self) -> None:
        """Activate what was deactivated for another generation; again where that was refused."""
        if self._restoring.age > _ASK_AGAIN:
            self._restoring.feed()
            self._ask(self._switch_to(active=True), self._on_activated)

    def _ask(self, request: Any, answered: Callable[[bool], None]) -> None:
        """Ask the controller manager, in the place of an earlier request."""
        if self._switched is not None:
            self._switch.remove_pending_request(self._switched)
        self._switched = self._switch.call_async(request)
        self._switched.add_done_callback(lambda future: answered(self._agrees(future.result())))

    def _agrees(self, answer: Any) -> bool:
        """Whether controller_manager has done what it was asked for."""
        return bool(answer.ok)

    def _on_deactivated(self, ok: bool) -> None:
        if ok:
            self._active, self._to_restore = False, True
        self._takeover.answered(ok=ok)
        self._tell()

    def _on_activated(self, ok: bool) -> None:
        controller = self._settings["controller"]
        if ok:
            self._active, self._to_restore = True, False
            self.get_logger().info(f"{controller} is active again")
        else:
            self.get_logger().error(f"controller_manager does not activate {controller}")

    def may_end(self) -> bool:
        """Whether the controller is inactive, or its hand-over is complete.

        A controller that was killed cannot report that it is inactive, so the wait is limited.
        """
        if not self._end_requested.fed:
            self._end_requested.feed()
        longest = self._settings["timeout"] + _LONGEST_END
        return self._takeover.may_end or self._end_requested.age > longest

    @property
    def exit_code(self) -> int:
        """Exit code of the process, as documented in ``docs/command_path.md``."""
        if not self._takeover.may_end:
            return _UNFINISHED
        return _TAKEN_OVER if self._takeover.taken_over else 0

    def destroy_node(self) -> None:
        """End, after the subscribers have received the final message."""
        if self._takeover.taken_over and self.context.ok():
            self._publisher.wait_for_all_acked(_ACKNOWLEDGED)
        super().destroy_node()

    def _report(self, report: Report) -> None:
        report.add("phase", self._takeover.phase.name.lower())
        report.add("driving", self._takeover.phase is not Phase.IDLE)
        report.add("heartbeat_age", self._takeover.silence)
        self._problems.report(report)
        if self._takeover.phase is Phase.WATCHING and not self._active:
            report.warn(f"{self._settings['controller']} is not active")
        elif self._takeover.phase is Phase.WATCHING and not self._connected():
            report.warn(f"no subscriber of {self._publisher.topic_name} that would take the zeros")
        if self._takeover.taken_over:
            report.error(
                f"the heartbeat of the controller has stopped; {self._takeover.phase.value}"
            )
