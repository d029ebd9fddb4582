"""The machine with what acts on it: the right-hand side that a simulation integrates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from uk_dynamics.compilation.select_backend import Selection, select_backend
from uk_dynamics.exceptions import InputError, SimulationError, StateError
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array, Inputs, State
from uk_dynamics.mechanism.switching import Switched, switch
from uk_dynamics.simulation.controller import Controller, FollowsConstraints

# m, rad and their rates: far from any motion, and squares of it can still be computed with.
_HUGE = 1e50


class Plant:
    """A mechanism under a constant force and under its motors.

    Attributes:
        dynamics: Evaluator of the mechanism.
        continuous: Whether the controller acts at every instant instead of holding its efforts.
        efforts: Motor efforts that act now, within their limits, (motors,), in N or N·m.
        active: Switchable constraints that are on now.
        inputs: What acts on the mechanism now; without stabilisation, since steps are projected.
        complaints: What was wrong with the last decision: motors at their limits, tasks that
            cannot be served.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tau: Array | None,
        controller: Controller | None,
        *,
        continuous: bool,
        backend: Backend = "cached",
    ) -> None:
        """Put the pieces together.

        Args:
            mechanism: What moves.
            tau: Constant generalized force, (nv,), in N or N·m; None is zero.
            controller: Decides the motor efforts; None leaves the motors at rest.
            continuous: Whether it decides at every instant.
            backend: What evaluates the mechanism.
        """
        # one evaluator from the first step to the last: the numbers must not change midway
        self.dynamics = select_backend(mechanism, Selection(backend, unready="wait"))
        self.continuous = continuous and controller is not None
        self._actuators = mechanism.actuators
        self._mechanism = mechanism
        self._controller = controller
        self._tau = np.zeros(mechanism.model.nv) if tau is None else tau
        self.active = mechanism.hierarchy.initial
        self.complaints: tuple[str, ...] = ()
        self._apply(np.zeros(len(mechanism.actuators)))

    @property
    def task_rows(self) -> tuple[str, ...]:
        """Names of the controller's task rows, (mt,)."""
        return () if self._controller is None else self._controller.row_names

    def decide(self, state: State) -> None:
        """Let the controller choose the efforts that act from now on.

        Raises:
            StateError: Its efforts have the wrong size or are not finite.
        """
        if self._controller is None:
            return
        decision = self._controller.command(state)
        limits = self._actuators.effort_limits
        efforts = np.clip(self._actuators.efforts(decision.efforts), -limits, limits)
        reached = np.flatnonzero(np.abs(efforts) >= limits)
        self.complaints = (
            *(f"{self._actuators.names[motor]} is at its effort limit" for motor in reached),
            *(
                f"{name} is at its {limit} limit"
                for name, limit in decision.limited_by.items()
                if limit != "effort"
            ),
            *(f"the motors cannot serve {row} as asked" for row in decision.unreachable),
        )
        self._apply(efforts)

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """Constrained acceleration, (nv,); NaN where a trial step has left all bounds.

        Integrators with error control answer NaN with a smaller step.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            StateError: The controller's efforts have the wrong size or are not finite.
        """
        if not _bounded(q, v):
            return np.full(len(v), np.nan)
        state = State(t, q, v)
        try:
            if self.continuous:
                self.decide(state)
            return self.dynamics.evaluate(state, self.inputs).qdd
        except StateError:
            raise
        except InputError:  # finite, but too large to compute with
            return np.full(len(v), np.nan)

    def project(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The state moved onto the constraints.

        Raises:
            SimulationError: The loops cannot be closed any more, or the motion is lost.
        """
        if not _bounded(q, v):
            raise SimulationError("the motion has become infinite; take smaller steps", t)
        try:
            state = self.dynamics.project(State(t, q, v), self.inputs)
        except InputError as error:
            raise SimulationError(str(error), t) from None
        return state.q, state.v

    def switch(self, state: State, changes: Mapping[str, bool]) -> Switched:
        """Switch constraints on or off; the controller hears of it.

        Raises:
            UnknownNameError: A name is of no switchable constraint.
            ActivationError: A constraint is too far from the pose it requires.
            SimulationError: The loops cannot be closed with it.
        """
        switched = switch(self._mechanism, self.dynamics, state, changes, self.inputs)
        self.active = switched.active
        follower: object = self._controller
        if isinstance(follower, FollowsConstraints):
            follower.active = switched.active
        self._apply(self.efforts)
        return switched

    def tracking_error(self, state: State) -> Array:
        """Residual of each task row, (mt,), in m or rad."""
        if self._controller is None:
            return np.zeros(0)
        return self._controller.tracking_error(state)

    def _apply(self, efforts: Array) -> None:
        self.efforts = efforts
        tau = self._tau + self._actuators.matrix @ efforts
        self.inputs = Inputs(tau=tau, stabilize=False, active=self.active)


def _bounded(q: Array, v: Array) -> bool:
    return bool(q.dot(q) < _HUGE**2 and v.dot(v) < _HUGE**2)  # NaN is not
