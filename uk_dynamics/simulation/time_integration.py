"""Time integration of a plant, with fixed steps or with error control."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from uk_dynamics.core.integration import (
    ADAPTIVE_METHODS,
    AdaptiveMethod,
    AdaptiveStepper,
    ConfigurationSpace,
    Tolerances,
    rk4_step,
    semi_implicit_euler_step,
)
from uk_dynamics.mechanism.dynamics import Stretch
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.simulation.plant import Plant

_Step = Callable[..., tuple[Array, Array]]
FIXED_METHODS: Mapping[str, tuple[_Step, int]] = {
    "rk4": (rk4_step, 4),
    "semi_implicit_euler": (semi_implicit_euler_step, 1),
}
METHODS = (*ADAPTIVE_METHODS, *FIXED_METHODS)

_SAME_TIME = 1e-12  # s; a sample closer than this to the end of a step is at its end


@dataclass
class Advance:
    """Integrates the motion of a plant."""

    space: ConfigurationSpace
    plant: Plant
    method: str  # one of METHODS
    step: float  # fixed step, in s
    tolerances: Tolerances  # error control of the adaptive methods
    steps: int = 0  # accepted steps so far
    evaluations: int = 0  # evaluations of the acceleration so far
    _step_size: float | None = field(default=None, repr=False)

    def run(self, state: State, stops: Array) -> Iterator[State]:
        """States at the given times.

        Args:
            state: Initial state.
            stops: Increasing times after the start, in s; the last one is the end.

        Raises:
            SimulationError: The loops cannot be kept closed or the step size vanishes.
        """
        if self.fixed:
            return self._fixed(state, stops)
        return self._adaptive(state, stops)

    @property
    def fixed(self) -> bool:
        """Whether steps have a fixed size."""
        return self.method in FIXED_METHODS

    def _fixed(self, state: State, stops: Array) -> Iterator[State]:
        one_step, cost = FIXED_METHODS[self.method]  # evaluations of a step
        for stop in stops:
            if self.plant.motion is not None and (reached := self._in_c(state, float(stop))):
                state = reached
                yield state
                continue
            count = max(1, int(np.ceil((stop - state.t) / self.step - 1e-9)))
            h = (stop - state.t) / count
            start = state.t
            for k in range(count):
                q, v = one_step(self.space, self.plant.acceleration, state.t, state.q, state.v, h)
                t = float(stop) if k == count - 1 else start + (k + 1) * h
                state = self.plant.project_step(state, State(t, q, v))
                self.steps += 1
                self.evaluations += cost
            yield state

    def _in_c(self, state: State, stop: float) -> State | None:
        """The state at a time, by steps in C; None: it has to be reached in Python."""
        if self.plant.continuous and self.plant.law is None:
            return None
        when, nothing = np.array([state.t, stop]), np.zeros(2)
        found = self.move(state, when, nothing, nothing)
        return found.state if found.phase == "done" else None

    def move(self, state: State, when: Array, control: Array, sample: Array) -> Stretch:
        """Fixed steps in C through instants, with control and samples; see :class:`Motion`."""
        euler = self.method == "semi_implicit_euler"
        found = self.plant.move(state, when, control, sample, step=self.step, euler=euler)
        self.steps += found.steps
        self.evaluations += found.evaluations
        return found

    def _adaptive(self, state: State, stops: Array) -> Iterator[State]:
        start = state  # of the last step

        def project(t: float, q: Array, v: Array) -> tuple[Array, Array]:
            reached = self.plant.project_step(start, State(t, q, v))
            return reached.q, reached.v

        stepper = AdaptiveStepper(
            self.space,
            self.plant.acceleration,
            state.t,
            state.q,
            state.v,
            float(stops[-1]),
            method=cast(AdaptiveMethod, self.method),
            tolerances=self.tolerances,
            project=project,
            first_step=self._step_size,
        )
        for stop in stops:
            while stepper.t < stop - _SAME_TIME:
                start = State(stepper.t, stepper.q, stepper.v)
                stepper.step()
            yield State(float(stop), *stepper.sample(float(stop)))
        self._step_size = stepper.step_size
        self.steps += stepper.steps
        self.evaluations += stepper.evaluations
