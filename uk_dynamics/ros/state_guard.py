"""Whether a state can follow the one before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.ros.messages import Array
from uk_dynamics.ros.parameters import Parameters
from uk_dynamics.ros.safety import Fault


class Doubt(NamedTuple):
    """Why a state cannot be relied on.

    Attributes:
        fault: Kind of the doubt.
        reason: What was seen, for the user.
    """

    fault: Fault
    reason: str


class StateGuard:
    """Compares each state with the one before it and with the limits of the joints."""

    def __init__(self, model: RobotModel, settings: Parameters) -> None:
        """Take the limits.

        Args:
            model: Its joints have one degree of freedom each.
            settings: Has ``position_jump`` and ``speed_factor``; read at every state.
        """
        self._names = model.velocity_names
        self._speed_limit = model.velocity_limit
        self._settings = settings
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self._stamp: int | None = None

    def forget(self) -> None:
        """The next state has no predecessor."""
        self._stamp = None

    def check(self, stamp: int, q: Array, v: Array) -> Doubt | None:
        """What is wrong with a state, None when nothing is.

        Args:
            stamp: In ns.
            q: Positions, (nq,), in m or rad.
            v: Velocities, (nv,), in m/s or rad/s.
        """
        doubt = self._against_limits(v)
        if doubt is None and self._stamp is not None:
            doubt = self._against_last(stamp, q, v)
        self._stamp = stamp
        self._q[:], self._v[:] = q, v
        return doubt

    def _against_limits(self, v: Array) -> Doubt | None:
        fastest = self._settings["speed_factor"] * self._speed_limit
        if not (np.abs(v) > fastest).any():
            return None
        joint = int(np.argmax(np.abs(v) / fastest))
        reason = f"{self._names[joint]} moves at {v[joint]:.3g}, its limit is {fastest[joint]:.3g}"
        return Doubt(Fault.OVER_SPEED, reason)

    def _against_last(self, stamp: int, q: Array, v: Array) -> Doubt | None:
        elapsed = (stamp - (self._stamp or 0)) * 1e-9
        if elapsed < 0.0:
            return Doubt(Fault.TIME_BACKWARDS, f"time went back by {-elapsed:.6g} s")
        # the mean of both velocities leaves an error of third order in the elapsed time
        gap = np.abs(q - self._q - 0.5 * elapsed * (v + self._v))
        if not (gap > self._settings["position_jump"]).any():
            return None
        joint = int(np.argmax(gap))
        reason = f"{self._names[joint]} jumped by {gap[joint]:.3g} within {elapsed:.3g} s"
        return Doubt(Fault.POSITION_JUMP, reason)
