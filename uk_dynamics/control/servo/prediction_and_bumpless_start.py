# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Steps of a control period that remember: the state in its middle, and the bumpless start."""

from collections.abc import Mapping

import numpy as np

from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.core.servo import (
    POWERS,
    Measurement,
    along_path,
    measurement,
    path_to_rest,
    predicted,
    smoothed,
)
from uk_dynamics.mechanism.dynamics import TrackingErrors
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.model import RobotModel


class Prediction:
    """Predicts the state in the middle of the coming control period from the last two states.

    Efforts are held for a period, but they are exact at one instant only. If that is the start of
    the period, they lag by half a period on average; in its middle, the error is of second order.

    In a loop with a delay the coming period begins when the command takes effect: the states given
    here are then those of :class:`DelayPrediction`, and nothing else changes.

    The acceleration is the difference quotient of the last two velocities. The acceleration that
    the last command should have caused would be as exact, but feeding predictions back can diverge:
    near a singular configuration a small loop-closure error of the state causes a larger one of the
    next prediction.
    """

    def __init__(self, model: RobotModel, period: float, memory: Mapping[str, Array]) -> None:
        """Keep what is remembered in arrays on which C works too: fields of the layout."""
        self._model, self.period = model, period
        self._known, self._t = memory["past_known"], memory["past_t"]
        self._v, self._qdd = memory["past_v"], memory["measured_qdd"]
        self._qdd_known = memory["acceleration_known"]
        self._smoothed: tuple[Array, Array] | None = None
        if "watch_rate" in memory:
            self._smoothed = memory["smoothed"].reshape(3, -1), memory["watch_rate"]
        self.friction_v: Array | None = None  # smoothed velocities ahead, with velocity_observer
        self.told: Measurement | None = None  # what the last state told

    def ahead(self, state: State) -> State:
        """The state half a period later at constant acceleration."""
        t, period, h = np.array([state.t]), np.array([self.period]), 0.5 * self.period
        self.told = told = measurement(self._known, self._t, self._qdd_known, t, period)
        if told.fresh[0]:
            self._known[0], self._t[0] = 1.0, state.t
        self._qdd_known[:] = told.known
        self._qdd[:], self._v[:], v = predicted(told, state.v, self._v, self._qdd, np.array([h]))
        if self._smoothed is not None:
            past, rates = self._smoothed
            *left, self.friction_v = smoothed(
                told, state.v, past, np.array([h]), np.array([rates.max()])
            )
            past[:] = left
        return State(state.t + h, self._model.integrate(state.q, 0.5 * h * (state.v + v)), v)

    def reset(self) -> None:
        """Forget previous states: the next prediction assumes constant velocity."""
        self._known[0] = self._qdd_known[0] = 0.0


class BumplessStart:
    """Lets the tracking error follow a path p(t) from its initial value to zero.

    p is the quintic that starts with the error and its rate at zero acceleration, and ends at rest
    after the duration: b = p̈ − bias − 2ζω (ψ̇ − ṗ) − ω² (ψ − p). Initially that is b = −bias,
    whatever the error. Rows of order velocity follow a cubic of their rate.

    The rate of a complete rotation is its angular velocity, which equals the rate of its error only
    for a rotation about one axis; otherwise stabilisation corrects the small difference.
    """

    def __init__(
        self, constraints: ConstraintSet, memory: Mapping[str, Array], side: Array | None = None
    ) -> None:
        """Keep what is remembered in arrays on which C works too: fields of the layout.

        Bounded rows have no path: nothing draws them to their bounds.
        """
        self._equal = np.ones(len(constraints)) if side is None else (side == 0.0).astype(float)
        self._position_rows = constraints.position_rows.astype(float)
        self._motion_rows = constraints.motion_rows.astype(float)
        self._begun, self._begin = memory["begun"], memory["begin"]
        self._duration = memory["approach_time"]
        # coefficients of the error, of the rate in rows of order velocity, lowest first, (6, mt)
        self.path = memory["approach"].reshape(-1, POWERS).T

    def reset(self) -> None:
        """Take the next error as the initial one."""
        self._begun[0] = 0.0

    def along(
        self, errors: TrackingErrors, duration: float, now: float, ahead: float
    ) -> tuple[TrackingErrors, Array | None]:
        """Errors relative to the path, and its acceleration, (mt,); None: there is no path."""
        if not self._begun[0]:
            self._begun[0], self._begin[0], self._duration[0] = 1.0, now, duration
            if duration > 0.0:
                error, rate = errors.residual * self._position_rows, errors.rate * self._motion_rows
                error, rate = self._equal * error, self._equal * rate
                self.path[:] = path_to_rest(error, rate, self._position_rows, self._duration)
        if not now - float(self._begin[0]) < float(self._duration[0]):
            return errors, None
        begin = self._begin
        value, rate, acceleration = along_path(
            self.path, self._position_rows, now - begin, ahead - begin, self._duration
        )
        return TrackingErrors(errors.residual - value, errors.rate - rate), acceleration
