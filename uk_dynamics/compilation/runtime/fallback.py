# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A ``Dynamics`` that leaves to another evaluator what it does not answer itself."""

from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.dynamics import Dynamics, Motion
from uk_dynamics.mechanism.resolution import (
    Array,
    BatchSolution,
    Energy,
    Inputs,
    Plan,
    Residual,
    Rollout,
    Samples,
    State,
    States,
)
from uk_dynamics.model import RobotModel


class Fallback(Dynamics):
    """Every method of :class:`Dynamics`, answered by ``fallback``."""

    def __init__(self, fallback: Dynamics) -> None:
        self.fallback = fallback

    @property
    def rows(self) -> int:
        """Number of constraint rows, m."""
        return self.fallback.rows

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self.fallback.model

    def evaluate(self, state: State, inputs: Inputs | None = None) -> Solution:
        """See :meth:`Dynamics.evaluate`."""
        return self.fallback.evaluate(state, inputs)

    def acceleration(self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0) -> Array:
        """See :meth:`Dynamics.acceleration`."""
        return self.fallback.acceleration(q, v, tau, t)

    def evaluate_states(
        self, given: States, inputs: Inputs, *, forces: bool, threads: int | None
    ) -> BatchSolution:
        """See :meth:`Dynamics.evaluate_batch`."""
        return self.fallback.evaluate_states(given, inputs, forces=forces, threads=threads)

    def roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """See :meth:`Dynamics.rollout`."""
        return self.fallback.roll(given, inputs, threads)

    def motion(self) -> Motion | None:
        """See :meth:`Dynamics.motion`."""
        return self.fallback.motion()

    def samples(self, given: States, inputs: Inputs) -> Samples:
        """See :meth:`Dynamics.samples`."""
        return self.fallback.samples(given, inputs)

    def energy(self, state: State) -> Energy:
        """See :meth:`Dynamics.energy`."""
        return self.fallback.energy(state)

    def residual(self, state: State, inputs: Inputs | None = None) -> Residual:
        """See :meth:`Dynamics.residual`."""
        return self.fallback.residual(state, inputs)

    def project(self, state: State, inputs: Inputs | None = None) -> State:
        """See :meth:`Dynamics.project`."""
        return self.fallback.project(state, inputs)
