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

from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.model import RobotModel

_TOO_SHORT, _TOO_LONG = 0.5, 2.5  # periods between states whose velocities are compared


class Prediction:
    """Predicts the state half a period ahead from the last two states."""

    def __init__(self, model: RobotModel, period: float) -> None:
        self._model = model
        self._period = period
        self._last: tuple[float, Array] | None = None
        self._qdd: Array | None = None

    def ahead(self, state: State) -> State:
        """The state half a period later at constant acceleration."""
        self._compare(state)
        h = 0.5 * self._period
        v = state.v if self._qdd is None else state.v + h * self._qdd
        q = self._model.integrate(state.q, 0.5 * h * (state.v + v))
        return State(state.t + h, q, v)

    def reset(self) -> None:
        """Forget previous states: the next prediction assumes constant velocity."""
        self._last = self._qdd = None

    def _compare(self, state: State) -> None:
        """Update the acceleration; it is unknown after a pause, or if time went back."""
        if self._last is not None:
            t, v = self._last
            periods = (state.t - t) / self._period
            if 0.0 <= periods < _TOO_SHORT:  # would amplify the noise of velocities
                return
            known = 0.0 <= periods <= _TOO_LONG
            self._qdd = (state.v - v) / (state.t - t) if known else None
        self._last = state.t, state.v.copy()
