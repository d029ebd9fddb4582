# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Polynomials of time, alone or through timed waypoints, and smoothly to a place of rest.

Coefficients come lowest power first, in the time since the beginning.
"""

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from uk_dynamics.arrays import Array, Flags
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.exceptions import InputError


def cubic(begin: ReferenceSample, end: ReferenceSample, duration: float) -> Array:
    """The cubic with values and rates of both ends, (4, m); accelerations do not count."""
    h = duration
    slope = (end.value - begin.value) / h
    return np.array(
        [
            begin.value,
            begin.rate,
            (3.0 * slope - 2.0 * begin.rate - end.rate) / h,
            (begin.rate + end.rate - 2.0 * slope) / h**2,
        ]
    )


def quintic(begin: ReferenceSample, end: ReferenceSample, duration: float) -> Array:
    """The quintic with values, rates and accelerations of both ends, (6, m); as :func:`cubic`."""
    h = duration
    change = end.value - begin.value
    v0, v1 = begin.rate * h, end.rate * h
    a0, a1 = begin.acceleration * h**2, end.acceleration * h**2
    return np.array(
        [
            begin.value,
            begin.rate,
            0.5 * begin.acceleration,
            (10.0 * change - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1) / h**3,
            (-15.0 * change + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1) / h**4,
            (6.0 * change - 3.0 * (v0 + v1) - 0.5 * (a0 - a1)) / h**5,
        ]
    )


def sample_polynomial(coefficients: Array, s: float) -> ReferenceSample:
    """Value, rate and acceleration, (m,) each, at a time s of a polynomial, (degree + 1, m)."""
    derivatives = (polyder(coefficients, order) for order in range(3))
    return ReferenceSample(*(np.asarray(polyval(s, part)) for part in derivatives))


@dataclass(frozen=True)
class Polynomial:
    """c₀ + c₁ t + c₂ t² + … for each row, at all times."""

    coefficients: Array  # lowest power first, one column per row, (n, m)

    @classmethod
    def of(cls, coefficients: Sequence[Sequence[float]]) -> "Polynomial":
        """Build it from the coefficients of each row, in m or rad per power of s, lowest first."""
        return cls(np.array(list(zip_longest(*coefficients, fillvalue=0.0)), dtype=float))

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""
        return sample_polynomial(self.coefficients, t)


_AT_REST = float(np.finfo(np.float32).eps)  # m/s or rad/s; what joint_trajectory_controller allows


@dataclass(frozen=True)
class Waypoints:
    """Desired positions over time; all numbers finite, times increasing."""

    times: Array  # (k,), in s, at least one
    positions: Array  # (k, m), in m or rad
    velocities: Array | None = None  # (k, m), zero at the end; None: not given
    accelerations: Array | None = None  # (k, m); None: not given. Only with velocities

    def __post_init__(self) -> None:
        """Check."""
        if not len(self.times):
            raise InputError("no points", place="points")
        for field in ("positions", "velocities", "accelerations"):
            values = getattr(self, field)
            if values is None:
                continue
            if values.shape != self.positions.shape or len(values) != len(self.times):
                raise InputError("give one number for each joint at each time", place=field)
            if not np.isfinite(values).all():
                raise InputError("numbers must be finite", place=field)
        late = np.flatnonzero(~(np.diff(self.times) > 0.0))
        if len(late):
            before, after = self.times[late[0]], self.times[late[0] + 1]
            raise InputError(
                f"times must increase; {after:g} s follows {before:g} s", place="times"
            )
        if self.velocities is None:
            if self.accelerations is not None:
                raise InputError("there are no velocities", place="accelerations")
        elif (np.abs(self.velocities[-1]) > _AT_REST).any():
            raise InputError("must be zero at the last point", place="velocities")

    def states(self) -> list[ReferenceSample]:
        """States of motion at the points; zero where not given."""
        zero = np.zeros_like(self.positions)
        rates = zero if self.velocities is None else self.velocities
        bends = zero if self.accelerations is None else self.accelerations
        return [ReferenceSample(*one) for one in zip(self.positions, rates, bends, strict=True)]


@dataclass(frozen=True)
class Trajectory:
    """Polynomials from waypoint to waypoint; it holds the first before, and the last one after."""

    knots: Sequence[float]  # times between the polynomials, in s
    # coefficients of each, (degree + 1, m), lowest power first; one less than knots
    pieces: Sequence[Array]
    end: Array  # where it ends, (m,), in m or rad

    @classmethod
    def through(
        cls, waypoints: Waypoints, *, now: float = -np.inf, present: ReferenceSample | None = None
    ) -> "Trajectory":
        """Interpolate: quintic with accelerations, cubic with velocities.

        With positions alone it is the twice differentiable cubic spline that ends at rest.

        Args:
            waypoints: The desired positions.
            now: Time from which on it counts, in s. Where no point is due yet it begins in the
                present state of motion, else at the last point that is past.
            present: State of motion now; None: it begins with the first point.
        """
        times, states = waypoints.times.tolist(), waypoints.states()
        past = bisect.bisect_right(times, now)
        if past:
            times, states = times[past - 1 :], states[past - 1 :]
        elif present is not None:
            times, states = [now, *times], [present, *states]
        if len(times) == 1:
            return cls(times, (), states[0].value)
        if waypoints.velocities is None:
            states = _smooth(times, states)
        piece = cubic if waypoints.accelerations is None else quintic
        pieces = list(map(piece, states[:-1], states[1:], np.diff(times)))
        return cls(times, pieces, states[-1].value)

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""
        if not self.pieces or t >= self.knots[-1]:
            return ReferenceSample.at_rest(self.end)
        if t < self.knots[0]:
            return ReferenceSample.at_rest(self.pieces[0][0])
        piece = bisect.bisect_right(self.knots, t) - 1
        return sample_polynomial(self.pieces[piece], t - self.knots[piece])


def _smooth(times: list[float], states: list[ReferenceSample]) -> list[ReferenceSample]:
    """Rates that make the cubics a spline, from the first state's rate to rest."""
    from scipy.interpolate import CubicSpline  # takes long to import

    values = np.array([state.value for state in states])
    ends: Any = ((1, states[0].rate), (1, np.zeros(values.shape[1])))
    rates = CubicSpline(times, values, bc_type=ends)(times, 1)
    return [state._replace(rate=rate) for state, rate in zip(states, rates, strict=True)]


