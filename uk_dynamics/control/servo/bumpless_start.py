# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bumpless start: the initial tracking error decays along a smooth path."""

from __future__ import annotations

from collections.abc import Mapping

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
        path: Coefficients of the error, of the rate in rows of order velocity, lowest power
            first, (6, mt).
    """

    def __init__(self, constraints: ConstraintSet, memory: Mapping[str, Array]) -> None:
        """Keep what is remembered in arrays on which C works too: fields of the layout."""
        self._velocity_rows = constraints.motion_rows & ~constraints.position_rows
        self._motion_rows = constraints.motion_rows
        self._begun, self._begin = memory["begun"], memory["begin"]
        self._duration = memory["approach_time"]
        self.path = memory["approach"].reshape(-1, 6).T

    def reset(self) -> None:
        """Take the next error as the initial one."""
        self._begun[0] = 0.0

    def along(
        self, errors: TrackingErrors, duration: float, now: float, ahead: float
    ) -> tuple[TrackingErrors, Array | None]:
        """Errors relative to the path, and its acceleration, (mt,); None: there is no path."""
        if not self._begun[0]:
            self._begun[0], self._begin[0], self._duration[0] = 1.0, now, duration
            if duration > 0.0:
                self._paths(errors, duration)
        if not now - float(self._begin[0]) < float(self._duration[0]):
            return errors, None
        value, rate, _ = self._sample(now)
        relative = TrackingErrors(errors.residual - value, errors.rate - rate)
        return relative, self._sample(ahead).acceleration

    def _paths(self, errors: TrackingErrors, duration: float) -> None:
        zero = np.zeros(len(errors.residual))
        rest = ReferenceSample(zero, zero, zero)
        rate = errors.rate * self._motion_rows
        error = np.where(self._velocity_rows, 0.0, errors.residual) * self._motion_rows
        self.path[:] = polynomials.quintic(ReferenceSample(error, rate, zero), rest, duration)
        of_rates = polynomials.cubic(ReferenceSample(rate, zero, zero), rest, duration)
        self.path[:4, self._velocity_rows] = of_rates[:, self._velocity_rows]
        self.path[4:, self._velocity_rows] = 0.0

    def _sample(self, t: float) -> ReferenceSample:
        elapsed = min(max(t - float(self._begin[0]), 0.0), float(self._duration[0]))
        value, rate, acceleration = polynomials.sample(self.path, elapsed)
        # the residual of a row of order velocity is its rate
        pairs = ((value, value), (value, rate), (rate, acceleration))
        return ReferenceSample(*(np.where(self._velocity_rows, v, p) for v, p in pairs))
