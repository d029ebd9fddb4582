# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Prediction of the state in the middle of the coming control period.

Efforts are held for a period, but they are exact at one instant only. If that is the start of the
period, they lag by half a period on average; in its middle, the error is of second order.

In a loop with a delay the coming period begins when the command takes effect: the states given here
are then those of :class:`DelayPrediction`, and nothing else changes.

The acceleration is the difference quotient of the last two velocities. The acceleration that the
last command should have caused would be as exact, but feeding predictions back can diverge: near a
singular configuration a small loop-closure error of the state causes a larger one of the next
prediction.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from uk_dynamics.core.servo import Measurement, measurement, predicted
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.model import RobotModel


class Prediction:
    """Predicts the state half a period ahead from the last two states.

    Attributes:
        period: Of control, in s.
    """

    def __init__(self, model: RobotModel, period: float, memory: Mapping[str, Array]) -> None:
        """Keep what is remembered in arrays on which C works too: fields of the layout."""
        self._model = model
        self.period = period
        self._known, self._t = memory["past_known"], memory["past_t"]
        self._v, self._qdd = memory["past_v"], memory["measured_qdd"]
        self._qdd_known = memory["acceleration_known"]
        self.told: Measurement | None = None  # what the last state told

    def ahead(self, state: State) -> State:
        """The state half a period later at constant acceleration."""
        t, period, h = np.array([state.t]), np.array([self.period]), 0.5 * self.period
        self.told = told = measurement(self._known, self._t, self._qdd_known, t, period)
        if told.fresh[0]:
            self._known[0], self._t[0] = 1.0, state.t
        self._qdd_known[:] = told.known
        seen = predicted(told, state.v, self._v, self._qdd, np.array([h]))
        self._qdd[:], self._v[:], v = seen
        q = self._model.integrate(state.q, 0.5 * h * (state.v + v))
        return State(state.t + h, q, v)

    def reset(self) -> None:
        """Forget previous states: the next prediction assumes constant velocity."""
        self._known[0] = self._qdd_known[0] = 0.0
