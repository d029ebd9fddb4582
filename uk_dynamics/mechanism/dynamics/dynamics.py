# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The protocol every evaluator of a mechanism fulfils, and the names of the evaluators."""

from typing import Literal, Protocol, get_args

from numpy.typing import ArrayLike

from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.dynamics.arguments import plan, states, without_forces
from uk_dynamics.mechanism.dynamics.motion import Motion
from uk_dynamics.mechanism.resolution.state import (
    Array,
    BatchSolution,
    Energy,
    Inputs,
    Plan,
    Residual,
    Rollout,
    RolloutMethod,
    Samples,
    State,
    States,
)
from uk_dynamics.model import RobotModel

#: What evaluates a mechanism; the table is that of ``uk_dynamics.compilation.select_backend``.
Backend = Literal["auto", "cached", "interpreted", "compiled", "gpu"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)


class Dynamics(Protocol):
    """Evaluates constrained accelerations of one mechanism; threads may share it."""

    @property
    def rows(self) -> int:
        """Number of constraint rows, m."""

    @property
    def model(self) -> RobotModel:
        """The robot: names and numbers of its coordinates, integration of velocities."""

    @property
    def backend(self) -> Backend:
        """What answers at present: ``interpreted``, ``compiled`` or ``gpu``."""

    def evaluate(self, state: State, inputs: Inputs | None = None) -> Solution:
        """Constrained acceleration and constraint forces at a state (review (36)).

        Contacts, stops and ropes act where ``inputs.active`` names them, and are open elsewhere:
        nothing is looked for here. :meth:`Mechanism.beginning` gives inputs that name those that
        are closed, :func:`uk_dynamics.forward_dynamics` does both.

        Args:
            state: Where the mechanism is.
            inputs: What acts on it; None for nothing.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            InputError: The state gives numbers that are not finite.
        """

    def acceleration(self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0) -> Array:
        """Constrained acceleration alone, (nv,), fresh; the quickest call of a compiled mechanism.

        Args:
            q: Configuration, (nq,).
            v: Velocity, (nv,).
            tau: Generalized forces, (nv,), in N or N·m; None is zero.
            t: In s.
        """

    def evaluate_batch(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: Inputs | None = None,
        forces: bool = True,
        threads: int | None = None,
    ) -> BatchSolution:
        """Constrained accelerations and forces at K states; compiled many times faster.

        Args:
            q: Configurations, (K, nq).
            v: Velocities, (K, nv).
            tau: Generalized forces, (K, nv), or (nv,) for all; None is zero.
            t: One time, or (K,), in s.
            inputs: Inputs common to all states, without forces: these are ``tau``.
            forces: Whether forces, multipliers and residuals are computed as well as accelerations.
            threads: At most, for the compiled evaluator; None: as many as pay.

        Raises:
            StateError: Wrong shapes.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        shared, given = without_forces(inputs), states(self.model, t, q, v, tau)
        return self.evaluate_states(given, shared, forces=forces, threads=threads)

    def evaluate_states(
        self, given: States, inputs: Inputs, *, forces: bool, threads: int | None
    ) -> BatchSolution:
        """:meth:`evaluate_batch` of checked arguments."""

    def rollout(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        steps: int,
        dt: float,
        method: RolloutMethod = "rk4",
        project: bool = True,
        t: float = 0.0,
        every: int = 1,
        inputs: Inputs | None = None,
        threads: int | None = None,
    ) -> Rollout:
        """K trajectories at fixed steps; compiled they are integrated in C, many at once.

        Args:
            q: Where they start, (K, nq) or (nq,).
            v: (K, nv) or (nv,).
            tau: Generalized forces, constant within a step: (nv,), (K, nv) or (K, steps, nv).
            steps: How many.
            dt: Of one step, in s.
            method: ``rk4`` or ``semi_implicit_euler``; over contacts, stops and ropes ``moreau``.
            project: Whether the start and every step are projected onto the constraints, positions
                and velocities; then there is no stabilisation, as in simulations.
            t: Start, in s.
            every: Steps from sample to sample.
            inputs: Inputs common to all trajectories, without forces: these are ``tau``.
            threads: At most, for the compiled evaluator; None: as many as pay.

        Raises:
            StateError: Wrong shapes.
            InputError: Numbers that make no sense, or an unknown method.
        """
        given = plan(self.model, q, v, tau, steps, dt, every, method, project, t)
        return self.roll(given, without_forces(inputs), threads)

    def roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """:meth:`rollout` of checked arguments."""

    def motion(self) -> Motion | None:
        """What moves one state at fixed steps in C, with a memory of its own; None: nothing."""

    def samples(self, given: States, inputs: Inputs) -> Samples:
        """What recordings hold of K states.

        Args:
            given: The states and their forces; tau is there.
            inputs: Common to all of them, without forces.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """

    def energy(self, state: State) -> Energy:
        """Kinetic and potential energy, springs included."""

    def residual(self, state: State, inputs: Inputs | None = None) -> Residual:
        """Violation of the constraints at position and velocity level.

        Args:
            state: Where the mechanism is.
            inputs: References that replace those of the file; None for none.
        """

    def project(self, state: State, inputs: Inputs | None = None) -> State:
        """The state moved onto the constraints, positions then velocities, in the metric of M.

        Args:
            state: Where the mechanism is.
            inputs: References that replace those of the file; None for none.

        Raises:
            SimulationError: The positions are too far off to be projected.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
