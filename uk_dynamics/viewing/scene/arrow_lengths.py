# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How long the arrows of forces and torques are drawn."""

import numpy as np

from uk_dynamics.arrays import Array

_FORGETTING = 0.995  # per picture: the scale follows the largest vector of the last seconds
_LEAST_VECTOR = 1e-9


class ArrowScale:
    """Length per force (or torque) such that the largest of the last seconds fits the picture."""

    def __init__(self) -> None:
        """Nothing has been drawn yet."""
        self._largest = _LEAST_VECTOR

    def factor(self, vectors: Array, longest: float) -> float:
        """The scale, in m/N or 1/N, for vectors (k, 3), in N or N·m.

        The longest arrow may have a length in m.
        """
        now = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
        self._largest = max(self._largest * _FORGETTING, now, _LEAST_VECTOR)
        return longest / self._largest
