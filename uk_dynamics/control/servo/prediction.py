# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Prediction of the state in the middle of the coming control period.

Efforts are held for a period, but they are exact at one instant only. If that is the start of the
period, they lag by half a period on average; in its middle, the error is of second order.

In a loop with a delay the coming period begins when the command takes effect: the states given here
are then those of :class:`EffectPrediction`, and nothing else changes.

The acceleration is the difference quotient of the last two velocities. The acceleration that the
last command should have caused would be as exact, but feeding predictions back can diverge: near a
singular configuration a small loop-closure error of the state causes a larger one of the next
prediction.
"""

from __future__ import annotations

from uk_dynamics.core.servo import TOO_LONG, TOO_SHORT
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.model import RobotModel


class Prediction:
    """Predicts the state half a period ahead from the last two states.

    Attributes:
        period: Of control, in s.
        last: Time and velocity of the last state; None: none.
        qdd: Acceleration between the last two, (nv,); None: unknown.
    """

    def __init__(self, model: RobotModel, period: float) -> None:
        self._model = model
        self.period = period
        self.last: tuple[float, Array] | None = None
        self.qdd: Array | None = None

    def ahead(self, state: State) -> State:
        """The state half a period later at constant acceleration."""
        self._compare(state)
        h = 0.5 * self.period
        v = state.v if self.qdd is None else state.v + h * self.qdd
        q = self._model.integrate(state.q, 0.5 * h * (state.v + v))
        return State(state.t + h, q, v)

    def reset(self) -> None:
        """Forget previous states: the next prediction assumes constant velocity."""
        self.last = self.qdd = None

    def _compare(self, state: State) -> None:
        """Update the acceleration; it is unknown after a pause, or if time went back."""
        if self.last is not None:
            t, v = self.last
            periods = (state.t - t) / self.period
            if 0.0 <= periods < TOO_SHORT:  # would amplify the noise of velocities
                return
            known = 0.0 <= periods <= TOO_LONG
            self.qdd = (state.v - v) / (state.t - t) if known else None
        self.last = state.t, state.v.copy()
