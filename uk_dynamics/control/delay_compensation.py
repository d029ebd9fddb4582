# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Delays in the loop: states are predicted to where their commands take effect.

Between the instant of a measured state and the instant at which the efforts computed from it act,
the loop delay passes: sensors, messages, computation, drives. What happens to the machine in this
time is already decided, by the commands sent before. The rule, the same for every controller:

1. A command for a state of time t takes effect at t + delay, and acts until the next one does.
2. The measured state at t is integrated to t + delay with the constrained dynamics (friction
   included, without stabilisation) under the efforts that act in this time: one step of the
   classical Runge-Kutta method from each change of the efforts to the next. Then it is projected
   onto the loops once. Before the first command takes effect, efforts are unknown: the velocity is
   constant.
3. The controller gets the predicted state, with its time t + delay, in place of the measured one:
   feedback, references and limits are those of that instant. Where it also looks ahead to the
   middle of the period for which efforts are held (:class:`Prediction`), it does so from there.

A delay below a quarter of the control period is none: the error of measured velocities would
outweigh it. Nor is one predicted that the tasks file declares for a robust law (``robust: delay``):
its gain and its bounds are those of a loop with this delay, and a model that is wrong predicts
wrongly. A predicted state is as good as the model is over the delay, so a longest delay bounds
it. For a linear plant this is finite spectrum assignment (Manitius and Olbrot, IEEE Transactions on
Automatic Control 24(4), 1979): the closed loop has the poles of the one without delay.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from uk_dynamics.compilation import Selection, select_backend
from uk_dynamics.compilation.runtime import (
    CompiledDelayCompensation,
    CompiledMotion,
    ForeignReferenceError,
)
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.command import MotorCommand
from uk_dynamics.core.integration import rk4_step
from uk_dynamics.core.servo import COMMANDS_UNDER_WAY, NEGLIGIBLE_DELAY, SAME_EFFECT
from uk_dynamics.exceptions import DelayError, InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    CompiledLaw,
    Dynamics,
    EffortQueue,
    LawInC,
    law_of,
    require_finite,
)
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism


class DelayPrediction:
    """Predicts states to the instant at which their commands take effect; see the module."""

    def __init__(
        self,
        mechanism: Mechanism,  # what moves
        # time for which efforts are held, in s; None: unknown, any delay counts
        period: float | None,
        delay: float = 0.0,  # from a state until the efforts computed from it act, in s
        *,
        longest: float = 0.1,  # delay that is predicted, in s
        # whose gains may be for some delay: up to that, nothing is predicted
        tasks: Tasks | None = None,
        backend: str | Selection = "auto",  # evaluator of the mechanism; see :func:`select_backend`
    ) -> None:
        """Prepare the evaluation; InputError: a time is negative or not finite."""
        for name, value in (("delay", delay), ("longest", longest)):
            if not 0.0 <= value < np.inf:
                raise InputError(f"expected a time in s, found {value}", place=name)
        self.delay, self.longest = delay, longest
        met = 0.0 if tasks is None else tasks.met_delay
        self._unpredicted = met + NEGLIGIBLE_DELAY * (period or 0.0)
        self._matrix = mechanism.actuators.matrix
        self.dynamics: Dynamics = select_backend(mechanism, Selection.of(backend, "wait"))
        # commands sent, with the instants at which they take effect; the first one acts
        self.effects = EffortQueue(len(mechanism.actuators), COMMANDS_UNDER_WAY)

    @property
    def predicted(self) -> float:
        """The delay that is predicted, in s: zero where it is negligible, or met by gains."""
        return self.delay if self.delay > self._unpredicted else 0.0

    def reset(self) -> None:
        """Forget the commands sent so far: before a start, after a pause or a jump of time."""
        self.effects.leave_last(len(self.effects))

    def sent(self, t: float, efforts: Array) -> None:
        """Remember efforts, (motors,), that act from the time of what :meth:`at_effect` gave."""
        later = sum(when > t - SAME_EFFECT for when, _ in self.effects.items())
        self.effects.leave_last(later)  # replaced before they took effect
        self.effects.append(t, efforts)

    def at_effect(self, state: State, inputs: Inputs | None = None) -> State:
        """The state in which the command for a measured state takes effect.

        Inputs say what is active and what it follows; None: as in the mechanism file.

        Raises:
            DelayError: The delay is above the longest.
            SimulationError: The loops cannot be closed at the predicted state.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        past = sum(when <= state.t + SAME_EFFECT for when, _ in self.effects.items())
        self.effects.leave_first(max(past - 1, 0))
        if not self.predicted:
            return state
        if self.delay > self.longest:
            raise DelayError(self.delay, self.longest)
        inputs = replace(inputs or Inputs(), stabilize=False)
        end = state.t + self.delay
        t, q, v = state.t, state.q, state.v
        tau: Array | None = None
        forces = [(when, self._matrix @ efforts) for when, efforts in self.effects.items()]
        for change, next_tau in (*forces, (end, None)):
            until = min(change, end)
            if until > t + SAME_EFFECT:
                q, v = self._moved(t, q, v, until - t, tau, inputs)
                t = until
            tau = next_tau
        return self.dynamics.project(State(end, q, v), inputs)

    def _moved(
        self, t: float, q: Array, v: Array, h: float, tau: Array | None, inputs: Inputs
    ) -> tuple[Array, Array]:
        """Position and velocity after h seconds under generalized forces; None: unknown ones."""
        dynamics = self.dynamics
        if tau is None:
            return dynamics.model.integrate(q, h * v), v
        acting = replace(inputs, tau=tau)

        def acceleration(t: float, q: Array, v: Array) -> Array:
            return dynamics.evaluate(State(t, q, v), acting).qdd

        return rk4_step(dynamics.model, acceleration, t, q, v, h)


class ModelController(Protocol):
    """What a controller of a mechanism has."""

    mechanism: Mechanism
    active: ActiveConstraints | None

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows of the tracking error."""

    def command(self, state: State) -> MotorCommand:
        """Efforts for a state."""

    def tracking_error(self, state: State) -> Array:
        """Tracking error, (rows,), in m or rad."""


