# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Hold: the machine stays where it is, as if tied to that position by damped springs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from uk_dynamics.control.joint_space_controller import JointSpaceController
from uk_dynamics.core.equation import DAMPING_RATIO, FREQUENCY, position_gains
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import Array, State, Weights
from uk_dynamics.mechanism_class import Mechanism


class Hold(JointSpaceController):
    """Holds the first position it sees, with the dynamics of a damped spring at every joint."""

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        weights: Weights = "limits",
        preload: Mapping[str, float] | None = None,
        frequency: float = FREQUENCY,
        damping_ratio: float = DAMPING_RATIO,
        control_period: float | None = None,
    ) -> None:
        """Set the gains and prepare the evaluation.

        Args:
            mechanism: With at least one motor.
            frequency: Natural frequency of the return, in Hz.
            damping_ratio: 1 is critical.
            weights: As for :class:`JointSpaceController`.
            preload: As for :class:`JointSpaceController`.
            control_period: As for :class:`JointSpaceController`.

        Raises:
            InputError: As for :class:`JointSpaceController`, or a gain is not positive.
        """
        super().__init__(mechanism, weights=weights, preload=preload, control_period=control_period)
        self._memory.call.holds = 1
        self.tune(frequency, damping_ratio)

    @property
    def position(self) -> Array | None:
        """Held position, (nq,), in m or rad; None: that of the next command."""
        return self._memory.position

    @position.setter
    def position(self, position: Array | None) -> None:
        self._memory.position = position

    def tune(self, frequency: float, damping_ratio: float) -> None:
        """Change the gains.

        Args:
            frequency: Natural frequency of the return, in Hz.
            damping_ratio: 1 is critical.

        Raises:
            InputError: A gain is not positive; nothing is changed.
        """
        for name, value in (("frequency", frequency), ("damping_ratio", damping_ratio)):
            if not 0.0 < value < np.inf:
                raise InputError(f"expected a number above 0, found {value}", place=name)
        self._memory.call.damping, self._memory.call.stiffness = position_gains(
            frequency, damping_ratio
        )

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the velocity coordinates, along which the error is measured."""
        return self.mechanism.model.velocity_names

    def tracking_error(self, state: State) -> Array:
        """Deviation from the held position, (nv,), in m or rad."""
        if self.position is None:
            return np.zeros_like(state.v)
        return self.mechanism.model.difference(self.position, state.q)

    def reset(self, efforts: Mapping[str, float] | Array | None = None) -> None:
        """Forget the past: the next command holds the position it is given."""
        super().reset(efforts)
        self.position = None

    def _target(self, state: State) -> tuple[State, Array]:
        if self.position is None:
            self.position = state.q
        error, gains = self.tracking_error(state), self._memory.call
        return state, -gains.damping * state.v - gains.stiffness * error
