# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fault ``frozen_position``: a measured position stands still although the machine moves."""

from dataclasses import replace

from uk_dynamics.control.estimation import FrozenPositionWatch
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State
from uk_dynamics.ros.parameters.parameter import Parameters


class FrozenPosition:
    """Compares successive states with what the model makes of the efforts in between."""

    def __init__(
        self, mechanism: ResolvedMechanism, dynamics: Dynamics, settings: Parameters
    ) -> None:
        """Prepare; ``state_timeout`` and ``frozen_motion`` are read at every state."""
        self._mechanism, self._dynamics, self._settings = mechanism, dynamics, settings
        self._watch = FrozenPositionWatch(mechanism.model.velocity_names, mechanism.passive)

    def forget(self) -> None:
        """Begin with the next state."""
        self._watch.forget()

    def look(
        self, state: State, inputs: Inputs, efforts: Array, elapsed: float, period: float
    ) -> str:
        """Say which position stands still although the machine has to move; empty for none.

        ``efforts`` are those since the state before, (motors,), the period is 0 if unknown, in s.
        """
        self._watch.longest = max(self._settings["state_timeout"], 1.5 * period)
        self._watch.largest = self._settings["frozen_motion"]
        tau = self._mechanism.actuators.matrix @ efforts

        def acceleration(extra: Array) -> Array:
            return self._dynamics.evaluate(state, replace(inputs, tau=tau + extra)).qdd

        try:
            q = self._mechanism.model.by_velocity(state.q)
            return self._watch.look(elapsed, q, state.v, acceleration)
        except UkDynamicsError:  # the law will say so, too
            return ""
