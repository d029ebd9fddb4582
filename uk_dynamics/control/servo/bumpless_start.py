# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

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

    Attributes:
        velocity_rows: Which rows have order velocity, (mt,).
        begin: Time of the initial error, in s; None: it comes next.
        duration: Of its path, in s; 0: there is none.
        path: Its coefficients, lowest power first, (6, mt).
        rate_path: The same of the rates of rows of order velocity, (4, mt).
    """

    def __init__(self, constraints: ConstraintSet) -> None:
        self.velocity_rows = constraints.motion_rows & ~constraints.position_rows
        self._motion_rows = constraints.motion_rows
        self.begin: float | None = None
        self.duration = 0.0
        self.path = np.zeros((6, len(constraints)))
        self.rate_path = np.zeros((4, len(constraints)))

    def reset(self) -> None:
        """Take the next error as the initial one."""
        self.begin = None

    def along(
        self, errors: TrackingErrors, duration: float, now: float, ahead: float
    ) -> tuple[TrackingErrors, Array | None]:
        """Errors relative to the path, and its acceleration, (mt,); None: there is no path."""
        if self.begin is None:
            self.begin, self.duration = now, duration
            if duration > 0.0:
                self._paths(errors)
        if not self.duration or now - self.begin >= self.duration:
            return errors, None
        value, rate, _ = self._sample(now)
        relative = TrackingErrors(errors.residual - value, errors.rate - rate)
        return relative, self._sample(ahead).acceleration

    def _paths(self, errors: TrackingErrors) -> None:
        zero = np.zeros(len(errors.residual))
        rest = ReferenceSample(zero, zero, zero)
        rate = errors.rate * self._motion_rows
        error = np.where(self.velocity_rows, 0.0, errors.residual) * self._motion_rows
        self.path = polynomials.quintic(ReferenceSample(error, rate, zero), rest, self.duration)
        self.rate_path = polynomials.cubic(ReferenceSample(rate, zero, zero), rest, self.duration)

    def _sample(self, t: float) -> ReferenceSample:
        elapsed = min(max(t - (self.begin or 0.0), 0.0), self.duration)
        position = polynomials.sample(self.path, elapsed)
        if not self.velocity_rows.any():
            return position
        velocity = polynomials.sample(self.rate_path, elapsed)
        # the residual of a row of order velocity is its rate
        pairs = zip(position, (velocity.value, velocity.value, velocity.rate), strict=True)
        return ReferenceSample(*(np.where(self.velocity_rows, v, p) for p, v in pairs))
