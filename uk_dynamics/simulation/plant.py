"""The plant of a simulation: a mechanism with its forces and its controller."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import compress

import numpy as np

from uk_dynamics.compilation import Selection, select_backend
from uk_dynamics.exceptions import InputError, SimulationError, StateError
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.dynamics import Backend, Switched, project_step, switch
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.simulation.controller import Controller, TracksActiveConstraints

# m, rad and their rates: beyond any motion, and its square does not overflow.
_HUGE = 1e50


class Plant:
    """A mechanism under a constant force and its motor efforts.

    Attributes:
        dynamics: Evaluator of the mechanism.
        continuous: Whether control is continuous, instead of holding efforts for a period.
        efforts: Present motor efforts, within their limits, (motors,), in N or N·m.
        active: Switchable constraints that are on.
        inputs: Present inputs of the dynamics; without stabilisation, since steps are projected.
        problems: Of the last command: motors at their limits, unreachable tasks.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tau: Array | None,
        controller: Controller | None,
        *,
        continuous: bool,
        delay: float = 0.0,
        backend: Backend = "cached",
    ) -> None:
        """Start with zero motor efforts.

        Args:
            mechanism: What moves.
            tau: Constant generalized force, (nv,), in N or N·m; None is zero.
            controller: Computes the motor efforts; None: they are zero.
            continuous: Whether control is continuous.
            delay: From a state until the efforts computed from it act, in s; not with continuous
                control.
            backend: Evaluator of the mechanism.
        """
        # one evaluator from the first step to the last: the numbers must not change midway
        self.dynamics = select_backend(mechanism, Selection(backend, unready="wait"))
        self.continuous = continuous and controller is not None
        self._actuators = mechanism.actuators
        self._mechanism = mechanism
        self._controller = controller
        self._tau = np.zeros(mechanism.model.nv) if tau is None else tau
        self.active = mechanism.hierarchy.initial
        self.problems: tuple[str, ...] = ()
        self._delay = delay
        self._coming: deque[tuple[float, Array]] = deque()  # efforts, by when they take effect
        self._apply(np.zeros(len(mechanism.actuators)))

    @property
    def task_rows(self) -> tuple[str, ...]:
        """Names of the controller's task rows, (mt,)."""
        return () if self._controller is None else self._controller.row_names

    def control(self, state: State) -> None:
        """Compute a command; its efforts act after the delay, see :meth:`act`.

        Raises:
            StateError: Its efforts have the wrong size or are not finite.
        """
        if self._controller is None:
            return
        command = self._controller.command(state)
        limits = self._actuators.effort_limits
        efforts = np.clip(self._actuators.efforts(command.efforts), -limits, limits)
        saturated = compress(self._actuators.names, np.abs(efforts) >= limits)
        self.problems = (
            *(f"{name} is at its effort limit" for name in saturated),
            *(
                f"{name} is at its {limit} limit"
                for name, limit in command.limited_by.items()
                if limit != "effort"
            ),
            *(f"the motors cannot accelerate {row} as desired" for row in command.unreachable),
        )
        if self._delay > 0.0:
            self._coming.append((state.t + self._delay, efforts))
        else:
            self._apply(efforts)

    def act(self, t: float) -> None:
        """Apply the efforts that have taken effect by a time, in s."""
        while self._coming and self._coming[0][0] <= t:
            self._apply(self._coming.popleft()[1])

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """Constrained acceleration, (nv,); NaN if a trial step diverges.

        Integrators with error control respond to NaN with a smaller step.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            StateError: The controller's efforts have the wrong size or are not finite.
        """
        if not _bounded(q, v):
            return np.full(len(v), np.nan)
        state = State(t, q, v)
        try:
            if self.continuous:
                self.control(state)
            return self.dynamics.evaluate(state, self.inputs).qdd
        except StateError:
            raise
        except InputError:  # finite, but it overflows
            return np.full(len(v), np.nan)

    def project(self, state: State) -> State:
        """A state projected onto the constraints.

        Raises:
            SimulationError: The loops cannot be closed.
        """
        return self.dynamics.project(state, self.inputs)

    def project_step(self, start: State, end: State) -> State:
        """The end of a step projected onto the constraints.

        Raises:
            SimulationError: The loops cannot be closed, constraints jump, or the motion has
                diverged.
        """
        if not _bounded(end.q, end.v):
            raise SimulationError("the motion has become infinite; take smaller steps", end.t)
        try:
            return project_step(self._mechanism, self.dynamics, start, end, self.inputs)
        except InputError as error:
            raise SimulationError(str(error), end.t) from None

    def switch(self, state: State, changes: Mapping[str, bool]) -> Switched:
        """Switch constraints on or off, and inform the controller.

        Raises:
            UnknownNameError: There is no such switchable constraint.
            ActivationError: A constraint is too far from the pose it requires.
            SimulationError: The loops cannot be closed with it.
        """
        switched = switch(self._mechanism, self.dynamics, state, changes, self.inputs)
        self.active = switched.active
        follower: object = self._controller
        if isinstance(follower, TracksActiveConstraints):
            follower.active = switched.active
        self._apply(self.efforts)
        return switched

    def tracking_error(self, state: State) -> Array:
        """Error of each task row, (mt,), in m or rad."""
        if self._controller is None:
            return np.zeros(0)
        return self._controller.tracking_error(state)

    def _apply(self, efforts: Array) -> None:
        self.efforts = efforts
        tau = self._tau + self._actuators.matrix @ efforts
        self.inputs = Inputs(tau=tau, stabilize=False, active=self.active)


def _bounded(q: Array, v: Array) -> bool:
    return bool(q.dot(q) < _HUGE**2 and v.dot(v) < _HUGE**2)  # NaN is not
