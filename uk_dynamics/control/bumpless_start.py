"""The beginning of control: the error that is found there decays along a path, not in a step."""

from __future__ import annotations

import numpy as np

import uk_dynamics.constraints.hermite as hermite
from uk_dynamics.constraints.constraint_set import ConstraintSet
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism.servo_evaluation import TrackingErrors
from uk_dynamics.mechanism.state import Array


class BumplessStart:
    """Asks tasks for a path p(t) from the first error to zero, instead of for zero at once.

    p is the quintic that begins with the error and its rate, unaccelerated, and ends at rest after
    the duration: b = p̈ − bias − 2ζω (ψ̇ − ṗ) − ω² (ψ − p). At the first instant that is
    b = −bias, whatever the error. Rows of order velocity take the cubic of their rate.

    Complete rotations have the angular velocity for their rate, which is that of their error only
    where it turns about one axis; else the path is the one asked for but for small terms that the
    stabilisation works on.
    """

    def __init__(self, constraints: ConstraintSet) -> None:
        """Prepare.

        Args:
            constraints: The tasks' rows.
        """
        self._velocity_rows = constraints.motion_rows & ~constraints.position_rows
        self._motion_rows = constraints.motion_rows
        self._begin: float | None = None
        self._duration = 0.0

    def reset(self) -> None:
        """The next error is the first one."""
        self._begin = None

    def along(
        self, errors: TrackingErrors, duration: float, now: float, ahead: float
    ) -> tuple[TrackingErrors, Array | None]:
        """Errors as seen from the path, and its acceleration, (mt,); None: there is no path.

        Args:
            errors: Those of now.
            duration: Of the path, in s; counts when it begins. 0: without a path.
            now: Time of the state, in s.
            ahead: Time for which efforts are made right, in s.
        """
        if self._begin is None:
            self._begin, self._duration = now, duration
            if duration > 0.0:
                self._paths(errors)
        if not self._duration or now - self._begin >= self._duration:
            return errors, None
        value, rate, _ = self._sample(now)
        left = TrackingErrors(errors.residual - value, errors.rate - rate)
        return left, self._sample(ahead).acceleration

    def _paths(self, errors: TrackingErrors) -> None:
        zero = np.zeros(len(errors.residual))
        rest = ReferenceSample(zero, zero, zero)
        rate = errors.rate * self._motion_rows
        error = np.where(self._velocity_rows, 0.0, errors.residual) * self._motion_rows
        self._path = hermite.quintic(ReferenceSample(error, rate, zero), rest, self._duration)
        self._rate_path = hermite.cubic(ReferenceSample(rate, zero, zero), rest, self._duration)

    def _sample(self, t: float) -> ReferenceSample:
        elapsed = min(max(t - (self._begin or 0.0), 0.0), self._duration)
        position = hermite.sample(self._path, elapsed)
        if not self._velocity_rows.any():
            return position
        velocity = hermite.sample(self._rate_path, elapsed)
        # the residual of a row of order velocity only shows its rate
        return ReferenceSample(
            self._chosen(position.value, velocity.value),
            self._chosen(position.rate, velocity.value),
            self._chosen(position.acceleration, velocity.rate),
        )

    def _chosen(self, position: Array, velocity: Array) -> Array:
        return np.where(self._velocity_rows, velocity, position)
