"""How long an arrow is that stands for a force."""

from __future__ import annotations

import numpy as np

from uk_dynamics.mechanism.resolution import Array

_FORGETTING = 0.995  # per picture: the scale follows the largest vector of the last seconds
_SMALLEST = 1e-9


class ArrowScale:
    """Length per force (or torque) such that the largest of the last seconds fits the picture."""

    def __init__(self) -> None:
        """Nothing has been drawn yet."""
        self._largest = _SMALLEST

    def factor(self, vectors: Array, longest: float) -> float:
        """Take the vectors of a picture and tell how they are drawn.

        Args:
            vectors: Forces in N or torques in N·m, (k, 3).
            longest: Length of the longest arrow, in m.

        Returns:
            Length per force, in m/N, or per torque, in 1/N.
        """
        now = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
        self._largest = max(self._largest * _FORGETTING, now, _SMALLEST)
        return longest / self._largest
