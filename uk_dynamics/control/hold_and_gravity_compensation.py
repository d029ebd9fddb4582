# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joint-space control without a tasks file: inverse dynamics of a desired acceleration.

Gravity compensation and hold are such controllers. Loops, redundant motors and limits are treated
as in the servo law. Friction is not compensated, because it helps a machine to stand still.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import compress
from pathlib import Path

import numpy as np

from uk_dynamics.compilation import Library, Selection, choose, library_of
from uk_dynamics.compilation.build import CompilationError, holds_in_c
from uk_dynamics.compilation.runtime import LAW, ForeignReferenceError, JointSpaceMemory
from uk_dynamics.compilation.verification import Comparison, Trial, compare, each, trials, verify
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.command import MotorCommand, require_motors
from uk_dynamics.control.internal_efforts import InternalEfforts
from uk_dynamics.control.limits.motor_limits import MotorLimits
from uk_dynamics.core.equation import DAMPING_RATIO, FREQUENCY, position_gains
from uk_dynamics.core.servo import NOTICEABLE, LimitedAllocation, motion_efforts
from uk_dynamics.exceptions import InputError, expect
from uk_dynamics.mechanism.dynamics import CompiledLaw, InterpretedDynamics, LawInC, require_finite
from uk_dynamics.mechanism.resolution import (
    ActiveConstraints,
    Allocation,
    Array,
    Inputs,
    State,
    Weights,
)
from uk_dynamics.mechanism_class import Mechanism

_PERIOD = 1e-3  # s, of the laws with which a library is tried


