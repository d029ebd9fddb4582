"""Where the machine will be in the middle of the coming control period.

Efforts are held for a period, but right at one instant only. Right at its start, the machine is
driven by accelerations half a period old on average; right in its middle, the error is of second
order.
"""

from __future__ import annotations

from uk_dynamics.mechanism.state import Array, State
from uk_dynamics.model.robot_model import RobotModel


class Prediction:
    """Predicts half a period ahead; remembers the acceleration that was caused last."""

    def __init__(self, model: RobotModel, period: float) -> None:
        """Start without a past.

        Args:
            model: Integrates configurations.
            period: Of the control, in s.
        """
        self._model = model
        self._half = 0.5 * period
        self._qdd: Array | None = None

    def ahead(self, state: State) -> State:
        """The state half a period later, if the acceleration stays what it was."""
        h = self._half
        v = state.v if self._qdd is None else state.v + h * self._qdd
        q = self._model.integrate(state.q, 0.5 * h * (state.v + v))
        return State(state.t + h, q, v)

    def remember(self, qdd: Array) -> None:
        """Take note of the acceleration that the last command causes, (nv,)."""
        self._qdd = qdd

    def reset(self) -> None:
        """Forget it: the next prediction takes the velocity for constant."""
        self._qdd = None
