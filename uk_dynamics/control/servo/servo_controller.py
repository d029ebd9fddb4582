# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Servo control: motor efforts that make a mechanism with closed loops follow its tasks."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from uk_dynamics.compilation.runtime import ForeignReferenceError
from uk_dynamics.constraints.references import References, ReferenceSample
from uk_dynamics.control.command import Command
from uk_dynamics.control.servo.compiled_period import CompiledPeriod
from uk_dynamics.control.servo.servo_backend import compiled_servo
from uk_dynamics.control.servo.servo_command import ServoCommands, caused_by
from uk_dynamics.core.servo import Measurement, passage, surface
from uk_dynamics.exceptions import expect_size
from uk_dynamics.mechanism.dynamics import (
    Backend,
    Demand,
    RobustDemand,
    TrackingErrors,
    require_finite,
    require_finite_reference,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, State


class ServoController(ServoCommands):
    """The servo law (servo paper (35), in the dynamics constrained by the structure), with limits.

    Where tasks do not determine the efforts, uᵀ W u is minimised, with W = 1/limit² unless the
    tasks file has other weights, so that motors of different kind and size share the effort. The
    feedback of a task may be distributed differently, review (72). Friction of loop joints is
    compensated, with the joint forces that the efforts themselves cause.

    Where limits or conflicting tasks prevent this, tasks of higher priority come first; see
    :class:`LimitedAllocation`.

    What it is set to is that of :class:`~.servo_settings.ServoSettings`.
    """

    @property
    def backend(self) -> Backend:
        """What answered last: ``interpreted`` or ``compiled``."""
        return "interpreted" if compiled_servo(self._evaluator) is None else "compiled"

    def compute(self, state: State) -> dict[str, float]:
        """Efforts by motor name, in N or N·m, within the limits; see :meth:`command`.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        return self.mechanism.actuators.by_name(self.command(state).efforts)

    def command(
        self,
        state: State,
        references: References | None = None,
        *,
        preload: Mapping[str, float] | Array | None = None,
    ) -> Command:
        """Efforts, what limits them, and what the tasks get.

        Args:
            state: Measured state; t is the time of the references.
            references: Samples, or functions of time, that replace those of the tasks file, by
                task name.
            preload: Preferred efforts s where the tasks leave freedom, by motor name or (motors,),
                in N or N·m; None: the attribute.

        Raises:
            UnknownNameError: A reference or preload is for a task or motor that does not exist.
            StateError: The state, a reference or preload has the wrong size.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        model, actuators = self.mechanism.model, self.mechanism.actuators
        expect_size("q", state.q, model.nq)
        expect_size("v", state.v, model.nv)
        given = None if preload is None else actuators.efforts(preload)
        with self._lock:
            period = self._period()
            if isinstance(period, CompiledPeriod):
                efforts = period.efforts(state, references, given)
                if efforts is not None:
                    return self.command_of(period, efforts, period.call.flags)
            require_finite(model, state)
            for name, sample in (references or {}).items():
                if isinstance(sample, ReferenceSample):
                    require_finite_reference(name, sample)
            self.memory.current = False  # evaluations in Python overwrite settings
            return self._decide(state, references, self.preload if given is None else given)

    def _decide(
        self, state: State, references: References | None, preferred: Array | None
    ) -> Command:
        """The steps in Python, which are those of ``control_period.c``."""
        standing = None if self._plan is None else self._plan.at(state, self.active)
        active = self.active if self._plan is None else self._plan.contacts.without(self.active)
        ahead = state if self.prediction is None else self.prediction.ahead(state)
        inputs = Inputs(self._friction_forces(ahead), active=active, references=self.structure)
        if self.internal is not None:
            preferred = self.internal.added_to(preferred, ahead, self.active, self.structure)
        errors = self._evaluator.errors(state, references)  # feedback uses the measured state
        added = None
        if self.corrections is not None:
            measured, followed = self._measured(), self.tasks.sample(state.t, references)
            errors, added = self.corrections.after(errors, measured, followed)
        relative, approach = self.start.along(errors, self.blend_time, state.t, ahead.t)
        if added is not None:
            approach = added if approach is None else approach + added
        against = self._against(relative)
        feedback = self.gains.feedback(relative)
        if self._plan is not None:
            feedback = feedback * self._plan.lifted()
        demand = Demand(feedback, approach, self.weights, preferred, inputs, against, standing)
        outcome = self._evaluator.evaluate(ahead, demand, references)
        servo = outcome.servo
        bounds = self.limits.bounds(state.v, 2.0 * ahead.v - state.v)  # both ends of the period
        if held := self._holds(outcome.free.rank):
            last = self.memory.fields["commands"][: len(bounds.lower)]
            efforts, settled = np.clip(last, bounds.lower, bounds.upper), True
            if standing is not None:
                assert self._plan is not None
                efforts = self._plan.held(efforts, servo, standing)
        elif self._serves(servo, bounds, demand.standing):
            # the closed form satisfies the limits, and no tasks of different priority conflict
            efforts, settled = servo.efforts, True
        else:
            efforts, settled = self._evaluator.allocate(servo, demand, bounds.lower, bounds.upper)
        caused, stood = caused_by(outcome, efforts), None
        if standing is not None:
            assert self._plan is not None
            stood = self._plan.answer(servo, efforts, standing)
            servo, efforts = stood.servo, stood.efforts
        self.limits.remember(efforts)
        if self.corrections is not None:
            self.corrections.note(outcome, efforts)
        names = self.mechanism.actuators.names
        limited = {} if efforts is servo.efforts else bounds.reasons(names, efforts)
        told = self._told(servo, errors, efforts, limited, stood, settled=settled)
        return Command(
            **told, **caused, **self._promised(relative), robust=outcome.robust, held=held
        )

    def _friction_forces(self, ahead: State) -> Array | None:
        """What friction and damping at smoothed velocities are more than at those ahead, (nv,)."""
        smooth = None if self.prediction is None else self.prediction.friction_v
        if smooth is None or self.friction == "none":
            return None
        resistance = self.mechanism.passive.resistance
        return resistance(smooth) - resistance(ahead.v)

    def _against(self, errors: TrackingErrors) -> RobustDemand | None:
        """What the robust term acts against, and estimates need."""
        if self.promise is None or not (self.robust or self.tasks.adaptive):
            return None
        gains, fields = (self.gains.damping, self.gains.stiffness), self.memory.fields
        scale, gain = fields["robust_scale"].copy(), fields["robust_gain"].copy()
        known = self.promise.known._replace(scale=scale, gain=gain)
        demand = RobustDemand(surface(errors.residual, errors.rate, *gains), known, self.robust)
        if self.prediction is not None:
            demand = demand._replace(friction_v=self.prediction.friction_v)
        if not self.tasks.adaptive:
            return demand
        learned: dict[str, Any] = {x: fields[x].copy() for x in ("added", "lacking", "estimate")}
        return demand._replace(**learned, adapts=float(fields["adapts"][0]))

    def _measured(self) -> Measurement:
        """What the last state told; nothing where control is continuous."""
        if self.prediction is None or self.prediction.told is None:
            return Measurement(*np.zeros((4, 1)))._replace(elapsed=np.ones(1))
        return self.prediction.told

    def _holds(self, rank: int) -> bool:
        """Whether this period holds the last efforts, in a singular configuration."""
        fields = self.memory.fields
        past = [fields[x] for x in ("regular_rank", "periods_held", "known_commands", "period")]
        hold, past[0][:], past[1][:] = passage(np.array([float(rank)]), *past)
        return bool(hold[0])

    def compiled(self) -> CompiledPeriod | str:
        """Whole control periods in C; otherwise what keeps them in Python, by name.

        The name is empty where the law is interpreted altogether, as its backend decides.
        """
        period = self._period(now=True)
        if isinstance(period, str):
            return period
        if self._plan is not None and self._plan.detects:
            return "contacts that stand where they are detected"
        try:
            period.set()
        except ForeignReferenceError as error:
            return str(error)
        return period

    def _period(self, *, now: bool = False) -> CompiledPeriod | str:
        """Periods in C where references allow it; what does not."""
        servo = compiled_servo(self._evaluator, now=now)
        if servo is None:
            return ""
        if servo.call.periods is None:
            return "joints with several coordinates"
        if self._active is not None and self._active.beyond_rows:
            return "friction of what slides" if self._active.sliding else "feet a hair apart"
        if self.internal is not None and self.mechanism.local is not None:
            return f"internal forces of {self.mechanism.model.nv} velocities"
        if self.structure and not self.mechanism.follows_references:
            return f"what {', '.join(self.structure)} follows"
        if self._in_c is None:
            another = partial(ServoController, self.mechanism, self.tasks)
            self._in_c = CompiledPeriod(servo, self.tasks, self.memory, self.settings, another)
        return self._in_c

    def loop_closure_error(self, state: State) -> float:
        """Largest residual of the loops, in m or rad; feet that slip open none."""
        active = self.active if self._plan is None else self._plan.contacts.without(self.active)
        return self._evaluator.loop_closure_error(
            state, Inputs(active=active, references=self.structure)
        )

    def errors(self, state: State, references: References | None = None) -> TrackingErrors:
        """Error of each task row and its rate, as in :class:`Command`, without computing efforts.

        One-sided tasks have an error beyond their bounds only.

        Args:
            state: Positions and velocities; t is the time of the references.
            references: As of :meth:`command`.

        Returns:
            Both (mt,), in m or rad and per s, whatever the declared length.
        """
        found = self._evaluator.errors(state, references)
        scale = self.tasks.constraints.reference_scale
        return TrackingErrors(self.tasks.lacking(found.residual) / scale, found.rate / scale)

    def tracking_error(self, state: State) -> Array:
        """Error of each task row, (mt,), in m or rad; see :meth:`errors`.

        A task that waits for its contact to lift (``while_lifted``) has none before.
        """
        error = self.errors(state).residual
        if self._plan is None:
            return error
        _, asked = self._plan.contacts.held(state.t, self.active)
        return error * asked

    def inputs(self, command: Command) -> Inputs:
        """Inputs of the dynamics that apply a command to the mechanism."""
        tau = self.mechanism.actuators.matrix @ command.efforts
        return Inputs(tau=tau, active=self.active, references=self.structure)
