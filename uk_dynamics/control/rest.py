"""Modes without tasks: a machine that weighs nothing, and one that stays where it is.

Both are inverse dynamics of a motion that needs no file: no acceleration at rest, or that of a
damped spring which pulls every joint back. Loops, redundant motors and limits are those of the
servo law; a motor too few lets the machine move where none can hold it, and says so. Friction helps
whoever wants rest: it is left alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.command import selected
from uk_dynamics.control.internal_efforts import InternalEfforts
from uk_dynamics.control.limited_allocation import LimitedAllocation
from uk_dynamics.control.motor_limits import MotorLimits
from uk_dynamics.control.rest_command import RestCommand
from uk_dynamics.core.motion_efforts import motion_efforts
from uk_dynamics.core.stabilization import position_gains
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.allocation import Allocation, Weights
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import ActiveConstraints, Array, Inputs, State

__all__ = ["GravityCompensation", "Hold", "RestCommand", "RestController"]

_NOTICEABLE = 1e-6  # of the accelerations: what motors lack below is rounding


class RestController(ABC):
    """Efforts for an acceleration that the state alone decides.

    Attributes:
        mechanism: What is controlled.
        active: Switchable constraints that are on; None: those that the mechanism file says.
        structure: What replaces the references of structural constraints, by name.
        limits: Of the motors; they can be restricted at any time.
        preload: Efforts to come close to where this changes no motion, (motors,), in N or N·m;
            None: zero.
        internal: Efforts that press loops, in addition; None: none.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        weights: Weights = "limits",
        preload: Mapping[str, float] | None = None,
        control_period: float | None = None,
    ) -> None:
        """Prepare the evaluation.

        Args:
            mechanism: With at least one motor.
            weights: Where motors are redundant, Σ weight·(effort − preload)² is least: ``limits``
                1/limit², ``equal`` one each, or by motor name.
            preload: Efforts to come close to where this changes no motion, by motor name.
            control_period: Time between commands, in s; needed where motors have rate limits.

        Raises:
            InputError: The mechanism has no motors, or there is a rate limit and no period.
        """
        if not len(mechanism.actuators):
            problem = "the mechanism has no motors; add actuators"
            raise InputError(problem, file=mechanism.spec.file, place="actuators")
        self.mechanism = mechanism
        self.active: ActiveConstraints | None = None
        self.structure: Mapping[str, ReferenceSample] = {}
        sharing = Allocation.given(mechanism.actuators, weights, preload)
        self.preload = sharing.preload
        self.internal: InternalEfforts | None = None
        self._weights = sharing.weights
        self._dynamics = InterpretedDynamics(mechanism)
        self.limits = MotorLimits(mechanism, control_period)
        # One row per admissible motion; how many there are is known at a state only.
        self._allocations: dict[int, LimitedAllocation] = {}

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the coordinates of :meth:`tracking_error`."""
        return ()

    def gap(self, state: State) -> float:
        """How far the loops of a state are open, in m or rad."""
        residual = self._dynamics.residual(
            state, Inputs(active=self.active, references=self.structure)
        )
        return float(np.abs(residual.position).max(initial=0.0))

    def tracking_error(self, state: State) -> Array:
        """How far the machine is from where it shall be, (rows,), in m or rad."""
        return np.zeros(0)

    def reset(self, efforts: Mapping[str, float] | Array | None = None) -> None:
        """Forget the past.

        Args:
            efforts: What the motors give now, by name or (motors,), in N or N·m, from where rate
                limits count; None: unknown.
        """
        self.limits.reset(None if efforts is None else self.mechanism.actuators.efforts(efforts))
        self._allocations.clear()

    def compute(self, state: State) -> dict[str, float]:
        """Efforts by motor name, in N or N·m, within the limits."""
        return self.mechanism.actuators.by_name(self.command(state).efforts)

    def command(self, state: State) -> RestCommand:
        """Efforts and how they came about.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        seen, wanted = self._meant(state)
        inputs = Inputs(active=self.active, references=self.structure, stabilize=False)
        prepared = self._dynamics.prepare(seen, inputs)
        factorization, M = prepared.factorization, prepared.terms.M
        actuators = self.mechanism.actuators
        tolerance = self.mechanism.spec.solver.task_rank_tolerance

        preload = self.preload
        if self.internal is not None:
            preload = self.internal.added_to(preload, seen, self.active, self.structure)
        rubbing = self.mechanism.passive.resistance(seen.v)
        moving = factorization.solve(prepared.terms.F - rubbing, prepared.terms.b)
        servo = motion_efforts(
            factorization,
            M,
            moving.qdd,
            actuators.matrix,
            wanted,
            weights=self._weights,
            preload=preload,
            rank_tolerance=tolerance,
        )
        bounds = self.limits.bounds(state.v)
        efforts, settled = servo.efforts, True
        if not bounds.contain(efforts):
            rows = len(servo.wanted)
            if rows not in self._allocations:
                priorities = np.ones(rows, dtype=np.intp)
                self._allocations[rows] = LimitedAllocation(priorities, self._weights, tolerance)
            efforts = self._allocations[rows].solve(
                servo.map, servo.wanted, bounds.lower, bounds.upper, servo.efforts
            )
            settled = self._allocations[rows].finished
        self.limits.remember(efforts)
        lack = factorization.admissible(
            M @ (wanted - moving.qdd) - actuators.matrix @ servo.efforts
        )
        size = np.abs(wanted).max(initial=0.0) + np.abs(moving.qdd).max(initial=0.0) + 1e-3
        return RestCommand(
            efforts=efforts,
            requested=servo.efforts,
            limited_by={} if efforts is servo.efforts else bounds.reasons(actuators.names, efforts),
            unreachable=selected(
                self.mechanism.model.velocity_names, np.abs(lack) > _NOTICEABLE * size
            ),
            qdd=moving.qdd + factorization.admissible(actuators.matrix @ efforts),
            free=moving,
            settled=settled,
        )

    @abstractmethod
    def _meant(self, state: State) -> tuple[State, Array]:
        """The state to compute with, and the acceleration wanted there, (nv,)."""


