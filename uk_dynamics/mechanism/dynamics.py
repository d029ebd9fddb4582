"""The protocol every evaluator of a mechanism fulfils."""

from __future__ import annotations

from typing import Protocol

from uk_dynamics.core.solution import Solution
from uk_dynamics.mechanism.state import Energy, Inputs, Residual, State


class Dynamics(Protocol):
    """Evaluates constrained accelerations of one mechanism; not to be shared between threads."""

    def evaluate(
        self, state: State, inputs: Inputs | None = None, out: Solution | None = None
    ) -> Solution:
        """Constrained acceleration and constraint forces at a state.

        Args:
            state: Where the mechanism is.
            inputs: What acts on it; None for nothing.
            out: A solution that an evaluator may overwrite and return; None for a fresh one.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            InputError: The state gives numbers that are not finite.
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
