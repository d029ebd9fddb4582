"""Where the machine will be in the middle of the coming control period.

Efforts are held for a period, but right at one instant only. Right at its start, the machine is
driven by accelerations half a period old on average; right in its middle, the error is of second
order.

The acceleration is what the velocities of the last two states say. What the last command was meant
to cause would be as exact, but a prediction that feeds on its own results can run away: beside a
singular configuration a state that is off the loops by little has accelerations that take the next
prediction off by more.
"""

from __future__ import annotations

from uk_dynamics.mechanism.state import Array, State
from uk_dynamics.model.robot_model import RobotModel

_TOO_SHORT, _TOO_LONG = 0.5, 2.5  # periods between states whose velocities are compared


class Prediction:
    """Predicts half a period ahead; remembers the states before."""

    def __init__(self, model: RobotModel, period: float) -> None:
        """Start without a past.

        Args:
            model: Integrates configurations.
            period: Of the control, in s.
        """
        self._model = model
        self._period = period
        self._last: tuple[float, Array] | None = None
        self._qdd: Array | None = None

    def ahead(self, state: State) -> State:
        """The state half a period later, if the acceleration stays what it was."""
        self._compare(state)
        h = 0.5 * self._period
        v = state.v if self._qdd is None else state.v + h * self._qdd
        q = self._model.integrate(state.q, 0.5 * h * (state.v + v))
        return State(state.t + h, q, v)

    def reset(self) -> None:
        """Forget them: the next prediction takes the velocity for constant."""
        self._last = self._qdd = None

    def _compare(self, state: State) -> None:
        """See how the velocity has changed; unknown after a pause, or where time went back."""
        if self._last is not None:
            t, v = self._last
            periods = (state.t - t) / self._period
            if 0.0 <= periods < _TOO_SHORT:  # noise of velocities would count too much
                return
            known = 0.0 <= periods <= _TOO_LONG
            self._qdd = (state.v - v) / (state.t - t) if known else None
        self._last = state.t, state.v.copy()
