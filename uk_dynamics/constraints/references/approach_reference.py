# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""From a present state of motion smoothly to a place of rest, no faster than allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import uk_dynamics.constraints.references.polynomials as polynomials
from uk_dynamics.constraints.references.references import Array, ReferenceSample
from uk_dynamics.constraints.references.trajectory_reference import Trajectory

_STILL = 1e-12  # m/s or rad/s and m/s² or rad/s²: nothing to brake
_SHORTEST = 1e-3  # s
_SHORTENINGS = 40
_SAMPLES = np.linspace(0.0, 1.0, 33)
# Of the quintic from rest to rest over distance d in time T: 15/8 d/T and 10/√3 d/T².
_SPEED, _ACCELERATION = 15.0 / 8.0, 10.0 / math.sqrt(3.0)


@dataclass(frozen=True)
class Pace:
    """How fast some components may move together."""

    rows: NDArray[np.bool_]  # which components, (m,)
    speed: float  # largest length of their rate, in m/s or rad/s, positive
    acceleration: float  # largest length of their acceleration, in m/s² or rad/s², positive


def approach(
    present: ReferenceSample, target: Array, paces: Sequence[Pace], now: float
) -> Trajectory:
    """A motion in a straight line that begins and ends at rest, all components in the same time.

    What moves already is brought to rest first. The whole is twice continuously differentiable.

    Args:
        present: State of motion now; where it is faster than a pace allows it only slows down.
        target: Where to end, (m,), in m or rad.
        paces: Limits.
        now: In s.
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
        pieces.append(polynomials.quintic(present, place, duration))
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
    pieces.append(polynomials.quintic(place, ReferenceSample.at_rest(target), duration))
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
