# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo_controller node: motor efforts with which a mechanism follows its tasks."""

from typing import Any

from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_msgs.msg import UInt64MultiArray
from std_srvs.srv import Trigger

from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.diagnostics.publisher import DiagnosticsPublisher, MessageProblems, Report
from uk_dynamics.ros.parameters.parameter import (
    CONFIGURED,
    REQUIRED,
    TABLES,
    TRAJECTORY,
    Parameters,
)
from uk_dynamics.ros.process.run_node import freeze_memory
from uk_dynamics.ros.process.transition_answers import TransitionAnswers
from uk_dynamics.ros.servo.command_authority import CommandAuthority, Grant
from uk_dynamics.ros.servo.fault_reactions import Fault, SafeStop
from uk_dynamics.ros.servo.servo_loop import ServoLoop
from uk_dynamics.ros.timing.clock import Watchdog, steady_clock
from uk_dynamics.ros.topics.qos import COMMAND_QOS

_WATCH_PERIOD = 0.02  # s
_ACKNOWLEDGED = Duration(seconds=0.5)  # longest wait for subscribers to receive the final message

_STOPPED = 3  # exit code: ended by a fault, and not activated since

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class ServoControllerNode(LifecycleNode):
    """The life cycle of a :class:`ServoLoop`."""

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; configure reads the files."""
        super().__init__("servo_controller", **options)
        self.loop: ServoLoop | None = None
        self._configured: set[tuple[str, Any]] = set()  # what configure has created, by kind
        self.active = False
        self._settings = Parameters(self, TABLES["servo_controller"])
        for name in CONFIGURED:
            self._settings.refuse(name, lambda value: self._too_late())
        self._problems = MessageProblems(self)
        self._authority = CommandAuthority(
            required=self._settings["watchdog"] == REQUIRED, on_loss=self._on_loss
        )
        self._stop = SafeStop(self, self._settings, self._send, self.trigger_deactivate)
        self._diagnostics = DiagnosticsPublisher(self, "control", self._report)
        self._answers = TransitionAnswers(self)
        self._activated = Watchdog()
        # not by configure: processes may take more than a second to find each other
        self._heartbeat = self.create_publisher(UInt64MultiArray, "~/heartbeat", COMMAND_QOS)
        self._problems.listen(UInt64MultiArray, "~/heartbeat/acknowledged", self._on_grant)
        if self._settings["autostart"]:
            if self.trigger_configure() is not SUCCESS:
                raise InputError(self._stop.reason)
            # once it spins: what is left of the start takes longer than a watchdog waits
            self._start = self.create_timer(0.0, self._autostart, clock=steady_clock())

    def _autostart(self) -> None:
        self._start.cancel()
        self.trigger_activate()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read mechanism and tasks, and subscribe."""
        try:
            if self.loop is None:
                before = self._created()
                try:
                    self._configure()
                finally:
                    self._configured = self._created() - before
        except UkDynamicsError as error:
            self._release()
            self._stop.reason = str(error)
            self.get_logger().error(self._stop.reason)
            return FAILURE
        self._stop.reason = ""
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start; the next state is t = 0 of the tasks, unless the mechanism depends on time.

        Who has asked for it is answered when efforts flow, or why they do not.
        """
        if self.loop is None:
            return FAILURE
        self.loop.prepare()
        self._authority.begin()
        self._stop.reason = ""
        self.active = True
        if self._authority.waiting:
            self.get_logger().info("waiting for command_watchdog")
        else:
            self.loop.start()
        self._beat()
        self._activated.feed()
        self._problems.mark()
        if self._settings["start_timeout"] > 0.0:
            self._answers.defer()
        return SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send the final message, and stop."""
        self._relax()
        self._beat()
        return SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release mechanism and tasks."""
        self._release()
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop, and release everything."""
        self._finish()
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Return to unconfigured after an unexpected error."""
        self.get_logger().error("a transition failed")
        self._finish()
        return SUCCESS

    def destroy_node(self) -> None:
        """End; an active controller sends the final message first."""
        self._finish()
        super().destroy_node()

    @property
    def exit_code(self) -> int:
        """Exit code of the process, as documented in ``docs/command_path.md``."""
        return _STOPPED if self._stop.reason else 0

    def _too_late(self) -> str:
        return "" if self.loop is None else "it was read by configure; clean up first"

    def _configure(self) -> None:
        settings = self._settings
        if settings["watchdog"] == REQUIRED and settings["command_mode"] == TRAJECTORY:
            raise InputError(
                "command_watchdog commands efforts; with command_mode trajectory the timeout of "
                "joint_trajectory_controller does its work",
                place="parameter watchdog",
            )
        loop = ServoLoop(self, settings, self._problems, self._authority, self._on_fault)
        self.loop = loop
        self.create_timer(_WATCH_PERIOD, self._look, clock=steady_clock())
        self.create_service(Trigger, "~/emergency_stop", self._on_emergency_stop)
        self._diagnostics.hardware = loop.mechanism.name
        freeze_memory()

    def _release(self) -> None:
        if self.loop is not None:
            self.loop.destroy()
            self.loop = None
        for kind, created in self._configured:
            getattr(self, f"destroy_{kind}")(created)
        self._configured = set()

    def _created(self) -> set[tuple[str, Any]]:
        kinds = ("publisher", "subscription", "timer", "service")
        return {(kind, created) for kind in kinds for created in getattr(self, f"{kind}s")}

    def _finish(self) -> None:
        if self.active and self.loop is not None:
            self._relax()
            self.loop.commands.publisher.wait_for_all_acked(_ACKNOWLEDGED)
            self._beat()
            self._heartbeat.wait_for_all_acked(_ACKNOWLEDGED)
        self._release()

    def _relax(self) -> None:
        """Send the final message, at once."""
        self._stop.cancel()
        if self.active and self.loop is not None and self.context.ok():
            self.loop.relax()
        self.active = False
        self._authority.end()
        self._answers.settle(success=False)

    def _send(self, efforts: Array) -> None:
        if self.loop is not None:
            self.loop.send(efforts)

    def _look(self) -> None:
        self._authority.check()  # first: the heartbeat says what has come of it
        self._beat()
        if self.loop is not None:
            self.loop.look()
        if self._answers.pending:
            self._judge_start()

    def _judge_start(self) -> None:
        """Answer the activation when efforts flow, or end it when they did not in time."""
        longest, loop = self._settings["start_timeout"], self.loop
        if loop is None or loop.drives:
            self._answers.settle(success=loop is not None)
        elif self._activated.age > longest:
            missing = self._missing_authority() if self._authority.waiting else loop.missing()
            problem = self._problems.since_mark
            also = f"; the last problem: {problem}" if problem else ""
            self._stop.reason = f"not activated: no efforts within {longest:g} s: {missing}{also}"
            self.get_logger().error(self._stop.reason)
            self.trigger_deactivate()

    def _missing_authority(self) -> str:
        """Why no watchdog has answered."""
        topic = self.resolve_topic_name("~/heartbeat/acknowledged")
        if not self.count_publishers(topic):
            return f"there is no command_watchdog (nobody publishes {topic})"
        return (
            "command_watchdog does not answer: is the controller of the motors active, and does no"
            " other servo_controller drive?"
        )

    def _beat(self) -> None:
        """Tell command_watchdog that the process is alive, and whether it drives the motors."""
        self._heartbeat.publish(UInt64MultiArray(data=self._authority.heartbeat))

    def _on_grant(self, message: UInt64MultiArray) -> str:
        if len(message.data) != len(Grant._fields):
            return "expected three numbers"
        waited = self._authority.waiting
        self._authority.receive(Grant(*message.data))
        if waited and self.active and self.loop is not None and self._authority.held:
            self.get_logger().info("command_watchdog is there: driving")
            self.loop.start()
        return ""

    def _on_loss(self, reason: str) -> None:
        if self.active and self.loop is not None and (pause := self.loop.pause()):
            self._on_fault(Fault.PAUSE, pause)  # the watchdog has only done its duty
        else:
            self._on_fault(Fault.WATCHDOG_LOST, reason)

    def _on_fault(self, fault: Fault, reason: str) -> None:
        if not self.active or self.loop is None:
            return
        self.loop.running = False
        self._stop.react(fault, reason, self.loop.efforts)

    def _on_emergency_stop(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        response.success = True
        response.message = "stopped" if self.active else "was not active"
        self._on_fault(Fault.EMERGENCY_STOP, "stopped by ~/emergency_stop; activate to continue")
        return response

    def _report(self, report: Report) -> None:
        report.add("active", self.active)
        if self._stop.reason:
            report.error(self._stop.reason)
        self._problems.report(report)
        if self.active and self._authority.waiting:
            report.warn("waiting for command_watchdog")
        if self.active and self.loop is not None:
            self.loop.report(report)