class CompensatedController(ModelController, Protocol):
    """What a controller must have: all of this package do."""

    structure: Mapping[str, ReferenceSample]


C = TypeVar("C", bound=ModelController)


class AroundController(Generic[C]):
    """A controller around another one, whose commands are for other states than the measured."""

    controller: C

    @property
    def active(self) -> ActiveConstraints | None:
        """Switchable constraints that are on; None: as in the mechanism file."""
        return self.controller.active

    @active.setter
    def active(self, active: ActiveConstraints | None) -> None:
        self.controller.active = active

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows of the tracking error."""
        return self.controller.row_names

    def tracking_error(self, state: State) -> Array:
        """Tracking error of a state of the machine, (rows,), in m or rad."""
        return self.controller.tracking_error(state)


class DelayCompensation(AroundController[CompensatedController]):
    """A controller in a loop with a delay; :class:`DelayPrediction` states the rule.

    Attributes:
        controller: Computes the commands.
        prediction: Predicts the states it gets; its ``delay`` can be changed at any time.
    """

    def __init__(
        self,
        controller: CompensatedController,
        delay: float,
        *,
        control_period: float,
        longest: float = 0.1,
        backend: str | Selection = "auto",
    ) -> None:
        """Prepare the prediction.

        Args:
            controller: Its own memory of past commands, if any, is of those it gives here.
            delay: From the instant of a state until the efforts computed from it act, in s.
            control_period: Time for which efforts are held, in s.
            longest: Longest delay that is predicted, in s.
            backend: Evaluator of the mechanism; see :func:`select_backend`.

        Raises:
            InputError: A time is negative or not finite.
        """
        self.controller = controller
        self.prediction = DelayPrediction(
            controller.mechanism,
            control_period,
            delay,
            longest=longest,
            tasks=getattr(controller, "tasks", None),
            backend=backend,
        )

    def command(self, state: State) -> MotorCommand:
        """The command for a measured state.

        Raises:
            DelayError: The delay is above the longest.
            UkDynamicsError: As for :meth:`DelayPrediction.at_effect` and the controller.
        """
        controller = self.controller
        require_finite(controller.mechanism.model, state)
        inputs = Inputs(active=controller.active, references=controller.structure)
        effective = self.prediction.at_effect(state, inputs)
        command = controller.command(effective)
        self.prediction.sent(effective.t, command.efforts)
        return command

    def compiled(self) -> CompiledLaw | str:
        """Itself in C; otherwise what keeps it in Python."""
        inner = law_of(self.controller)
        if isinstance(inner, str):
            return inner
        if getattr(getattr(inner, "tasks", None), "standing", None) is not None:
            return "contacts that stand"
        motion = self.prediction.dynamics.motion()
        if not isinstance(motion, CompiledMotion):
            return "joints with several coordinates, or a mechanism that is interpreted"
        prediction, controller = self.prediction, self.controller
        effects = prediction.effects
        compensation = CompiledDelayCompensation(motion, inner.law, effects)

        def set_both() -> None:
            inner.set()
            active, structure = controller.active, controller.structure
            effects.leave_room()
            inputs = Inputs(active=active, references=structure, stabilize=False)
            compensation.set(inputs, prediction.predicted, prediction.longest)

        try:
            set_both()
        except ForeignReferenceError as error:
            return str(error)
        remembered = (effects.rows, effects.count, *inner.remembered)
        return LawInC(compensation.law, remembered, set_both, inner.tracking_errors)
