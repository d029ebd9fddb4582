"""Answers each state of a mechanism with commands to its motors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node

from uk_dynamics.control import MotorCommand
from uk_dynamics.control.servo import TASKS, Setpoint, SetpointGenerator
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.dynamics import Dynamics, InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.ros.diagnostics.dynamics import report_dynamics
from uk_dynamics.ros.diagnostics.publisher import TIME_ORIGIN, MessageProblems, Report
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.parameters.tables import TRAJECTORY
from uk_dynamics.ros.process.mechanism_source import (
    load_mechanism,
    make_dynamics,
    make_servo,
    selection,
)
from uk_dynamics.ros.servo.command_authority import CommandAuthority
from uk_dynamics.ros.servo.decision_report import report_decision
from uk_dynamics.ros.servo.faults import Fault
from uk_dynamics.ros.servo.live_settings import LiveSettings
from uk_dynamics.ros.servo.motor_commands import COMMANDS
from uk_dynamics.ros.servo.reference_inputs import ReferenceInputs
from uk_dynamics.ros.servo.servo_timing import ServoTiming
from uk_dynamics.ros.servo.state_guard import StateGuard
from uk_dynamics.ros.servo.task_topics import TaskTopics
from uk_dynamics.ros.timing.clock import TimeOrigin, Watchdog, nanoseconds, runs_on_simulated_time
from uk_dynamics.ros.topics.inputs import StateInput


class ServoLoop:
    """Answers every state of ``joint_states`` with a command while it runs."""

    def __init__(
        self,
        node: Node,
        settings: Parameters,
        problems: MessageProblems,
        authority: CommandAuthority,
        stop: Callable[[Fault, str], None],
    ) -> None:
        """Read mechanism and tasks, and subscribe; a fault and its reason are given to ``stop``."""
        mechanism = load_mechanism(node, settings)
        self.mechanism = mechanism
        rate = settings["update_rate"]
        self.controller = make_servo(node, settings, mechanism, 1.0 / rate if rate else None)
        self.commands = COMMANDS[settings["command_mode"]](node, settings, mechanism, authority)
        self.command: MotorCommand | None = None
        self.running = False
        self._settings = settings
        self._stop = stop
        self._dynamics: Dynamics = InterpretedDynamics(mechanism)
        self._by_trajectory = settings["command_mode"] == TRAJECTORY
        if self._by_trajectory:
            self._dynamics = make_dynamics(mechanism, selection(node, settings))
        self._desired = SetpointGenerator(mechanism, self._dynamics)
        self._timing = ServoTiming(self.controller.control_period)
        self._to_motors = np.linalg.pinv(mechanism.actuators.matrix)
        self._stamp = Time()
        self._answered: tuple[int, Setpoint] | None = None
        self._subscribed, self._sent = Watchdog(), Watchdog()
        simulated = runs_on_simulated_time(node)
        self._guard = StateGuard(mechanism.model, settings, simulated=simulated)
        # tasks start with the control, unless the mechanism itself depends on time
        own = None if mechanism.driven_by_time else TimeOrigin(simulated=False)
        self._states = StateInput(node, mechanism, problems, self._on_state, own)
        self.references = ReferenceInputs(
            node,
            settings,
            self.controller.tasks,
            problems,
            self._states.origin,
            now=self._now,
            state=self._followed_state,
        )
        self._live_settings = LiveSettings(settings, self.controller)
        self._topics = TaskTopics(node, self.controller.servo)

    def prepare(self) -> None:
        """Do what takes long, some tenths of a second, before :meth:`start`."""
        self._timing.start()

    def start(self) -> None:
        """Answer states from now on; nothing is commanded before the first one."""
        self._states.origin.reset()
        self.references.forget()
        self._guard.forget()
        self._states.watchdog.forget()
        self._subscribed.forget()
        self.command = None
        self._answered = None
        self.running = True

    @property
    def efforts(self) -> Array | None:
        """Present efforts of the motors, (motors,); None where the watchdog has replaced them."""
        longest = self._settings["state_timeout"] + self._settings["ramp_time"]
        if self.command is None or self._sent.age > longest:
            return None
        return self.command.efforts

    def send(self, efforts: Array) -> None:
        """Command efforts, (motors,), in N or N·m, as the answer to the last state."""
        self.commands.send(efforts, self._stamp)

    def relax(self) -> None:
        """Stop answering states, and send the final message."""
        self.running = False
        self._timing.stop()
        self.commands.finish(self._stamp)

    def look(self) -> None:
        """Check what no state shows: that none comes, or that the commands have no subscriber."""
        if not self.running:
            return
        if doubt := self._guard.silence():
            self._end(*doubt)
        elif self.commands.subscribers:
            self._subscribed.feed()
        elif self._subscribed.fed and self._subscribed.age > self._settings["listener_timeout"]:
            self._end(Fault.NO_LISTENER, f"no subscriber of {self.commands.topic} any more")

    def destroy(self) -> None:
        """Unsubscribe, and destroy the publishers."""
        self.running = False
        self._timing.stop()
        self._states.destroy()
        self.references.destroy()
        self._live_settings.destroy()
        self._topics.destroy()
        self.commands.destroy()

    def report(self, report: Report) -> None:
        """Add the timing of states, and the decision on the last one."""
        self._timing.report(report)
        self._states.report(report, self._settings["state_timeout"])
        command = self.command
        if command is None or not self.running:
            return
        report.add(TIME_ORIGIN, str(self._states.origin.total))
        state = self._states.state
        report_dynamics(
            report,
            self.mechanism,
            state,
            command.free,
            self._dynamics,
            self._settings["residual_warning"],
            self._states.inputs(),
        )
        warning = self._settings["tracking_warning"]
        errors = self.controller.tracking_error(state, self.references.followed)
        report_decision(report, self.controller, errors, command, warning)

    def _now(self) -> float | None:
        """Time of the last state in s, None before the first one."""
        return self._states.t if self.running and self._answered else None

    def _followed_state(self) -> State | None:
        """The last state, None while no tasks are followed."""
        if self._now() is None or self.controller.mode != TASKS:
            return None
        return self._states.state

    def _on_state(self, stamp: Time) -> None:
        if not self.running:
            return
        self._stamp = stamp
        at = nanoseconds(stamp)
        reader = self._states.reader
        if doubt := self._guard.check(at, reader.q, reader.v):
            self._end(*doubt)
            return
        if self._answered is None:
            self._begin(reader.effort)
        elif at == self._answered[0]:  # the same state again: no time has passed
            self._sent.feed()
            self.commands.drive(self._answered[1], stamp)
            return
        self._timing.begin(stamp)
        self.controller.active = self._states.active
        self.controller.structure = self._states.references
        state = self._states.state
        try:
            error = self.controller.loop_closure_error(state)
            if error > self._settings["residual_limit"]:
                self._end(Fault.OPEN_LOOP, f"constraints are violated by {error:.3g} m or rad")
                return
            command, setpoint = self._decide(state)
        except (UkDynamicsError, np.linalg.LinAlgError) as failure:
            self._end(Fault.SOLVER_FAILURE, str(failure))
            return
        if not np.isfinite(command.efforts).all():
            self._end(Fault.SOLVER_FAILURE, f"the efforts are not finite at t = {state.t:.6g} s")
            return
        if doubt := self._guard.silence():  # the process was suspended while it computed
            self._end(*doubt)
            return
        self.command = command
        self._answered = at, setpoint
        self._sent.feed()  # first: the process may be suspended in between
        self.commands.drive(setpoint, stamp)
        self._timing.end(stamp)
        self._topics.publish(stamp, state, command, self.references.followed)

    def _begin(self, efforts: Array) -> None:
        """Start at the first measured state, with joint efforts (nv,), zero where not measured."""
        self.controller.reset(self._to_motors @ efforts)
        self._desired.reset()

    def _decide(self, state: State) -> tuple[MotorCommand, Setpoint]:
        """Command and setpoint for a measured state."""
        followed = self.references.followed
        if self._by_trajectory:
            desired = self._desired.desired_state(state, self._states.inputs())
            command = self.controller.command(desired, followed)
            return command, self._desired.setpoint(command)
        command = self.controller.command(state, followed)
        return command, Setpoint(state.q, state.v, command.qdd, command.efforts, 0.0)

    def _end(self, fault: Fault, reason: str) -> None:
        self.running = False
        self._stop(fault, reason)