_STILL = 1e-12  # m/s or rad/s and m/s² or rad/s²: nothing to brake
_SHORTEST = 1e-3  # s
_SHORTENINGS = 40
_SAMPLES = np.linspace(0.0, 1.0, 33)
# Of the quintic from rest to rest over distance d in time T: 15/8 d/T and 10/√3 d/T².
_SPEED, _ACCELERATION = 15.0 / 8.0, 10.0 / math.sqrt(3.0)


@dataclass(frozen=True)
class Pace:
    """How fast some components may move together."""

    rows: Flags  # which components, (m,)
    speed: float  # largest length of their rate, in m/s or rad/s, positive
    acceleration: float  # largest length of their acceleration, in m/s² or rad/s², positive


def approach(
    # state of motion now; where it is faster than a pace allows it only slows down
    present: ReferenceSample,
    target: Array,  # where to end, (m,), in m or rad
    paces: Sequence[Pace],  # limits
    now: float,  # in s
) -> Trajectory:
    """A motion in a straight line that begins and ends at rest, all components in the same time.

    What moves already is brought to rest first. The whole is twice continuously differentiable.
    """
    times, pieces = [now], []
    place = present
    moving = max(np.abs(present.rate).max(), np.abs(present.acceleration).max())
    if moving > _STILL:
        duration = _braking_time(present, paces)
        stop = (
            present.value
            + duration * present.rate / 2.0
            + duration**2 * present.acceleration / 12.0
        )
        place = ReferenceSample.at_rest(stop)
        pieces.append(quintic(present, place, duration))
        times.append(now + duration)
    place = ReferenceSample.at_rest(place.value)
    duration = _SHORTEST
    for pace in paces:
        distance = float(np.linalg.norm((target - place.value)[pace.rows]))
        duration = max(
            duration,
            _SPEED * distance / pace.speed,
            math.sqrt(_ACCELERATION * distance / pace.acceleration),
        )
    pieces.append(quintic(place, ReferenceSample.at_rest(target), duration))
    times.append(times[-1] + duration)
    return Trajectory(times, pieces, target)


def _braking_time(present: ReferenceSample, paces: Sequence[Pace]) -> float:
    """Time of the rates' cubics to zero, short enough not to get too fast on the way."""
    rates = [present.rate[pace.rows] for pace in paces]
    bends = [present.acceleration[pace.rows] for pace in paces]
    duration = _SHORTEST
    for pace, rate in zip(paces, rates, strict=True):
        duration = max(duration, 1.5 * float(np.linalg.norm(rate)) / pace.acceleration)
    s = _SAMPLES[:, None]
    for _ in range(_SHORTENINGS):
        speeds = [
            np.linalg.norm(rate * (1.0 - s) ** 2 * (1.0 + 2.0 * s) + u * s * (1.0 - s) ** 2, axis=1)
            for rate, u in zip(rates, (duration * bend for bend in bends), strict=True)
        ]
        if all(
            speed.max() <= max(pace.speed, speed[0]) * (1.0 + 1e-9)
            for pace, speed in zip(paces, speeds, strict=True)
        ):
            break
        duration *= 0.8
    return duration
