"""Bumpless start: the initial tracking error decays along a smooth path."""

from __future__ import annotations

import numpy as np

import uk_dynamics.constraints.references.polynomials as polynomials
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.mechanism.dynamics import TrackingErrors
from uk_dynamics.mechanism.resolution import Array


class BumplessStart:
    """Lets the tracking error follow a path p(t) from its initial value to zero.

    p is the quintic that starts with the error and its rate at zero acceleration, and ends at rest
    after the duration: b = p̈ − bias − 2ζω (ψ̇ − ṗ) − ω² (ψ − p). Initially that is b = −bias,
    whatever the error. Rows of order velocity follow a cubic of their rate.

    The rate of a complete rotation is its angular velocity, which equals the rate of its error only
    for a rotation about one axis; otherwise stabilisation corrects the small difference.
    """

    def __init__(self, constraints: ConstraintSet) -> None:
        self._velocity_rows = constraints.motion_rows & ~constraints.position_rows
        self._motion_rows = constraints.motion_rows
        self._begin: float | None = None
        self._duration = 0.0

    def reset(self) -> None:
        """Take the next error as the initial one."""
        self._begin = None

    def along(
        self, errors: TrackingErrors, duration: float, now: float, ahead: float
    ) -> tuple[TrackingErrors, Array | None]:
        """Errors relative to the path, and its acceleration, (mt,); None: there is no path."""
        if self._begin is None:
            self._begin, self._duration = now, duration
            if duration > 0.0:
                self._paths(errors)
        if not self._duration or now - self._begin >= self._duration:
            return errors, None
        value, rate, _ = self._sample(now)
        relative = TrackingErrors(errors.residual - value, errors.rate - rate)
        return relative, self._sample(ahead).acceleration

    def _paths(self, errors: TrackingErrors) -> None:
        zero = np.zeros(len(errors.residual))
        rest = ReferenceSample(zero, zero, zero)
        rate = errors.rate * self._motion_rows
        error = np.where(self._velocity_rows, 0.0, errors.residual) * self._motion_rows
        self._path = polynomials.quintic(ReferenceSample(error, rate, zero), rest, self._duration)
        self._rate_path = polynomials.cubic(ReferenceSample(rate, zero, zero), rest, self._duration)

    def _sample(self, t: float) -> ReferenceSample:
        elapsed = min(max(t - (self._begin or 0.0), 0.0), self._duration)
        position = polynomials.sample(self._path, elapsed)
        if not self._velocity_rows.any():
            return position
        velocity = polynomials.sample(self._rate_path, elapsed)
        # the residual of a row of order velocity is its rate
        pairs = zip(position, (velocity.value, velocity.value, velocity.rate), strict=True)
        return ReferenceSample(*(np.where(self._velocity_rows, v, p) for p, v in pairs))
