# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References through waypoints: splines, twice continuously differentiable between their ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.constraints.references.references import Array, ReferenceSample
from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

Boundary = Literal["clamped", "natural", "periodic"]

_FEWEST = {("natural", 5): 3, ("periodic", 5): 6}  # waypoints that determine it; others: 2
_SAME = 1e-9  # relative to the span of the values: first and last waypoint of a periodic spline


@dataclass(frozen=True)
class Spline:
    """A spline of odd degree through waypoints; before the first and after the last it holds.

    A periodic one repeats instead. Holding means the value of the end waypoint and no motion: a
    clamped spline arrives there at rest, a natural one stops with a jump of its rate.
    """

    start: float  # time of the first waypoint, in s
    end: float  # time of the last one, in s
    periodic: bool  # whether it repeats
    value: BSpline  # value over time, m components, in m or rad
    rate: BSpline  # its derivative
    acceleration: BSpline  # its second derivative

    @classmethod
    def through(
        cls,
        times: ArrayLike,  # (k,), increasing, in s
        values: ArrayLike,  # (k, m), in m or rad
        *,
        degree: int = 3,  # 3 or 5
        # ``clamped``: rates (degree 5: accelerations too) vanish at both ends. ``natural``: the
        # derivatives from half the degree upwards vanish there. ``periodic``: the first and last
        # value are the same, and all derivatives are
        boundary: Boundary = "clamped",
    ) -> Spline:
        """Interpolate waypoints.

        Raises:
            InputError: Times that do not increase, sizes that do not fit, a periodic spline that
                does not return to its first value.
        """
        from scipy.interpolate import make_interp_spline  # takes long to import

        knots, points = _checked(times, values, degree, boundary)
        if boundary == "periodic":
            # Rounding in the file must not fail the exact comparison.
            points[-1] = points[0]
            spline = make_interp_spline(knots, points, degree, bc_type="periodic")
        else:
            half = (degree + 1) // 2
            orders = range(1, half) if boundary == "clamped" else range(half, degree)
            still: Any = [(order, np.zeros(points.shape[1])) for order in orders]
            spline = make_interp_spline(knots, points, degree, bc_type=(still, still))
        return cls(
            start=float(knots[0]),
            end=float(knots[-1]),
            periodic=boundary == "periodic",
            value=spline,
            rate=spline.derivative(1),
            acceleration=spline.derivative(2),
        )

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""
        if self.periodic:
            t = self.start + (t - self.start) % (self.end - self.start)
        elif not self.start <= t <= self.end:
            return ReferenceSample.at_rest(self.value(min(max(t, self.start), self.end)))
        return ReferenceSample(self.value(t), self.rate(t), self.acceleration(t))


def _checked(
    times: ArrayLike, values: ArrayLike, degree: int, boundary: Boundary
) -> tuple[Array, Array]:
    knots = np.array(times, dtype=float)
    points = np.array(values, dtype=float)
    if degree not in (3, 5):
        raise InputError(f"found {degree}; a spline has degree 3 or 5", place="degree")
    least = _FEWEST.get((boundary, degree), 2)
    if knots.ndim != 1 or len(knots) < least:
        raise InputError(
            f"a {boundary} spline of degree {degree} needs at least {least} times", place="times"
        )
    if points.ndim != 2 or len(points) != len(knots):
        raise InputError(
            f"found {len(points)} values for {len(knots)} times; give one per time", place="values"
        )
    if not (np.isfinite(knots).all() and np.isfinite(points).all()):
        raise InputError("times and values must be finite numbers", place="values")
    late = np.flatnonzero(np.diff(knots) <= 0.0)
    if len(late):
        after, before = knots[late[0] + 1], knots[late[0]]
        raise InputError(f"times must increase; {after:g} s follows {before:g} s", place="times")
    difference = np.abs(points[-1] - points[0])
    if boundary == "periodic" and np.any(difference > _SAME * (1.0 + np.ptp(points, axis=0))):
        raise InputError(
            "a periodic spline ends where it begins; repeat the first value as the last one",
            place="values",
        )
    return knots, points
