"""The quick form of the fundamental equation that fits the states of late."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.quick_solution import QuickMotion, QuickSolution
from uk_dynamics.core.redundant import RedundantMotion
from uk_dynamics.core.regular import RegularMotion

Array = NDArray[np.float64]

# An attempt in vain costs half an evaluation: after two in a row so many states are not tried.
_PAUSE = 8


class AdaptiveMotion:
    """Expects the rows that were independent to be so again, and learns where they are not."""

    def __init__(self, nv: int, natural_scale: Array, rank_tolerance: float) -> None:
        """Begin with all rows independent; see :class:`RegularMotion` for the arguments."""
        self._nv, self._natural_scale, self._rank_tolerance = nv, natural_scale, rank_tolerance
        self._motion: QuickMotion = RegularMotion(nv, natural_scale, rank_tolerance)
        self._fits = True
        self._pause = 0

    @property
    def ready(self) -> bool:
        """Whether to try; otherwise :meth:`learn` is called without."""
        return not self._pause

    def solve(self, M: Array, F: Array, A: Array, b: Array) -> QuickSolution | None:
        """Acceleration and forces, or None: then :meth:`learn`; see :class:`RegularMotion`."""
        found = self._motion.solve(M, F, A, b)
        self._fits = self._fits or found is not None
        return found

    def acceleration(self, M: Array, F: Array, A: Array, b: Array) -> Array | None:
        """Acceleration alone, (nv,), fresh, or None: then :meth:`learn`."""
        found = self._motion.acceleration(M, F, A, b)
        self._fits = self._fits or found is not None
        return found

    def learn(self, independent: NDArray[np.intp]) -> None:
        """Take note of a state that was not solved.

        Args:
            independent: Rows that a form for all states took there, (r,).
        """
        if self._pause:
            self._pause -= 1
            return
        if not (self._fits and len(independent)):
            self._pause = _PAUSE
        self._fits = False
        rows = np.sort(independent)
        if not len(rows) or np.array_equal(rows, self._motion.independent):
            return
        known = self._nv, self._natural_scale, self._rank_tolerance
        if len(rows) == len(self._natural_scale):
            self._motion = RegularMotion(*known)
        else:
            self._motion = RedundantMotion(*known, rows)
