# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The size of a scene, and the length of its arrows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism

_LEAST_SIZE = 0.2  # m
_FORGETTING = 0.995  # per picture: the scale follows the largest vector of the last seconds
_LEAST_VECTOR = 1e-9


@dataclass(frozen=True)
class Stage:
    """Box around the frames of a mechanism at its initial guess."""

    low: Array  # opposite corners, (3,), in m
    high: Array
    size: float  # length of its diagonal, in m; what is drawn is measured by it


def stage(mechanism: Mechanism) -> Stage:
    """Measure a mechanism."""
    workspace = mechanism.model.workspace()
    workspace.update_positions(mechanism.initial_guess)
    points = workspace.translation
    low, high = points.min(axis=0), points.max(axis=0)
    return Stage(low, high, max(float(np.linalg.norm(high - low)), _LEAST_SIZE))


class ArrowScale:
    """Length per force (or torque) such that the largest of the last seconds fits the picture."""

    def __init__(self) -> None:
        """Nothing has been drawn yet."""
        self._largest = _LEAST_VECTOR

    def factor(self, vectors: Array, longest: float) -> float:
        """The scale for vectors (k, 3), in N or N·m, whose longest arrow may have a length in m.

        Returns:
            Length per force, in m/N, or per torque, in 1/N.
        """
        now = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
        self._largest = max(self._largest * _FORGETTING, now, _LEAST_VECTOR)
        return longest / self._largest
