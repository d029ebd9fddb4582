# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Limits of the motors: effort, power and rate combined to one interval of the effort each.

Where the three contradict each other, effort comes before power and power before rate: a motor that
speeds up under load may have to reduce its effort faster than its rate limit allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from uk_dynamics.compilation.runtime import limit_arrays
from uk_dynamics.core.servo import AT_LIMIT, SLOWEST
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism


class Bounds(NamedTuple):
    """The interval of each motor's effort, in N or N·m."""

    lower: Array  # (motors,)
    upper: Array  # (motors,)
    effort: Array  # bound from the effort limit alone, (motors,)
    power: Array  # bound from the effort and power limits, (motors,)

    def contain(self, efforts: Array) -> bool:
        """Whether all efforts, (motors,), are within the intervals."""
        return bool((efforts >= self.lower).all() and (efforts <= self.upper).all())

    def reasons(self, names: tuple[str, ...], efforts: Array) -> dict[str, str]:
        """Motors at a limit, and which one."""
        found = ((name, self.reason(i, float(efforts[i]))) for i, name in enumerate(names))
        return {name: reason for name, reason in found if reason}

    def reason(self, motor: int, effort: float) -> str:
        """The limit that a motor is at: "effort", "power" or "rate"; empty: none."""
        lower, upper = float(self.lower[motor]), float(self.upper[motor])
        near = AT_LIMIT * max(abs(lower), abs(upper)) if np.isfinite(upper - lower) else 0.0
        if lower + near < effort < upper - near:
            return ""
        if abs(effort) >= self.power[motor] - near:
            return "power" if self.power[motor] < self.effort[motor] else "effort"
        return "rate"


class MotorLimits:
    """Limits of the motors, with a memory of the last command; C works on the same arrays.

    Attributes:
        has_rate_limits: Whether some motor has a rate limit.
        power: Power limits, (motors,), in W.
        step: Largest change in a period where there are rate limits, (motors,), in N or N·m.
        arrays: All of it by the names of ``uk_limits``, (motors,) each, and ``known``, (1,).
    """

    def __init__(
        self,
        mechanism: Mechanism,
        period: float | None,
        arrays: Mapping[str, Array] | None = None,
    ) -> None:
        """Take the limits from a mechanism.

        Args:
            mechanism: With the motors.
            period: Time between commands, in s; None: control is continuous.
            arrays: See the attribute; None: fresh ones.

        Raises:
            InputError: A motor has a rate limit, and there is no period.
        """
        actuators = mechanism.actuators
        self._declared = actuators.effort_limits
        self.arrays = limit_arrays(len(actuators)) if arrays is None else arrays
        self.power, self.step = self.arrays["power"], self.arrays["step"]
        self.effort = self._declared
        self.power[:] = actuators.power_limits
        self._powered = bool(np.isfinite(self.power).any())
        self.has_rate_limits = bool(np.isfinite(actuators.rate_limits).any())
        self._map = np.ascontiguousarray(actuators.matrix.T)
        if self.has_rate_limits and period is None:
            name = actuators.names[int(np.flatnonzero(np.isfinite(actuators.rate_limits))[0])]
            raise InputError(
                "a rate limit needs a control period: without one, efforts change at any instant",
                file=mechanism.spec.file,
                place=f"actuators.{name}.rate_limit",
            )
        if self.has_rate_limits:
            self.step[:] = actuators.rate_limits * (period or 0.0)

    @property
    def effort(self) -> Array:
        """Effort limits now, (motors,), in N or N·m."""
        return self.arrays["effort"]

    @effort.setter
    def effort(self, efforts: Array) -> None:
        self.arrays["effort"][:] = efforts

    @property
    def last(self) -> Array | None:
        """Last command, (motors,), in N or N·m; None: unknown."""
        return self.arrays["commanded"] if self.arrays["known"][0] else None

    def restrict(self, efforts: Array) -> None:
        """Change the effort limits, at most to those of the mechanism file.

        Args:
            efforts: Largest efforts, (motors,), in N or N·m; the limits of the file still apply.

        Raises:
            InputError: A limit is negative or not a number; nothing is changed.
        """
        if not (efforts >= 0.0).all():  # false for nan
            bad = efforts[~(efforts >= 0.0)][0]
            raise InputError(f"expected a number from 0 up, found {bad:g}", place="effort_limit")
        self.effort = np.minimum(efforts, self._declared)

    def bounds(self, v: Array, later: Array | None = None) -> Bounds:
        """Intervals of the next efforts.

        Args:
            v: Velocity, (nv,); power is effort times the velocity of the motor.
            later: Predicted velocity at the end of the period, (nv,).
        """
        most = effort = self.effort.copy()
        if self._powered:
            speed = np.abs(self._map @ v)
            if later is not None:
                speed = np.maximum(speed, np.abs(self._map @ later))
            most = np.minimum(most, self.power / np.maximum(speed, SLOWEST))
        last = self.last
        if not self.has_rate_limits or last is None:
            return Bounds(-most, most, effort, most)
        lower = np.clip(last - self.step, -most, most)
        upper = np.clip(last + self.step, -most, most)
        return Bounds(lower, upper, effort, most)

    def remember(self, efforts: Array) -> None:
        """Store the commanded efforts, (motors,), in N or N·m."""
        if self.has_rate_limits:
            self.reset(efforts)

    def reset(self, efforts: Array | None = None) -> None:
        """Forget the last command.

        Args:
            efforts: Present motor efforts, (motors,), in N or N·m; None: unknown, rate limits do
                not apply to the next command.
        """
        self.arrays["known"][:] = efforts is not None
        if efforts is not None:
            self.arrays["commanded"][:] = efforts
