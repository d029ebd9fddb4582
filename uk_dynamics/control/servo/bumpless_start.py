# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bumpless start: the initial tracking error decays along a smooth path."""

from __future__ import annotations

from collections.abc import Mapping

from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.core.servo import POWERS, along_path, path_to_rest
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
        self._position_rows = constraints.position_rows.astype(float)
        self._motion_rows = constraints.motion_rows.astype(float)
        self._begun, self._begin = memory["begun"], memory["begin"]
        self._duration = memory["approach_time"]
        self.path = memory["approach"].reshape(-1, POWERS).T

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
                self._paths(errors)
        if not now - float(self._begin[0]) < float(self._duration[0]):
            return errors, None
        begin = self._begin
        value, rate, acceleration = along_path(
            self.path, self._position_rows, now - begin, ahead - begin, self._duration
        )
        return TrackingErrors(errors.residual - value, errors.rate - rate), acceleration

    def _paths(self, errors: TrackingErrors) -> None:
        error, rate = errors.residual * self._position_rows, errors.rate * self._motion_rows
        self.path[:] = path_to_rest(error, rate, self._position_rows, self._duration)
