"""The servo_controller node: motor efforts that make a mechanism follow its tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from uk_dynamics.control.servo_controller import Command, ServoController
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Inputs, State
from uk_dynamics.ros.active_constraints import ActiveConstraintsInput
from uk_dynamics.ros.clock import (
    TimeOrigin,
    Watchdog,
    nanoseconds,
    runs_on_simulated_time,
    steady_clock,
)
from uk_dynamics.ros.diagnostics import DiagnosticsPublisher, MessageProblems, Report
from uk_dynamics.ros.effort_ramp import EffortRamp
from uk_dynamics.ros.inputs import COMMAND_QOS, StateInput
from uk_dynamics.ros.lifecycle import answer_invalid_transitions
from uk_dynamics.ros.live_references import LiveReferences
from uk_dynamics.ros.mechanism_source import load_mechanism, load_tasks
from uk_dynamics.ros.motor_commands import (
    EffortArrayCommands,
    JointStateCommands,
    MotorCommands,
)
from uk_dynamics.ros.parameter_tables import EFFORT_COMMANDS, JOINT_COMMANDS, SERVO_CONTROLLER
from uk_dynamics.ros.parameters import Parameters
from uk_dynamics.ros.rate_monitor import RateMonitor
from uk_dynamics.ros.reports import report_dynamics, report_rate, report_states, report_tracking
from uk_dynamics.ros.run_node import run_node, settle_memory
from uk_dynamics.ros.safety import REACTIONS, Fault, Reaction
from uk_dynamics.ros.state_guard import StateGuard

_WATCH_PERIOD = 0.02  # s
_LAST_WORD = Duration(seconds=0.5)  # longest wait for the machine to hear that efforts are zero

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class ServoControllerNode(LifecycleNode):
    """Answers every state of ``joint_states`` with motor efforts while it is active."""

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; files are read by configure.

        Args:
            **options: Passed on to the node: namespace, parameter_overrides ...

        Raises:
            UkDynamicsError: A parameter is not valid, or autostart fails.
        """
        super().__init__("servo_controller", **options)
        self._settings = Parameters(self, SERVO_CONTROLLER)
        self._problems = MessageProblems(self.get_logger())
        self._monitor = RateMonitor()
        self._controller: ServoController | None = None
        self._active = False
        self._failure = ""
        self._command: Command | None = None
        self._ramp = EffortRamp(
            self, lambda efforts: self._commands.send(efforts, self._stamp), self._give_up
        )
        self._stamp = Time()
        self._diagnostics = DiagnosticsPublisher(self, "control", self._report)
        answer_invalid_transitions(self)
        if self._settings["autostart"]:
            if self.trigger_configure() is not SUCCESS:
                raise InputError(self._failure)
            self.trigger_activate()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read mechanism and tasks, and listen."""
        try:
            if self._controller is None:
                self._configure()
        except UkDynamicsError as error:
            self._failure = str(error)
            self.get_logger().error(self._failure)
            return FAILURE
        self._failure = ""
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start; the first state that comes now is t = 0 of the tasks, unless there is /clock."""
        self._origin.reset()
        self._live.samples.clear()
        self._guard.forget()
        self._states.watchdog.forget()  # before the first state nothing is commanded
        self._heard = Watchdog()
        self._command = None
        self._failure = ""
        self._active = True
        self._monitor.pause()
        return SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop; efforts become zero."""
        self._relax()
        self._active = False
        self._beat()
        return SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget mechanism and tasks."""
        self._release()
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good."""
        self._finish()
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Back to unconfigured after something unforeseen."""
        self.get_logger().error("a transition failed")
        self._finish()
        return SUCCESS

    def destroy_node(self) -> None:
        """End; a machine that is being driven is told to relax."""
        self._finish()
        super().destroy_node()

    def _configure(self) -> None:
        mechanism = load_mechanism(self, self._settings)
        self._controller = ServoController(mechanism, load_tasks(self._settings, mechanism))
        self._dynamics = mechanism.dynamics()
        self._commands = self._make_commands(mechanism)
        self._idle = np.zeros(len(mechanism.actuators))
        self._heartbeat = self.create_publisher(Bool, "~/heartbeat", COMMAND_QOS)
        self._origin = TimeOrigin(simulated=runs_on_simulated_time(self))
        self._guard = StateGuard(mechanism.model, self._settings)
        self._states = StateInput(self, mechanism, self._problems, self._on_state)
        self._constraints = ActiveConstraintsInput(self, mechanism, self._problems)
        self._live = LiveReferences(self, self._controller.tasks, self._problems)
        self._watch = self.create_timer(_WATCH_PERIOD, self._look, clock=steady_clock())
        self._stop_service = self.create_service(
            Trigger, "~/emergency_stop", self._on_emergency_stop
        )
        self._diagnostics.hardware = mechanism.name
        settle_memory()

    def _make_commands(self, mechanism: Mechanism) -> MotorCommands:
        topic = self._settings["command_topic"]
        if self._settings["command_mode"] == "joint_state":
            names = mechanism.model.velocity_names
            return JointStateCommands(self, mechanism.actuators, names, topic or JOINT_COMMANDS)
        return EffortArrayCommands(self, mechanism.actuators, topic or EFFORT_COMMANDS)

    def _release(self) -> None:
        if self._controller is None:
            return
        self._controller = None
        self._command = None
        self.destroy_timer(self._watch)
        self.destroy_service(self._stop_service)
        self.destroy_subscription(self._states.subscription)
        self._live.destroy()
        self._constraints.destroy()
        self._commands.destroy()
        self.destroy_publisher(self._heartbeat)

    def _finish(self) -> None:
        if self._active:
            self._relax()
            self._commands.wait(_LAST_WORD)
            self._active = False
            self._beat()
            self._heartbeat.wait_for_all_acked(_LAST_WORD)
        self._release()

    def _on_state(self, stamp: Time) -> None:
        if not self._active or self._ramp.active or self._controller is None:
            return
        self._stamp = stamp
        reader = self._states.reader
        if doubt := self._guard.check(nanoseconds(stamp), reader.q, reader.v):
            self._stop(*doubt)
            return
        state = State(self._origin.since(stamp), reader.q, reader.v)
        self._monitor.tick()
        self._controller.active = self._constraints.active
        try:
            command = self._controller.command(state, self._live.samples)
        except UkDynamicsError as error:
            self._stop(Fault.SOLVER_FAILURE, str(error))
            return
        if not np.isfinite(command.efforts).all():
            self._stop(Fault.SOLVER_FAILURE, f"the efforts are not finite at t = {state.t:.6g} s")
            return
        if command.violation > self._settings["residual_limit"]:
            self._stop(
                Fault.OPEN_LOOP, f"constraints are violated by {command.violation:.3g} m or rad"
            )
            return
        self._failure = ""
        self._command = command
        self._commands.send(command.efforts, stamp)

    def _look(self) -> None:
        """Watch what no state tells: that none comes, that nobody listens."""
        self._beat()
        if not self._active or self._ramp.active:
            return
        watchdog = self._states.watchdog
        if watchdog.fed and watchdog.age > self._settings["state_timeout"]:
            self._stop(Fault.STALE_STATE, f"no usable joint_states for {watchdog.age:.3g} s")
        if self._commands.listeners:
            self._heard.feed()
        elif self._heard.fed and self._heard.age > self._settings["listener_timeout"]:
            self._stop(Fault.NO_LISTENER, f"nobody listens to {self._commands.topic} any more")

    def _beat(self) -> None:
        """Tell the command_watchdog that the process is alive, and whether it drives."""
        self._heartbeat.publish(Bool(data=self._active))

    def _on_emergency_stop(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        response.success = True
        response.message = "stopped" if self._active else "was not active"
        if self._active:
            self._stop(Fault.EMERGENCY_STOP, "stopped by ~/emergency_stop; activate to go on")
        return response

    def _stop(self, fault: Fault, reason: str) -> None:
        """React to a fault; see the table of reactions."""
        if not self._active:
            return
        self._failure = f"{fault.name.lower()}: {reason}"
        self.get_logger().error(self._failure)
        reaction = REACTIONS[fault][self._settings["command_mode"]]
        duration = self._settings["ramp_time"]
        if reaction is Reaction.RAMP and duration > 0.0 and self._command is not None:
            self._ramp.start(self._command.efforts, duration)
        else:
            self._give_up()

    def _give_up(self) -> None:
        reason = self._failure
        self.trigger_deactivate()
        self._failure = reason

    def _relax(self) -> None:
        """Command zero efforts, at once."""
        self._ramp.stop()
        if self._active and self.context.ok():
            self._commands.send(self._idle, self._stamp)

    def _report(self, report: Report) -> None:
        report.add("active", str(self._active).lower())
        self._problems.report(report)
        if self._failure:
            report.error(self._failure)
        if not self._active or self._controller is None:
            return
        report_rate(report, self._monitor)
        report_states(report, self._states, self._settings["state_timeout"])
        command = self._command
        if command is None or self._failure:
            return
        reader = self._states.reader
        state = State(0.0, reader.q, reader.v)
        report_dynamics(
            report,
            self._controller.mechanism,
            state,
            command.free,
            self._dynamics,
            self._settings["residual_warning"],
            Inputs(active=self._constraints.active),
        )
        report_tracking(report, self._controller, command, self._settings["tracking_warning"])


def main(args: Sequence[str] | None = None) -> int:
    """Run the controller until it is told to end."""
    return run_node(ServoControllerNode, args)


if __name__ == "__main__":
    raise SystemExit(main())
