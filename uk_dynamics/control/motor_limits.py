"""What motors can give at an instant: limits of effort, power and rate as one interval each.

Where the three contradict each other, effort comes before power and power before rate: a motor that
speeds up under load may have to let go faster than its rate limit allows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array

_SLOWEST = 1e-200  # m/s or rad/s: a motor at rest has no power limit
_REACHED = 1e-9  # of the interval: so close to its end a motor is at its limit


class Bounds(NamedTuple):
    """The interval of each motor's effort, in N or N·m.

    Attributes:
        lower: (motors,).
        upper: (motors,).
        effort: Bound by effort alone, (motors,).
        power: Bound by effort and power, (motors,).
    """

    lower: Array
    upper: Array
    effort: Array
    power: Array

    def contain(self, efforts: Array) -> bool:
        """Whether all efforts, (motors,), are within."""
        return bool((efforts >= self.lower).all() and (efforts <= self.upper).all())

    def reasons(self, names: tuple[str, ...], efforts: Array) -> dict[str, str]:
        """Motors at a limit, and which one.

        Args:
            names: Of all motors, (motors,).
            efforts: Of all motors, (motors,).
        """
        found = ((name, self.reason(i, float(efforts[i]))) for i, name in enumerate(names))
        return {name: reason for name, reason in found if reason}

    def reason(self, motor: int, effort: float) -> str:
        """Which limit a motor is at: "effort", "power" or "rate"; empty where at none."""
        lower, upper = float(self.lower[motor]), float(self.upper[motor])
        near = _REACHED * max(abs(lower), abs(upper)) if np.isfinite(upper - lower) else 0.0
        if lower + near < effort < upper - near:
            return ""
        if abs(effort) >= self.power[motor] - near:
            return "power" if self.power[motor] < self.effort[motor] else "effort"
        return "rate"


class MotorLimits:
    """Limits of the motors, with a memory of what they were told last.

    Attributes:
        rated: Whether some motor has a rate limit.
    """

    def __init__(self, mechanism: Mechanism, period: float | None) -> None:
        """Take the limits of a mechanism.

        Args:
            mechanism: Whose motors.
            period: Time between commands, in s; None: they are given continuously.

        Raises:
            InputError: A motor has a rate limit, and there is no period.
        """
        actuators = mechanism.actuators
        self._declared = actuators.effort_limits
        self._effort = self._declared
        self._power = actuators.power_limits
        self._powered = bool(np.isfinite(self._power).any())
        self.rated = bool(np.isfinite(actuators.rate_limits).any())
        self._map = np.ascontiguousarray(actuators.matrix.T)
        if self.rated and period is None:
            name = actuators.names[int(np.flatnonzero(np.isfinite(actuators.rate_limits))[0])]
            raise InputError(
                "a rate limit needs a control period: without one, efforts change at any instant",
                file=mechanism.spec.file,
                place=f"actuators.{name}.rate_limit",
            )
        self._step = actuators.rate_limits * (period or 0.0) if self.rated else self._declared
        self._last: Array | None = None

    def restrict(self, efforts: Array) -> None:
        """Allow less effort from now on, or again what the mechanism file allows.

        Args:
            efforts: Largest efforts, (motors,), in N or N·m; what the file says is never exceeded.

        Raises:
            InputError: A limit is negative or no number; nothing is changed.
        """
        if not (efforts >= 0.0).all():  # false for nan
            bad = efforts[~(efforts >= 0.0)][0]
            raise InputError(f"expected a number from 0 up, found {bad:g}", place="effort_limit")
        self._effort = np.minimum(efforts, self._declared)

    def bounds(self, v: Array, later: Array | None = None) -> Bounds:
        """Intervals of the next efforts.

        Args:
            v: Velocity, (nv,): its part at each motor times the effort is the power.
            later: Velocity when the next efforts end, as far as known, (nv,).
        """
        most = self._effort
        if self._powered:
            speed = np.abs(self._map @ v)
            if later is not None:
                speed = np.maximum(speed, np.abs(self._map @ later))
            most = np.minimum(most, self._power / np.maximum(speed, _SLOWEST))
        if not self.rated or self._last is None:
            return Bounds(-most, most, self._effort, most)
        lower = np.clip(self._last - self._step, -most, most)
        upper = np.clip(self._last + self._step, -most, most)
        return Bounds(lower, upper, self._effort, most)

    def remember(self, efforts: Array) -> None:
        """Take note of what the motors are told, (motors,), in N or N·m."""
        if self.rated:
            self._last = efforts.copy()

    def reset(self, efforts: Array | None = None) -> None:
        """Forget the last command.

        Args:
            efforts: What the motors give now, (motors,), in N or N·m; None: unknown, the next
                command may be anything within the other limits.
        """
        self._last = None if efforts is None else efforts.copy()
