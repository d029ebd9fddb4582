# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Servo control: motor efforts that make a mechanism with closed loops follow its tasks."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import compress
from typing import Any, Literal

import numpy as np

from uk_dynamics.compilation import Selection
from uk_dynamics.compilation.runtime import (
    ROBUST_KNOWN,
    CompiledServo,
    CompiledStanding,
    ControlMemory,
    ForeignReferenceError,
    PastPeriod,
    counted,
)
from uk_dynamics.compilation.verification import Comparison, Trial, compare, each, trials
from uk_dynamics.constraints.references import Followed, ReferenceSample
from uk_dynamics.control.command import Command, require_motors
from uk_dynamics.control.estimation import Corrections, Estimate
from uk_dynamics.control.internal_efforts import InternalEfforts, checked_internal_efforts
from uk_dynamics.control.limits.motor_limits import Bounds, MotorLimits
from uk_dynamics.control.servo.compiled_period import CompiledPeriod, PeriodCommand, Settings
from uk_dynamics.control.servo.period_memory import BumplessStart, Prediction
from uk_dynamics.control.servo.robust_promise import Promise, promise
from uk_dynamics.control.servo.servo_backend import compiled_servo, servo_evaluator
from uk_dynamics.control.servo.standing_plan import Answer, StandingPlan
from uk_dynamics.control.servo.task_gains import TaskGains
from uk_dynamics.core.servo import Measurement, ServoSolution, passage, surface
from uk_dynamics.exceptions import InputError, expect, expect_size
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    Demand,
    InterpretedDynamics,
    RobustDemand,
    ServoOutcome,
    Standing,
    Told,
    TrackingErrors,
    require_finite,
    require_finite_reference,
)
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism

__all__ = ["Command", "ServoController"]

_NOTHING_PROMISED: dict[str, Any] = {"error_bound": None, "beyond_bound": ()}