class GravityCompensation(RestController):
    """Motors carry weight, springs and other standing forces, and nothing else.

    Whoever pushes the machine feels its inertia and its friction, not its weight.
    """

    def _meant(self, state: State) -> tuple[State, Array]:
        nothing = np.zeros_like(state.v)
        return State(state.t, state.q, nothing), nothing


class Hold(RestController):
    """The machine stays where it was first seen, like in a critically damped spring.

    Attributes:
        position: Where it shall be, (nq,); None: where the next command finds it.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        frequency: float = 5.0,
        damping_ratio: float = 1.0,
        weights: Weights = "limits",
        preload: Mapping[str, float] | None = None,
        control_period: float | None = None,
    ) -> None:
        """Prepare the evaluation.

        Args:
            mechanism: With at least one motor.
            frequency: Of the return, in Hz.
            damping_ratio: 1 is critical.
            weights: Where motors are redundant, Σ weight·(effort − preload)² is least: ``limits``
                1/limit², ``equal`` one each, or by motor name.
            preload: Efforts to come close to where this changes no motion, by motor name.
            control_period: Time between commands, in s; needed where motors have rate limits.

        Raises:
            InputError: As :class:`RestController`, or gains that are not positive.
        """
        self.tune(frequency, damping_ratio)
        super().__init__(mechanism, weights=weights, preload=preload, control_period=control_period)
        self.position: Array | None = None

    def tune(self, frequency: float, damping_ratio: float) -> None:
        """Change the gains.

        Args:
            frequency: Of the return, in Hz.
            damping_ratio: 1 is critical.

        Raises:
            InputError: Gains are not positive; nothing is changed.
        """
        for name, value in (("frequency", frequency), ("damping_ratio", damping_ratio)):
            if not 0.0 < value < np.inf:
                raise InputError(f"expected a number above 0, found {value}", place=name)
        self._damping, self._stiffness = position_gains(frequency, damping_ratio)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the velocity coordinates, along which a deviation is measured."""
        return self.mechanism.model.velocity_names

    def tracking_error(self, state: State) -> Array:
        """Deviation from where it shall be, (nv,), in m or rad."""
        if self.position is None:
            return np.zeros_like(state.v)
        return self.mechanism.model.difference(self.position, state.q)

    def reset(self, efforts: Mapping[str, float] | Array | None = None) -> None:
        """Forget the past: the next command holds what it finds; see :class:`RestController`."""
        super().reset(efforts)
        self.position = None

    def _meant(self, state: State) -> tuple[State, Array]:
        if self.position is None:
            self.position = state.q.copy()
        error = self.tracking_error(state)
        return state, -self._damping * state.v - self._stiffness * error
