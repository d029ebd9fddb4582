# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Limits of the motors, combined to one interval of the effort each; see :func:`effort_bounds`.

Also the accelerations that motors can cause within their effort limits.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from uk_dynamics.compilation import LimitsLayout
from uk_dynamics.core.servo import AT_LIMIT, effort_bounds, remembered
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
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
    """Limits of the motors, with a memory of the last commands; C works on the same numbers."""

    def __init__(
        self,
        mechanism: Mechanism,  # with the motors
        period: float | None,  # time between commands, in s; None: control is continuous
        # fields of a memory, as those of :class:`LimitsLayout`; None: fresh ones
        memory: Mapping[str, Array] | None = None,
    ) -> None:
        """Take the limits of a mechanism; InputError: derivatives have some, without a period."""
        actuators = mechanism.actuators
        self._declared = actuators.effort_limits
        if period is None and (needed := actuators.limits_of_derivatives):
            name, key = next(iter(needed.items()))
            raise InputError(
                f"a {key.replace('_', ' ')} needs a control period: without one, efforts change at"
                " any instant",
                file=mechanism.spec.file,
                place=f"actuators.{name}.{key}",
            )
        if memory is None:
            layout = LimitsLayout(len(actuators))
            memory = layout.views(layout.memory())
        shape = (-1, len(actuators))
        self._limits, self._past = (
            memory["limits"].reshape(shape),
            memory["commands"].reshape(shape),
        )
        self._known = memory["known_commands"]
        self._limits[:] = actuators.stepwise(period or 1.0)
        self._map = np.ascontiguousarray(actuators.matrix.T)
        self._powered = bool(np.isfinite(self._limits[1]).any())

    @property
    def effort(self) -> Array:
        """Effort limits now, (motors,), in N or N·m."""
        effort: Array = self._limits[0]
        return effort

    @effort.setter
    def effort(self, efforts: Array) -> None:
        self._limits[0] = efforts

    def restrict(self, efforts: Array) -> None:
        """Change the largest efforts, (motors,), within the file's; InputError: none changes."""
        if not (efforts >= 0.0).all():  # false for nan
            bad = efforts[~(efforts >= 0.0)][0]
            raise InputError(f"expected a number from 0 up, found {bad:g}", place="effort_limit")
        self.effort = np.minimum(efforts, self._declared)

    def bounds(self, v: Array, later: Array | None = None) -> Bounds:
        """Intervals of the next efforts, at velocities v, (nv,), and those when the period ends.

        Power is effort times the velocity of the motor.
        """
        now = then = np.zeros(len(self._map))
        if self._powered:
            now = self._map @ v
            then = now if later is None else self._map @ later
        lower, upper, most = effort_bounds(self._limits, self._past, self._known, now, then)
        return Bounds(lower, upper, self.effort.copy(), most)

    def remember(self, efforts: Array) -> None:
        """Store the commanded efforts, (motors,), in N or N·m."""
        self._past[:] = remembered(self._past, self._known, efforts)
        self._known[0] = 1.0

    def reset(self, efforts: Array | None = None) -> None:
        """Forget the last commands, but present efforts, (motors,), in N or N·m.

        None: they are unknown; limits of derivatives do not apply to the next command.
        """
        self._known[0] = efforts is not None
        if efforts is not None:
            self._past[0], self._past[1:] = efforts, 0.0


def reachable_acceleration(
    mechanism: Mechanism,  # with the motors
    dynamics: InterpretedDynamics,  # its evaluator
    state: State,  # where the mechanism is
    efforts: Array,  # of the motors that have no limit, (motors,), in N or N·m
    # active constraints and structural references; None: as in the mechanism file
    inputs: Inputs | None = None,
) -> Array:
    """Largest acceleration of each velocity coordinate, (nv,), in m/s² or rad/s².

    |q̈ of zero efforts| + Σ |N S| · limit, N = Z(ZᵀMZ)⁻¹Zᵀ as in the servo law: a bound, since not
    every sign of every effort serves the same coordinate.

    Raises:
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    actuators = mechanism.actuators
    limits = actuators.effort_limits
    largest = np.where(np.isfinite(limits), limits, np.abs(efforts))
    inputs = inputs or Inputs()
    prepared = dynamics.prepare(state, inputs)
    reach: Array = np.abs(dynamics.solve(prepared, state, inputs).qdd)
    for effects, effort in zip(actuators.matrix.T, largest, strict=True):
        reach = reach + effort * np.abs(prepared.factorization.admissible(effects))
    return reach
