# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Answers each state of a mechanism with commands to its motors."""

import contextlib
import importlib
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node

from uk_dynamics.control import reachable_acceleration
from uk_dynamics.control.servo import TASKS, Setpoint
from uk_dynamics.exceptions import DelayError, InputError, UkDynamicsError
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Inputs, State
from uk_dynamics.ros.diagnostics.decision import report_decision
from uk_dynamics.ros.diagnostics.motion import MotionReport
from uk_dynamics.ros.diagnostics.publisher import TIME_ORIGIN, MessageProblems, Report
from uk_dynamics.ros.parameters.parameter import TRAJECTORY, Parameters
from uk_dynamics.ros.process.mechanism_source import (
    load_mechanism,
    make_dynamics,
    make_servo,
    prediction_selection,
    selection,
)
from uk_dynamics.ros.servo.command_authority import CommandAuthority
from uk_dynamics.ros.servo.effort_decision import EffortDecision
from uk_dynamics.ros.servo.fault_reactions import Fault
from uk_dynamics.ros.servo.frozen_position_fault import FrozenPosition
from uk_dynamics.ros.servo.live_settings import GainCheck, LiveSettings
from uk_dynamics.ros.servo.motor_commands import COMMANDS
from uk_dynamics.ros.servo.reference_inputs import ReferenceInputs
from uk_dynamics.ros.servo.servo_timing import LoopDelay, ServoTiming
from uk_dynamics.ros.servo.state_guard import StateGuard, silence
from uk_dynamics.ros.servo.task_topics import TaskTopics
from uk_dynamics.ros.servo.written_estimates import WrittenEstimates
from uk_dynamics.ros.timing.clock import (
    TimeOrigin,
    Watchdog,
    nanoseconds,
    runs_on_simulated_time,
    stamp_clock,
)
from uk_dynamics.ros.topics.contact_input import contact_input
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
        self.running = False
        self._log = node.get_logger()
        self._settings, self._stop = settings, stop
        self._interpreted = InterpretedDynamics(mechanism)
        self._by_trajectory = settings["command_mode"] == TRAJECTORY
        chosen = selection if self._by_trajectory else prediction_selection
        self._dynamics = make_dynamics(mechanism, chosen(node, settings))
        period = self.controller.control_period
        self._decision = EffortDecision(node, settings, self.controller, self._dynamics)
        self._prediction = self._decision.prediction
        self._delay = LoopDelay(settings, mechanism.actuators.matrix, period, stamp_clock(node))
        self._gain_check = GainCheck(self.controller, settings)
        self._timing = ServoTiming(period)
        self._motion = MotionReport(mechanism, self._dynamics, settings)
        self._to_motors = np.linalg.pinv(mechanism.actuators.matrix)
        self._stamp = Time()
        self._answered: tuple[int, Array, list[Setpoint]] | None = None
        self._subscribed, self._sent, self._answerable = Watchdog(), Watchdog(), Watchdog()
        simulated = runs_on_simulated_time(node)
        self._frozen = FrozenPosition(mechanism, self._dynamics, settings)
        self._guard = StateGuard(mechanism.model, settings, reach=self._reach, simulated=simulated)
        # tasks start with the control, unless the mechanism itself depends on time
        own = None if mechanism.driven_by_time else TimeOrigin(simulated=False)
        self._states = StateInput(node, mechanism, problems, self._on_state, own, settings=settings)
        self._contacts = contact_input(settings, self.controller.tasks, problems)
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
        servo = self.controller.servo
        if servo is not None and servo.tasks.corrected and servo.control_period is None:
            problem = "the law compares periods (adaptive, observers); give it"
            raise InputError(problem, place="parameter update_rate")
        if servo is not None and servo.estimates:
            WrittenEstimates(node, servo, lambda: settings["estimates_folder"])

    def prepare(self) -> None:
        """Do what takes long, some tenths of a second, before :meth:`start`.

        A first decision loads code and fills caches; it would outlast the lease of the commands.
        """
        importlib.import_module("scipy.optimize")  # for safe gains, once the delay is measured
        self._timing.start()
        with contextlib.suppress(UkDynamicsError, np.linalg.LinAlgError):  # measured states decide
            self._decide(self.mechanism.start(), self._inputs())
        self._decision.reset()

    def start(self) -> None:
        """Answer states from now on; nothing is commanded before the first one."""
        self._states.origin.reset()
        self.references.forget()
        self._guard.forget()
        self._frozen.forget()
        self._delay.start()
        self._decision.reset()
        self._motion.forget()
        self._states.forget()
        if self._contacts is not None:
            self._contacts.begin()
        self._subscribed.forget()
        self._answerable.forget()
        self.commands.begin()
        self._answered = None
        self.running = True

    @property
    def efforts(self) -> Array | None:
        """Present efforts of the motors, (motors,); None where the watchdog has replaced them."""
        longest = self._settings["state_timeout"] + self._settings["ramp_time"]
        return None if self._answered is None or self._sent.age > longest else self._answered[1]

    @property
    def drives(self) -> bool:
        """Whether efforts reach a subscriber since the last start."""
        answered = self.running and self._answered is not None
        return answered and self.commands.subscribers > 0 and not self.commands.lost

    def missing(self) -> str:
        """What is missing for efforts to flow."""
        if not self._states.watchdog.fed:
            return f"no usable state on {self._states.topic}"
        if self._answered is None:
            return "states could not be answered"
        return f"no subscriber takes {self.commands.publisher.topic_name}"

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
        if self._delay.settled and not self._by_trajectory:  # which tracks a motion without delay
            predicted = self._prediction.predicted
            for warning in self._gain_check.look(predicted, self._delay.remaining(predicted)):
                self._log.warning(warning)
        if doubt := silence(self._guard, self._states, begun=self._answered is not None):
            self._end(*doubt)
        elif self._contacts is not None and self._answered is not None and self._contacts.silent:
            self._end(Fault.CONTACTS_STALE, self._contacts.silent)
        elif self.commands.subscribers:
            self._subscribed.feed()
        elif self._subscribed.fed and self._subscribed.age > self._settings["listener_timeout"]:
            self._end(
                Fault.NO_LISTENER, f"no subscriber of {self.commands.publisher.topic_name} any more"
            )

    def pause(self) -> str:
        """What there is to say of a pause of this process that has just ended; or nothing."""
        doubt = self._guard.silence() if self.running else None
        return doubt.reason if doubt and doubt.fault is Fault.PAUSE else ""

    def destroy(self) -> None:
        """Withdraw the action and the parameters; publishers and subscriptions are the node's."""
        self.running = False
        self._timing.stop()
        self.references.destroy()
        self._live_settings.destroy()

    def report(self, report: Report) -> None:
        """Add the timing of states, and the decision on the last one."""
        self._timing.report(report)
        self._delay.report(report)
        self._gain_check.report(report)
        self._states.report(report, self._settings["state_timeout"])
        if self._answered is None or not self.running:
            return
        command = self._decision.command()
        report.add(TIME_ORIGIN, str(self._states.origin.total))
        state = self._states.state
        self._motion.report(report, state, command.free, self._inputs())
        warning = self._settings["tracking_warning"]
        errors = self.controller.tracking_error(state, self.references.followed)
        report_decision(report, self.controller, errors, command, warning)

    def _now(self) -> float | None:
        """Time of the last state in s, None before the first one."""
        return self._states.t if self.running and self._answered else None

    def _followed_state(self) -> State | None:
        """The last state, None while no tasks are followed."""
        return None if self._now() is None or self.controller.mode != TASKS else self._states.state

    def _active(self) -> ActiveConstraints | None:
        """What is on, and closed; None: as in the mechanism file."""
        if self._contacts is None:
            return self._states.active
        return self._contacts.closed(self._states.active)

    def _inputs(self, t: float | None = None) -> Inputs:
        """What the structure does, with contacts that stand by the tasks, now or at t in s."""
        inputs, tasks = self._states.inputs(), self.controller.tasks
        if tasks is None or tasks.standing is None:
            return inputs
        active, _ = tasks.standing.held(self._states.t if t is None else t, self._active())
        return replace(inputs, active=active)

    def _on_state(self, stamp: Time) -> None:
        if not self.running:
            return
        at = nanoseconds(stamp)
        reader = self._states.reader
        if doubt := self._guard.check(at, reader.q, reader.v):
            self._end(*doubt)
            return
        if self.commands.lost:  # the motors have not moved: the tasks begin now
            if self.commands.on_its_way:
                return
            self._states.begin_at(stamp)
            self._decision.reset()
            self._answered = None
        self._stamp = stamp
        if self._answered is None:
            self._begin(reader.effort)
            if not self._answerable.fed:
                self._answerable.feed()
        elif at == self._answered[0]:  # the same state again: no time has passed
            self._sent.feed()
            self.commands.drive(*self._answered[1:], stamp)
            return
        inputs = self._inputs()
        if self._answered is not None and not self._by_trajectory:
            last, efforts, _ = self._answered
            period = self.controller.control_period or 0.0
            elapsed = (at - last) * 1e-9
            if reason := self._frozen.look(self._states.state, inputs, efforts, elapsed, period):
                self._end(Fault.FROZEN_POSITION, reason)
                return
        self._timing.begin(stamp)
        self._prediction.longest = self._settings["longest_prediction"]
        self._prediction.delay = self._delay.of_state(at)
        active = self._active()
        self.controller.active = None if active is None else self.mechanism.for_control(active)
        self.controller.structure = self._states.references
        state = self._states.state
        try:
            error = self.controller.loop_closure_error(state)
            if error > self._settings["residual_limit"]:
                self._end(Fault.OPEN_LOOP, f"constraints are violated by {error:.3g} m or rad")
                return
            efforts, setpoints = self._decide(state, inputs)
        except DelayError as error:  # too old to be answered, once or all the time
            if self._answerable.age > self._settings["state_timeout"]:
                self._end(Fault.LONG_DELAY, str(error))
            return
        except (UkDynamicsError, np.linalg.LinAlgError) as failure:
            self._end(Fault.SOLVER_FAILURE, str(failure))
            return
        if not math.isfinite(math.fsum(efforts.tolist())):
            self._end(Fault.SOLVER_FAILURE, f"the efforts are not finite at t = {state.t:.6g} s")
            return
        if doubt := self._guard.silence():  # the process was suspended while it computed
            self._end(*doubt)
            return
        self._answered = at, efforts, setpoints
        self._answerable.feed()
        self._sent.feed()  # first: the process may be suspended in between
        self.commands.drive(efforts, setpoints, stamp)
        if not self._subscribed.fed and self.commands.subscribers:
            self._subscribed.feed()  # who has heard one command may leave before the next look
        self._delay.answered(at, efforts, reader.effort)
        self._timing.end(stamp)
        self._topics.publish(stamp, state, self._decision.command, self.references.followed)
        self._motion.see(state, inputs)

    def _begin(self, efforts: Array) -> None:
        """Start at the first measured state, with joint efforts (nv,), zero where not measured."""
        self.controller.reset(self._to_motors @ efforts)
        self._decision.begin()
        if not self._answerable.fed:
            rate = self._settings["update_rate"]
            self._log.info("driving" + (f" at {rate:g} Hz" if rate else ""))

    def _decide(self, state: State, inputs: Inputs) -> tuple[Array, list[Setpoint]]:
        """Efforts for a measured state; and setpoints, for drives that follow trajectories."""
        followed, delay = self.references.followed, self._delay.delay
        return self._decision.on(state, followed, inputs, self._inputs, delay)

    def _reach(self, q: Array, v: Array) -> Array:
        """Largest accelerations that the motors can cause, (nv,)."""
        idle = np.zeros(len(self.mechanism.actuators))
        efforts = idle if self._answered is None else self._answered[1]
        state = State(self._states.t, q, v)
        try:
            return reachable_acceleration(
                self.mechanism, self._interpreted, state, efforts, self._inputs()
            )
        except UkDynamicsError:  # nothing is known of it
            return np.zeros(len(v))

    def _end(self, fault: Fault, reason: str) -> None:
        self.running = False
        self._stop(fault, reason)