class ServoController:
    """The servo law (servo paper (35), in the dynamics constrained by the structure), with limits.

    Where tasks do not determine the efforts, uᵀ W u is minimised, with W = 1/limit² unless the
    tasks file has other weights, so that motors of different kind and size share the effort. The
    feedback of a task may be distributed differently, review (72). Friction of loop joints is
    compensated, with the joint forces that the efforts themselves cause.

    Where limits or conflicting tasks prevent this, tasks of higher priority come first; see
    :class:`LimitedAllocation`.

    Attributes:
        mechanism: What is controlled.
        tasks: What it tracks.
        gains: Of the tasks' feedback; they can be changed at any time.
        limits: Of the motors; they can be restricted at any time.
        prediction: Of the middle of the control period; None: control is continuous.
        start: How the first error after a reset decays.
        corrections: What the law learns of its machine; None: nothing.
        promise: What a robust law promises, and what it rests on; None: the tasks file says nothing
            that is uncertain.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tasks: Tasks,
        *,
        control_period: float | None = None,
        friction: Literal["model", "none"] = "model",
        blend_time: float = 0.0,
        active: ActiveConstraints | Iterable[str] | None = None,
        backend: str | Selection = "auto",
    ) -> None:
        """Prepare the evaluation.

        Args:
            mechanism: With at least one motor.
            tasks: Made for this mechanism.
            control_period: Time for which efforts are held, in s; they are exact in its middle.
                None: continuous control, efforts are exact at the state.
            friction: ``model``: friction and damping of the mechanism file are fed forward at the
                velocity of the state, including its noise; ``none``: they are left to the feedback.
            blend_time: Time in which the initial error decays along a smooth path, in s; 0:
                feedback acts on the full error at once.
            active: Switchable constraints that are on, or their names; None: as in the mechanism
                file.
            backend: Evaluator of the law; see :func:`select_backend`. ``auto`` waits for the
                compiler at the first start: a controller is often part of a simulation, whose
                numbers must not change midway.

        Raises:
            InputError: The mechanism has no motors, the tasks belong to another mechanism, there is
                a rate limit and no control period, or an option is invalid.
            CompilationError: With ``compiled``: something cannot be compiled.
        """
        expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
        expect("tasks", tasks, Tasks, 'Tasks.from_file("five_bar_sweep", mechanism)')
        if tasks.mechanism is not mechanism:
            raise InputError("the tasks were made for another mechanism", file=tasks.spec.file)
        require_motors(mechanism)
        if control_period is not None and not 0.0 < control_period < np.inf:
            problem = f"expected a time in s, found {control_period}"
            raise InputError(problem, place="control_period")
        if not 0.0 <= blend_time < np.inf:
            raise InputError(f"expected a time in s, found {blend_time}", place="blend_time")
        self.mechanism = mechanism
        self.tasks = tasks
        self._memory = memory = ControlMemory(tasks)
        self.blend_time = blend_time
        if active is not None and not isinstance(active, ActiveConstraints):
            active = ActiveConstraints(frozenset(active))
        if active is not None:
            mechanism.hierarchy.check(active.names)
        self._active = active
        self.structure = {}
        self._control_period = control_period
        memory.fields["period"][0] = control_period or 0.0
        self.weights = tasks.allocation.weights
        self.preload = tasks.allocation.preload
        self.internal = checked_internal_efforts(mechanism, tasks.allocation.internal_forces)
        self.gains = TaskGains(tasks.constraints, memory.fields)
        self._friction: Literal["model", "none"] = friction
        memory.fields["friction"][0] = friction == "model"
        if friction not in ("model", "none"):
            raise InputError(f'no friction "{friction}"; there are: model, none', place="friction")
        self._evaluator = servo_evaluator(
            tasks,
            backend,
            friction=friction == "model",
            memory=memory.numbers,
            periods=partial(_period_answers, mechanism, tasks),
        )
        self.limits = MotorLimits(mechanism, control_period, memory.fields)
        self.prediction: Prediction | None = None
        if control_period is not None:
            self.prediction = Prediction(mechanism.model, control_period, memory.fields)
        self.start = BumplessStart(tasks.constraints, memory.fields, tasks.side)
        self._in_c: CompiledPeriod | None = None
        self._lock = threading.RLock()  # what a period remembers is of one thread at a time
        self._ranked = len(np.unique(tasks.priorities)) > 1 or tasks.side is not None
        self.promise: Promise | None = None
        if tasks.uncertainty is not None:
            self.promise = promise(tasks, control_period)
            for name, value in zip(ROBUST_KNOWN, self.promise.known, strict=True):
                memory.fields[name][:] = value
        self.robust = self.promise is not None
        self._plan = None if tasks.standing is None else StandingPlan(tasks, memory.fields)
        self.corrections: Corrections | None = None
        if tasks.corrected:
            self.corrections = Corrections(tasks, memory.fields)
            if control_period is not None:  # else there are no periods to compare
                self.adaptive, self.observer = bool(tasks.adaptive), bool(tasks.observed.any())

    def __repr__(self) -> str:
        period = self.control_period
        when = "continuous" if period is None else f"every {period:g} s"
        return f"<ServoController {', '.join(self.tasks.names)} of {self.mechanism.name}, {when}>"

    @property
    def control_period(self) -> float | None:
        """Time for which efforts are held, in s; None: control is continuous."""
        return self._control_period

    @property
    def friction(self) -> Literal["model", "none"]:
        """Whether friction and damping of the mechanism file are fed forward."""
        return self._friction

    @property
    def weights(self) -> Array:
        """Diagonal of W, (motors,)."""
        return self._memory.fields["weights"]

    @weights.setter
    def weights(self, weights: Array) -> None:
        self._memory.fields["weights"][:] = weights

    @property
    def blend_time(self) -> float:
        """Time in which the first error decays, in s; see :class:`BumplessStart`."""
        return float(self._memory.fields["blend_time"][0])

    @blend_time.setter
    def blend_time(self, seconds: float) -> None:
        self._memory.fields["blend_time"][0] = seconds

    @property
    def internal(self) -> InternalEfforts | None:
        """Additional efforts that cause internal forces; None: none.

        See :meth:`set_internal_forces`.
        """
        return self._internal

    @internal.setter
    def internal(self, internal: InternalEfforts | None) -> None:
        self._internal, fields = internal, self._memory.fields
        fields["internal"][0] = internal is not None
        if internal is not None:
            fields["internal_row"][:], fields["internal_force"][:] = internal.named, internal.added
            fields["internal_unit"][:] = internal.unit

    @property
    def preload(self) -> Array | None:
        """Preferred efforts s where the tasks leave freedom, (motors,), in N or N·m; None: zero."""
        return self._preload

    @preload.setter
    def preload(self, preload: Array | None) -> None:
        self._preload, self._memory.current = preload, False

    @property
    def active(self) -> ActiveConstraints | None:
        """Switchable constraints that are on; None: as in the mechanism file."""
        return self._active

    @active.setter
    def active(self, active: ActiveConstraints | None) -> None:
        if _names(active) != _names(self._active):
            self._memory.fields["regular_rank"][0] = 0.0  # of other rows
        self._active, self._memory.current = active, False

    @property
    def robust(self) -> bool:
        """Whether the robust term acts."""
        return self._robust

    @robust.setter
    def robust(self, acts: bool) -> None:
        if acts and self.promise is None:
            problem = "the tasks file says nothing that is uncertain; add robust"
            raise InputError(problem, file=self.tasks.spec.file)
        self._robust, self._memory.current = bool(acts), False

    @property
    def adaptive(self) -> bool:
        """Whether estimates of parameters are used; without, they go on all the same."""
        return bool(self.corrections is not None and self._memory.fields["adapts"][0])

    @adaptive.setter
    def adaptive(self, acts: bool) -> None:
        self._switch("adapts", acts, "adaptive", bool(self.tasks.adaptive))

    @property
    def observer(self) -> bool:
        """Whether disturbances that are observed are compensated."""
        return bool(self.corrections is not None and self._memory.fields["observes"][0])

    @observer.setter
    def observer(self, acts: bool) -> None:
        self._switch("observes", acts, "observer", bool(self.tasks.observed.any()))

    def _switch(self, field: str, acts: bool, key: str, declared: bool) -> None:
        if acts and not declared:
            raise InputError(f"the tasks file has no {key}; add it", file=self.tasks.spec.file)
        if self.corrections is not None:
            self._memory.fields[field][0] = acts

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Parameters that are estimated, as they are known now."""
        return () if self.corrections is None else self.corrections.estimates()

    @property
    def estimated(self) -> tuple[str, ...]:
        """Names of the parameters that are estimated, (p,)."""
        return self.tasks.spec.adaptive

    def told(self, watched: Array | None = None) -> Told:
        """Bounds and estimates at K instants, of whose memory C kept (K, watched); None: now."""
        given = self._memory.learned[None] if watched is None else watched
        rows, p = len(self.tasks.constraints), self.tasks.adaptive
        bound = np.full(rows, np.nan) if self.promise is None else self._bound()
        found = np.zeros((2, len(given), p))
        if self.corrections is not None and p:
            found[:] = self.corrections.read(given)
        return Told(np.tile(bound, (len(given), 1)), *found)

    @property
    def structure(self) -> Mapping[str, ReferenceSample]:
        """What replaces the references of structural constraints, by name."""
        return self._structure

    @structure.setter
    def structure(self, structure: Mapping[str, ReferenceSample]) -> None:
        self._structure, self._memory.current = structure, False

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the task rows, ``task.label``."""
        return self.tasks.row_names

    def reset(self, efforts: Mapping[str, float] | Array | None = None) -> None:
        """Forget the past: before a start, after a pause or a jump of time or state.

        Args:
            efforts: Present motor efforts, by name or (motors,), in N or N·m, from which rate
                limits count; None: unknown.

        Raises:
            UnknownNameError, StateError: A motor does not exist, or the size is wrong.
        """
        self.limits.reset(None if efforts is None else self.mechanism.actuators.efforts(efforts))
        self._evaluator.forget()
        self.start.reset()
        if self._plan is not None:
            self._plan.reset()
        self._memory.fields["regular_rank"][0] = 0.0
        if self.prediction is not None:
            self.prediction.reset()

    def set_internal_forces(self, forces: Mapping[str, float]) -> None:
        """Change the internal forces; see :func:`internal_efforts`.

        Args:
            forces: In N or N·m, by constraint row; initially those of the tasks file.

        Raises:
            UnknownNameError: There is no such row.
            InputError: The motors cannot cause them at the start of motions, or redundant rows
                share a force.
        """
        self.internal = checked_internal_efforts(self.mechanism, forces)

    def compute(self, state: State) -> dict[str, float]:
        """Efforts by motor name, in N or N·m, within the limits; see :meth:`command`.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        return self.mechanism.actuators.by_name(self.command(state).efforts)

    def command(
        self,
        state: State,
        references: Mapping[str, Followed] | None = None,
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
            self._memory.current = False  # evaluations in Python overwrite settings
            preferred = self.preload if given is None else given
            return self._decide(state, references, preferred)

    def _decide(
        self, state: State, references: Mapping[str, Followed] | None, preferred: Array | None
    ) -> Command:
        """The steps in Python, which are those of ``control_period.c``."""
        standing = None if self._plan is None else self._plan.at(state, self.active)
        active = self.active if self._plan is None else self._plan.contacts.without(self.active)
        inputs = Inputs(active=active, references=self.structure)
        ahead = state if self.prediction is None else self.prediction.ahead(state)
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
            last = self._memory.fields["commands"][: len(bounds.lower)]
            efforts, settled = np.clip(last, bounds.lower, bounds.upper), True
            efforts = np.append(efforts, servo.efforts[len(efforts) :])  # forces of contacts
        else:
            efforts, settled = self._within(servo, demand, bounds)
        caused, stood = _caused(outcome, efforts), None
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

    def _relative(self, law: CompiledServo, past: PastPeriod) -> TrackingErrors:
        """Errors of a period in C relative to the path of a blended start."""
        found = TrackingErrors(*(law.told(past, f"tracking_{what}") for what in ("error", "rate")))
        now = float(past.answers[0]) - 0.5 * (self.control_period or 0.0)
        return self.start.along(found, self.blend_time, now, now)[0]

    def _against(self, errors: TrackingErrors) -> RobustDemand | None:
        """What the robust term acts against, and estimates need."""
        if self.promise is None or not (self.robust or self.tasks.adaptive):
            return None
        gains, fields = (self.gains.damping, self.gains.stiffness), self._memory.fields
        demand = RobustDemand(
            surface(errors.residual, errors.rate, *gains), self.promise.known, self.robust
        )
        if not self.tasks.adaptive:
            return demand
        added, estimate = (fields[name].copy() for name in ("added", "estimate"))
        return demand._replace(added=added, estimate=estimate, adapts=self.adaptive)

    def _measured(self) -> Measurement:
        """What the last state told; nothing where control is continuous."""
        if self.prediction is None or self.prediction.told is None:
            return Measurement(*np.zeros((4, 1)))._replace(elapsed=np.ones(1))
        return self.prediction.told

    def _bound(self) -> Array:
        """The promised bounds, (mt,); infinite without the term, or with other gains."""
        assert self.promise is not None
        promised = self.promise.adapting if self.adaptive else self.promise.error
        constraints, gains = self.tasks.constraints, self.gains
        same = np.array_equal(gains.damping, constraints.damping) and np.array_equal(
            gains.stiffness, constraints.stiffness
        )
        acts = same and self.robust and not self.observer
        return promised if acts else np.full(len(constraints), np.inf)

    def _promised(self, errors: TrackingErrors) -> dict[str, Any]:
        """The promised bounds, and which rows are beyond."""
        if self.promise is None:
            return _NOTHING_PROMISED
        constraints, bound = self.tasks.constraints, self._bound()
        found = np.where(constraints.position_rows, errors.residual, errors.rate)
        beyond = np.abs(found / constraints.reference_scale) > bound
        return {"error_bound": bound, "beyond_bound": tuple(compress(self.row_names, beyond))}

    def _holds(self, rank: int) -> bool:
        """Whether this period holds the last efforts, in a singular configuration."""
        fields = self._memory.fields
        past = [fields[x] for x in ("regular_rank", "periods_held", "known_commands", "period")]
        hold, past[0][:], past[1][:] = passage(np.array([float(rank)]), *past)
        return bool(hold[0])

    def _told(
        self,
        servo: ServoSolution,
        errors: TrackingErrors,
        efforts: Array,
        limited: Mapping[str, str],
        stood: Answer | None,
        *,
        settled: bool,
    ) -> dict[str, Any]:
        """What the tasks get by efforts, which are those of the closed form or others."""
        residual, missing = servo.residual, dict[str, float]()
        unreachable: tuple[str, ...] = ()
        if efforts is not servo.efforts or not servo.fully_reachable or servo.crosses:
            residual, missed = servo.missed(efforts)
            missing = {
                name: float(np.linalg.norm(residual[rows]))
                for name, rows in self.tasks.constraints.slices.items()
                if missed[rows].any()
            }
            unreachable = tuple(compress(self.row_names, ~servo.reachable))
        return {
            "efforts": efforts,
            "requested": servo.efforts,
            "limited_by": limited if stood is None else {**limited, **stood.limited},
            "unreachable": unreachable,
            "missing": missing if stood is None else stood.missing | missing,
            "residual": residual,
            "tracking_error": self.tasks.lacking(errors.residual)
            / self.tasks.constraints.reference_scale,
            "tracking_rate": errors.rate / self.tasks.constraints.reference_scale,
            "servo": servo,
            "settled": settled,
            "contact_forces": {} if stood is None else stood.forces,
        }

    def command_of(self, period: CompiledPeriod, efforts: Array, flags: Array) -> Command:
        """The command of the last period in C, by the efforts that are sent and its law's flags."""
        law, flags, held = period.servo, flags.copy(), bool(self._memory.fields["periods_held"][0])
        past, limit = law.past(), self.limits.effort.copy()
        promised = _NOTHING_PROMISED
        if self.promise is not None:
            promised = self._promised(self._relative(law, past))
        names, acts = self.mechanism.actuators.names, self.robust

        plan, standing = self._plan, None
        if plan is not None:
            standing = plan.stood(law.told(past, "asked"), law.told(past, "contact_most"))

        def decided() -> tuple[ServoSolution, Array, dict[str, str], bool]:
            servo = law.solution_of(past)
            if held:
                forces = servo.efforts[len(efforts) :]  # of contacts
                return servo, np.append(efforts, forces) if len(forces) else efforts, {}, True
            bounds = Bounds(law.told(past, "lower"), law.told(past, "upper"), limit, limit)
            own = servo if plan is None or standing is None else plan.part(servo, standing)
            if self._serves(own, bounds, standing):
                return servo, servo.efforts, {}, True
            found = law.told(past, "limited")
            limited = bounds.reasons(names, found[: len(names)])
            limited |= dict.fromkeys(compress(names, flags[: len(names)]), "power")
            limited |= dict.fromkeys(compress(names, flags[len(names) :]), "rate")
            return servo, found, limited, bool(law.told(past, "finished"))

        def find(name: str) -> dict[str, Any]:
            servo, found, limited, settled = decided()
            if name in ("qdd", "free"):
                return _caused(law.outcome_of(past), found)
            rows = len(self.tasks.constraints)
            errors = (law.told(past, f"tracking_{what}")[-rows:] for what in ("error", "rate"))
            stood = None
            if plan is not None and standing is not None:
                own = plan.part(servo, standing)
                own_efforts = own.efforts if found is servo.efforts else plan.of(found, standing)
                stood = plan.answer(own, own_efforts, standing)
                servo, found = stood.servo, stood.efforts
            told = self._told(
                servo, TrackingErrors(*errors), found, limited, stood, settled=settled
            )
            robust = law.robustness_of(past) if acts else None
            return told | promised | {"robust": robust, "efforts": efforts, "held": held}

        return PeriodCommand.of(efforts, find)

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
        if self._active is not None and self._active.sliding:
            return "friction of what slides"
        if self.internal is not None and self.mechanism.local is not None:
            return f"internal forces of {self.mechanism.model.nv} velocities"
        if self.structure and not self.mechanism.follows_references:
            return f"what {', '.join(self.structure)} follows"
        if self._in_c is None:
            another = partial(ServoController, self.mechanism, self.tasks)
            self._in_c = CompiledPeriod(servo, self.tasks, self._memory, self._settings, another)
        return self._in_c

    def _settings(self) -> Settings:
        return Settings(self._preload, self._active, self._structure, self._robust)

    def loop_closure_error(self, state: State) -> float:
        """Largest residual of the loops, in m or rad; feet that slip open none."""
        active = self.active if self._plan is None else self._plan.contacts.without(self.active)
        return self._evaluator.loop_closure_error(
            state, Inputs(active=active, references=self.structure)
        )

    def errors(
        self, state: State, references: Mapping[str, Followed] | None = None
    ) -> TrackingErrors:
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

    def _within(self, servo: ServoSolution, demand: Demand, bounds: Bounds) -> tuple[Array, bool]:
        """Efforts within the limits, and whether they are optimal.

        The closed form if it satisfies the limits and no tasks of different priority conflict,
        else the result of a search.
        """
        if self._serves(servo, bounds, demand.standing):
            return servo.efforts, True
        return self._evaluator.allocate(servo, demand, bounds.lower, bounds.upper)

    def _serves(
        self, servo: ServoSolution, bounds: Bounds, standing: Standing | None = None
    ) -> bool:
        """Whether the closed form is the answer, without a search."""
        if standing is not None:
            assert self._plan is not None
            within = bounds.contain(servo.efforts[: len(bounds.lower)])
            return within and self._plan.serves(servo, standing)
        conflict = servo.crosses or (self._ranked and not servo.fully_reachable)
        return bounds.contain(servo.efforts) and not conflict


def _caused(outcome: ServoOutcome, efforts: Array) -> dict[str, Any]:
    """The motion that efforts cause, and that without them."""
    return {"qdd": outcome.qdd + outcome.response(efforts), "free": outcome.free}


_PERIOD = 1e-3  # s


def _period_answers(
    mechanism: Mechanism, tasks: Tasks, servo: CompiledServo
) -> Iterator[Comparison]:
    """Compare efforts of control periods in C with those of the same steps in Python."""
    python = ServoController(mechanism, tasks, control_period=_PERIOD, backend="interpreted")
    if servo.call.periods is None or (python.internal and mechanism.local is not None):
        return
    memory = ControlMemory(tasks)
    memory.numbers[:] = python._memory.numbers
    options: dict[str, Any] = {"memory": memory.numbers, "verified": True}
    if (rows := counted(tasks)) is tasks:
        own = CompiledServo(tasks, python._evaluator, **options)
    else:
        own = CompiledStanding(tasks, rows, python._evaluator, **options).law
    period = CompiledPeriod(own, tasks, memory, python._settings)
    try:
        period.set()
    except ForeignReferenceError:  # such periods are in Python
        return
    fresh = memory.numbers.copy()  # with which rows act, and the place of tables

    def measured(trial: Trial) -> Iterator[State]:
        t, q, v = trial.state.t, trial.state.q, trial.state.v
        for k in range(3):
            yield State(t + k * _PERIOD, mechanism.model.integrate(q, k * _PERIOD * v), v)

    def expected(trial: Trial) -> dict[str, Array]:
        python.reset()
        if python.corrections is not None:
            python.corrections.forget()
        efforts = [python.command(state).efforts for state in measured(trial)]
        return {"efforts of control periods": np.concatenate(efforts)}

    def compiled(trial: Trial) -> dict[str, Array] | None:
        memory.numbers[:] = fresh
        efforts = [x for state in measured(trial) if (x := period.efforts(state)) is not None]
        return (
            {"efforts of control periods": np.concatenate(efforts)} if len(efforts) == 3 else None
        )

    given = trials(mechanism, InterpretedDynamics(mechanism))[:2]
    yield from compare(mechanism, expected, each(compiled), given)


def _names(active: ActiveConstraints | None) -> frozenset[str] | None:
    return None if active is None else active.names