class JointSpaceController(ABC):
    """Efforts for a desired acceleration of the joints that follows from the state alone.

    Attributes:
        mechanism: What is controlled.
        active: Switchable constraints that are on; None: as in the mechanism file.
        structure: What replaces the references of structural constraints, by name.
        limits: Of the motors; they can be restricted at any time.
        preload: Preferred efforts where several cause the same motion, (motors,), in N or N·m;
            None: zero.
        internal: Additional efforts that cause internal forces; None: none.
        weights: Diagonal of W, (motors,).
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        weights: Weights = "limits",
        preload: Mapping[str, float] | None = None,
        control_period: float | None = None,
        backend: str | Selection = "auto",
    ) -> None:
        """Prepare the evaluation.

        Args:
            mechanism: With at least one motor.
            weights: Redundant motors minimise Σ weight·(effort − preload)²: ``limits`` 1/limit²,
                ``equal`` one each, or by motor name.
            preload: Preferred efforts where several cause the same motion, by motor name.
            control_period: Time between commands, in s; needed where motors have rate limits.
            backend: Evaluator in motions that are in C, see :func:`select_backend`; ``auto`` and
                ``cached`` take C where the mechanism has been compiled. A single :meth:`command`
                is interpreted.

        Raises:
            InputError: The mechanism has no motors, or there is a rate limit and no period.
        """
        expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
        require_motors(mechanism)
        self.mechanism = mechanism
        self.active: ActiveConstraints | None = None
        self.structure: Mapping[str, ReferenceSample] = {}
        allocation = Allocation.given(mechanism.actuators, weights, preload)
        self.preload = allocation.preload
        self.internal: InternalEfforts | None = None
        self.weights = allocation.weights
        self._selection = Selection.of(backend)
        self._dynamics = InterpretedDynamics(mechanism)
        self._memory = JointSpaceMemory(mechanism)
        self.limits = MotorLimits(mechanism, control_period, self._memory.fields)

    def compiled(self) -> CompiledLaw | str:
        """Itself in C; otherwise what keeps it in Python, empty where its backend does.

        Its library is made when it is first needed, as that of batches.

        Raises:
            CompilationError: With backend ``compiled``: C cannot be written, or answers wrongly.
        """
        mechanism, memory, asked = self.mechanism, self._memory, self._selection
        choice = choose(mechanism, asked)
        if choice == "gpu":
            raise CompilationError(f"{Library.JOINT_SPACE.value} do not run on a GPU")
        if choice != "compiled":
            return ""
        if not holds_in_c(mechanism):
            return f"{mechanism.model.nv} velocities to hold"
        try:
            self._set_in_c()
            path = library_of(mechanism, Library.JOINT_SPACE)
            verify(path, f"hold of {mechanism.name}", partial(_answers, mechanism, path))
        except ForeignReferenceError as error:
            return str(error)
        except CompilationError as error:
            return error.unless(strict=asked.backend == "compiled")
        return LawInC(memory.law(path), memory.remembered, self._set_in_c, self._tracking_errors)

    def _efforts_in_c(self, path: Path, state: State) -> Array | None:
        """Efforts by a library; None: it has none."""
        self._set_in_c()
        law, efforts = self._memory.law(path), np.zeros(len(self.mechanism.actuators))
        places = (x.ctypes.data for x in (state.q, state.v, efforts))
        return None if LAW(law.function)(law.controller, state.t, *places, None) else efforts

    def _set_in_c(self) -> None:
        """Tell C what the controller is set to; see :meth:`CompiledLaw.set`."""
        internal, structure = self.internal, self.structure
        if structure and not self.mechanism.follows_references:
            raise ForeignReferenceError(", ".join(structure))
        forces = None
        if internal is not None:
            forces = {"row": internal.named, "force": internal.added, "unit": internal.unit}
        inputs = Inputs(active=self.active, references=structure)
        self._memory.set(inputs, self.weights, self.preload, forces)

    def _tracking_errors(self, t: Array, q: Array, v: Array) -> Array:
        """See :meth:`CompiledLaw.tracking_errors`."""
        return np.array([self.tracking_error(place) for place in map(State, t.tolist(), q, v)])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.mechanism.name}>"

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the coordinates of :meth:`tracking_error`."""
        return ()

    def loop_closure_error(self, state: State) -> float:
        """Largest residual of the loops, in m or rad."""
        inputs = Inputs(active=self.active, references=self.structure)
        return float(np.abs(self._dynamics.residual(state, inputs).position).max(initial=0.0))

    def tracking_error(self, state: State) -> Array:
        """Deviation from the desired position, (rows,), in m or rad."""
        return np.zeros(0)

    def reset(self, efforts: Mapping[str, float] | Array | None = None) -> None:
        """Forget the past, but efforts from which rate limits count; None: they are unknown.

        They are by motor name or (motors,), in N or N·m.
        """
        self.limits.reset(None if efforts is None else self.mechanism.actuators.efforts(efforts))

    def compute(self, state: State) -> dict[str, float]:
        """Efforts by motor name, in N or N·m, within the limits."""
        return self.mechanism.actuators.by_name(self.command(state).efforts)

    def command(self, state: State) -> MotorCommand:
        """Efforts, and what limits them.

        Raises:
            StateError: Wrong sizes, or numbers that are not finite.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        require_finite(self.mechanism.model, state)
        state_used, desired = self._target(state)
        inputs = Inputs(active=self.active, references=self.structure, stabilize=False)
        prepared = self._dynamics.prepare(state_used, inputs)
        factorization, M = prepared.factorization, prepared.terms.M
        actuators = self.mechanism.actuators
        tolerance = self.mechanism.spec.solver.task_rank_tolerance

        preload = self.preload
        if self.internal is not None:
            preload = self.internal.added_to(preload, state_used, self.active, self.structure)
        resistance = self.mechanism.passive.resistance(state_used.v)
        free = factorization.solve(prepared.terms.F - resistance, prepared.terms.b)
        servo = motion_efforts(
            factorization,
            M,
            free.qdd,
            actuators.matrix,
            desired,
            weights=self.weights,
            preload=preload,
            rank_tolerance=tolerance,
        )
        bounds = self.limits.bounds(state.v)
        efforts, settled = servo.efforts, True
        if not bounds.contain(efforts):
            alike = np.ones(len(servo.wanted), dtype=np.intp)  # one row per admissible motion
            allocation = LimitedAllocation(alike, self.weights, tolerance)
            efforts = allocation.solve(
                servo.map, servo.wanted, bounds.lower, bounds.upper, servo.efforts
            )
            settled = allocation.finished
        self.limits.remember(efforts)
        residual = factorization.admissible(
            M @ (desired - free.qdd) - actuators.matrix @ servo.efforts
        )
        size = np.abs(desired).max(initial=0.0) + np.abs(free.qdd).max(initial=0.0) + 1e-3
        missed = np.abs(residual) > NOTICEABLE * size
        return MotorCommand(
            efforts=efforts,
            requested=servo.efforts,
            limited_by={} if efforts is servo.efforts else bounds.reasons(actuators.names, efforts),
            unreachable=tuple(compress(self.mechanism.model.velocity_names, missed)),
            qdd=free.qdd + factorization.admissible(actuators.matrix @ efforts),
            free=free,
            settled=settled,
        )

    @abstractmethod
    def _target(self, state: State) -> tuple[State, Array]:
        """The state at which to evaluate, and the desired acceleration there, (nv,)."""


class GravityCompensation(JointSpaceController):
    """Motors balance weight, springs and other static forces, and nothing else.

    A person who pushes the machine feels its inertia and friction, but not its weight.
    """

    def _target(self, state: State) -> tuple[State, Array]:
        zero = np.zeros_like(state.v)
        return State(state.t, state.q, zero), zero


class Hold(JointSpaceController):
    """Holds the first position it sees, with the dynamics of a damped spring at every joint."""

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        weights: Weights = "limits",
        preload: Mapping[str, float] | None = None,
        frequency: float = FREQUENCY,
        damping_ratio: float = DAMPING_RATIO,
        control_period: float | None = None,
        backend: str | Selection = "auto",
    ) -> None:
        """Set the gains and prepare the evaluation.

        Args:
            mechanism: With at least one motor.
            frequency: Natural frequency of the return, in Hz.
            damping_ratio: 1 is critical.
            weights: As for :class:`JointSpaceController`.
            preload: As for :class:`JointSpaceController`.
            control_period: As for :class:`JointSpaceController`.
            backend: As for :class:`JointSpaceController`.

        Raises:
            InputError: As for :class:`JointSpaceController`, or a gain is not positive.
        """
        super().__init__(
            mechanism,
            weights=weights,
            preload=preload,
            control_period=control_period,
            backend=backend,
        )
        self._memory.fields["holds"][0] = 1.0
        self.tune(frequency, damping_ratio)

    @property
    def position(self) -> Array | None:
        """Held position, (nq,), in m or rad; None: that of the next command."""
        return self._memory.position

    @position.setter
    def position(self, position: Array | None) -> None:
        self._memory.position = position

    def tune(self, frequency: float, damping_ratio: float) -> None:
        """Change the gains.

        Args:
            frequency: Natural frequency of the return, in Hz.
            damping_ratio: 1 is critical.

        Raises:
            InputError: A gain is not positive; nothing is changed.
        """
        for name, value in (("frequency", frequency), ("damping_ratio", damping_ratio)):
            if not 0.0 < value < np.inf:
                raise InputError(f"expected a number above 0, found {value}", place=name)
        fields, gains = self._memory.fields, position_gains(frequency, damping_ratio)
        fields["damping"][0], fields["stiffness"][0] = gains

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the velocity coordinates, along which the error is measured."""
        return self.mechanism.model.velocity_names

    def tracking_error(self, state: State) -> Array:
        """Deviation from the held position, (nv,), in m or rad."""
        if self.position is None:
            return np.zeros_like(state.v)
        return self.mechanism.model.difference(self.position, state.q)

    def reset(self, efforts: Mapping[str, float] | Array | None = None) -> None:
        """Forget the past: the next command holds the position it is given."""
        super().reset(efforts)
        self.position = None

    def _target(self, state: State) -> tuple[State, Array]:
        if self.position is None:
            self.position = state.q
        damping, stiffness = self._memory.fields["damping"], self._memory.fields["stiffness"]
        return state, -damping * state.v - stiffness * self.tracking_error(state)


def _answers(mechanism: Mechanism, path: Path) -> Iterator[Comparison]:
    """Compare efforts in C with those in Python, most of them at limits."""

    def laws() -> list[JointSpaceController]:
        held = Hold(mechanism, control_period=_PERIOD)
        held.position = mechanism.initial_guess
        return [held, GravityCompensation(mechanism, control_period=_PERIOD)]

    def expected(trial: Trial) -> dict[str, Array]:
        return {repr(law): law.command(trial.state).efforts for law in laws()}

    def compiled(trial: Trial) -> dict[str, Array]:
        found = {repr(law): law._efforts_in_c(path, trial.state) for law in laws()}
        return {name: efforts for name, efforts in found.items() if efforts is not None}

    given = trials(mechanism, InterpretedDynamics(mechanism))[:3]
    yield from compare(mechanism, expected, each(compiled), given)
