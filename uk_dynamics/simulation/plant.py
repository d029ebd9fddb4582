"""The machine with what acts on it: the right-hand side that a simulation integrates."""

from __future__ import annotations

import numpy as np

from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array, Inputs, State
from uk_dynamics.simulation.controller import Controller

_NO_ROWS: Array = np.zeros(0)


class Plant:
    """A mechanism under a constant force and under its motors.

    Attributes:
        dynamics: Evaluator of the mechanism.
        continuous: Whether the controller acts at every instant instead of holding its efforts.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tau: Array | None,
        controller: Controller | None,
        *,
        continuous: bool,
    ) -> None:
        """Put the pieces together.

        Args:
            mechanism: What moves.
            tau: Constant generalized force, (nv,), in N or N·m; None is zero.
            controller: Decides the motor efforts; None leaves the motors at rest.
            continuous: Whether it decides at every instant.
        """
        self.dynamics = mechanism.dynamics()
        self.continuous = continuous and controller is not None
        self._mechanism = mechanism
        self._controller = controller
        self._tau = np.zeros(mechanism.model.nv) if tau is None else tau
        self._efforts = np.zeros(len(mechanism.actuators))
        self._inputs = self._with(self._efforts)

    def decide(self, state: State) -> None:
        """Let the controller choose the efforts that are held from now on."""
        if self._controller is not None:
            self._efforts = self._controller.command(state).efforts
            self._inputs = self._with(self._efforts)

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """Constrained acceleration, (nv,), without stabilisation: every step is projected."""
        state = State(t, q, v)
        if self.continuous:
            self.decide(state)
        return self.dynamics.evaluate(state, self._inputs).qdd

    def project(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The state moved onto the constraints."""
        state = self.dynamics.project(State(t, q, v))
        return state.q, state.v

    def situation(self, state: State) -> tuple[Inputs, Array, Array]:
        """Inputs, efforts (motors,) and tracking errors (mt,) at a state, for recording."""
        tracking = _NO_ROWS
        if self.continuous:
            self.decide(state)
        if self._controller is not None:
            tracking = self._controller.command(state).tracking_error
        return self._inputs, self._efforts, tracking

    def _with(self, efforts: Array) -> Inputs:
        tau = self._tau + self._mechanism.actuators.matrix @ efforts
        return Inputs(tau=tau, stabilize=False)
