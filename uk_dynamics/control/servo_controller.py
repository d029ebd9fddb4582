"""Motor efforts that make a mechanism follow its tasks, in dynamics its loops constrain already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from uk_dynamics.compilation.select_backend import Selection
from uk_dynamics.constraints.references import Followed, ReferenceSample
from uk_dynamics.control.bumpless_start import BumplessStart
from uk_dynamics.control.command import Command, missing_by_task, selected
from uk_dynamics.control.internal_efforts import pressing
from uk_dynamics.control.motor_limits import Bounds, MotorLimits
from uk_dynamics.control.prediction import Prediction
from uk_dynamics.control.servo_backend import servo_evaluator
from uk_dynamics.control.task_gains import TaskGains
from uk_dynamics.core.servo import ServoSolution
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.servo_evaluation import Demand, TrackingErrors
from uk_dynamics.mechanism.state import ActiveConstraints, Array, Inputs, State
from uk_dynamics.mechanism.tasks import Tasks

__all__ = ["Command", "ServoController"]


class ServoController:
    """The servo law (servo paper (35), in the dynamics constrained by the structure), in limits.

    Where tasks leave efforts open, uᵀ W u is least with W = 1/limit², so that motors of different
    kind and size share the work, or what the tasks file says instead. Feedback of a task may have a
    distribution of its own, review (72). Friction of loop joints is allowed for, with the load that
    the efforts themselves put on them.

    Where motors cannot give this, or not all tasks can be served, those of lower priority give way
    first; see :class:`LimitedAllocation`.

    Attributes:
        mechanism: What is controlled.
        tasks: What it shall do.
        weights: Diagonal of W, (motors,).
        active: Switchable constraints that are on; None: those that the mechanism file says.
        structure: What replaces the references of structural constraints, by name.
        control_period: Time for which efforts are held, in s; None: they change continuously.
        blend_time: Time in which the error found after a reset decays, in s; see
            :class:`BumplessStart`.
        gains: Of the tasks' feedback; they can be changed at any time.
        limits: Of the motors; they can be restricted at any time.
        preload: Efforts s to approach where the tasks leave freedom, (motors,), in N or N·m; None:
            zero.
        internal: Efforts that press loops, in addition; None: none. See :meth:`press`.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tasks: Tasks,
        *,
        control_period: float | None = None,
        friction: Literal["model", "none"] = "model",
        blend_time: float = 0.0,
        backend: str | Selection = "cached",
    ) -> None:
        """Prepare the evaluation.

        Args:
            mechanism: With at least one motor.
            tasks: Made for this mechanism.
            control_period: Time for which efforts are held, in s: they are made right for its
                middle. None: for the instant of the state.
            friction: ``model``: friction and damping of the mechanism file are fed forward, at the
                velocity of the state, whose noise goes through it; ``none``: they are left to the
                feedback.
            blend_time: Time in which the first error decays along a smooth path, in s; 0: feedback
                acts on the whole of it at once.
            backend: What evaluates the law; see :func:`select_backend`. By default ``cached``: a
                controller is often part of a simulation, whose numbers must not change midway.

        Raises:
            InputError: The mechanism has no motors, or the tasks belong to another mechanism, or
                there is a rate limit and no control period, or an option is none.
            CompilationError: With ``compiled``: something cannot be compiled.
        """
        if tasks.mechanism is not mechanism:
            raise InputError("the tasks were made for another mechanism", file=tasks.spec.file)
        if not len(mechanism.actuators):
            raise InputError(
                "the mechanism has no motors; add actuators",
                file=mechanism.spec.file,
                place="actuators",
            )
        if control_period is not None and not (np.isfinite(control_period) and control_period > 0):
            raise InputError(
                f"expected a time in s, found {control_period}", place="control_period"
            )
        if not (np.isfinite(blend_time) and blend_time >= 0.0):
            raise InputError(f"expected a time in s, found {blend_time}", place="blend_time")
        self.mechanism = mechanism
        self.tasks = tasks
        self.blend_time = blend_time
        self._start = BumplessStart(tasks.constraints)
        self.active: ActiveConstraints | None = None
        self.structure: Mapping[str, ReferenceSample] = {}
        self.control_period = control_period
        self.weights: Array = tasks.allocation.weights
        self.preload = tasks.allocation.preload
        self.internal = pressing(mechanism, tasks.allocation.internal_forces)
        self.gains = TaskGains(tasks.constraints)
        if friction not in ("model", "none"):
            raise InputError(f'no friction "{friction}"; there are: model, none', place="friction")
        self._evaluator = servo_evaluator(tasks, backend, friction=friction == "model")
        self._prediction = None
        if control_period is not None:
            self._prediction = Prediction(mechanism.model, control_period)
        self.limits = MotorLimits(mechanism, control_period)
        self._ranked = len(np.unique(tasks.priorities)) > 1

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the task rows, ``task.label``."""
        return self.tasks.row_names

    def reset(self, efforts: Mapping[str, float] | Array | None = None) -> None:
        """Forget the past: before a start, after a pause or a jump of time or state.

        Args:
            efforts: What the motors give now, by name or (motors,), in N or N·m, from where rate
                limits count; None: unknown.

        Raises:
            UnknownNameError, StateError: There are no such efforts.
        """
        self.limits.reset(None if efforts is None else self.mechanism.actuators.efforts(efforts))
        self._evaluator.forget()
        self._start.reset()
        if self._prediction is not None:
            self._prediction.reset()

    def press(self, forces: Mapping[str, float]) -> None:
        """Change what rows of loops bear in addition; see :func:`internal_efforts`.

        Args:
            forces: In N or N·m, by constraint row; first those of the tasks file.

        Raises:
            UnknownNameError: There is no such row.
            InputError: The motors cannot where motions start, or redundant rows share a force.
        """
        self.internal = pressing(self.mechanism, forces)

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
        """Efforts and how they came about.

        Args:
            state: Where the mechanism is; t is the time of the references.
            references: Samples, or functions of time, that replace those of the tasks file, by
                task name.
            preload: Efforts s to approach where the tasks leave freedom, by motor name or
                (motors,), in N or N·m; None: the attribute, first that of the tasks file.

        Raises:
            UnknownNameError: A reference or preload is for a task or motor that does not exist.
            StateError: A reference or preload has the wrong size.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        actuators = self.mechanism.actuators
        wished = self.preload if preload is None else actuators.efforts(preload)
        inputs = Inputs(active=self.active, references=self.structure)
        ahead = state if self._prediction is None else self._prediction.ahead(state)
        if self.internal is not None:
            wished = self.internal.added_to(wished, ahead, self.active, self.structure)
        errors = self._evaluator.errors(state, references)  # feedback knows the state as it is
        left, approach = self._start.along(errors, self.blend_time, state.t, ahead.t)
        demand = Demand(self.gains.feedback(left), approach, self.weights, wished, inputs)
        servo, free, at_rest, response = self._evaluator.evaluate(ahead, demand, references)
        bounds = self.limits.bounds(state.v, 2.0 * ahead.v - state.v)  # the period's two ends
        efforts, settled = self._within(servo, demand, bounds)
        self.limits.remember(efforts)
        qdd = at_rest + response(efforts)
        residual, missing = servo.residual, dict[str, float]()
        unreachable: tuple[str, ...] = ()
        if efforts is not servo.efforts or not servo.fully_reachable:
            residual, missed = servo.missed(efforts)
            missing = missing_by_task(self.tasks.constraints.slices, residual, missed)
            unreachable = selected(self.row_names, ~servo.reachable)
        return Command(
            efforts=efforts,
            requested=servo.efforts,
            limited_by={} if efforts is servo.efforts else bounds.reasons(actuators.names, efforts),
            unreachable=unreachable,
            missing=missing,
            residual=residual,
            tracking_error=errors.residual / self.tasks.constraints.reference_scale,
            tracking_rate=errors.rate / self.tasks.constraints.reference_scale,
            qdd=qdd,
            servo=servo,
            free=free,
            settled=settled,
        )

    def gap(self, state: State) -> float:
        """How far the loops of a state are open, in m or rad."""
        return self._evaluator.gap(state, Inputs(active=self.active, references=self.structure))

    def errors(
        self, state: State, references: Mapping[str, Followed] | None = None
    ) -> TrackingErrors:
        """Error of each task row and its rate, as in :class:`Command`, without deciding anything.

        Args:
            state: Where the mechanism is; t is the time of the references.
            references: As of :meth:`command`.

        Returns:
            Both (mt,), in m or rad and per s, whatever the declared length.
        """
        found = self._evaluator.errors(state, references)
        scale = self.tasks.constraints.reference_scale
        return TrackingErrors(found.residual / scale, found.rate / scale)

    def tracking_error(self, state: State) -> Array:
        """Error of each task row, (mt,), in m or rad; see :meth:`errors`."""
        return self.errors(state).residual

    def inputs(self, command: Command) -> Inputs:
        """Inputs that apply a command to the mechanism."""
        tau = self.mechanism.actuators.matrix @ command.efforts
        return Inputs(tau=tau, active=self.active, references=self.structure)

    def _within(self, servo: ServoSolution, demand: Demand, bounds: Bounds) -> tuple[Array, bool]:
        """The efforts of the closed form where they are allowed and serve all they can.

        Otherwise the best that there are, and whether the search for them came to its end.
        """
        conflict = self._ranked and not servo.fully_reachable
        if bounds.contain(servo.efforts) and not conflict:
            return servo.efforts, True
        return self._evaluator.allocate(servo, demand, bounds.lower, bounds.upper)
