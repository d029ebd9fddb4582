# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How joint_trajectory_controller 4.42.1 samples a trajectory (its trajectory.cpp), without ROS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Trajectory:
    """Points in time; quintic polynomials in between, and the last one after the end.

    Attributes:
        start: Time of the trajectory; zero in a message means that of its first sample.
        sampled: Whether it has been.
    """

    def __init__(self, start: float, times: Sequence[float], points: Any) -> None:
        """``times`` (K,) from the start, in s; ``points`` (K, 4, joints): q, v, qdd, efforts."""
        self.start = start
        self.sampled = False
        self._times, self._points = np.array(times), np.array(points)
        self._before: tuple[float, Any] | None = None

    @property
    def end(self) -> float:
        return float(self.start + self._times[-1])

    def set_before(self, time: float, point: Any) -> None:
        self._before = time, point

    def sample(self, time: float) -> Any:
        """Position, velocity, acceleration and effort, (4, joints), at a time."""
        if not self.sampled:
            self.start = self.start or time
            self.sampled = True
        times = self.start + self._times
        if time < times[0]:
            begin, point = self._before or (time, self._points[0])
            return _between(point, self._points[0], time - begin, times[0] - begin)
        for k in range(len(times) - 1):
            if times[k] <= time < times[k + 1]:
                ends = self._points[k], self._points[k + 1]
                return _between(*ends, time - times[k], times[k + 1] - times[k])
        return self._points[-1]


def _between(start: Any, end: Any, elapsed: float, T: float) -> Any:
    """Quintic through both ends, written for u = elapsed/T; efforts linearly."""
    u = elapsed / T
    p0, v0, a0 = start[0], start[1] * T, start[2] * T**2
    p1, v1, a1 = end[0], end[1] * T, end[2] * T**2
    c = [
        p0,
        v0,
        0.5 * a0,
        10.0 * (p1 - p0) - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
        -15.0 * (p1 - p0) + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
        6.0 * (p1 - p0) - 3.0 * (v0 + v1) - 0.5 * (a0 - a1),
    ]
    powers = u ** np.arange(6)
    q = sum(c[k] * powers[k] for k in range(6))
    v = sum(k * c[k] * powers[k - 1] for k in range(1, 6)) / T
    qdd = sum(k * (k - 1) * c[k] * powers[k - 2] for k in range(2, 6)) / T**2
    return np.array([q, v, qdd, start[3] + u * (end[3] - start[3])])
