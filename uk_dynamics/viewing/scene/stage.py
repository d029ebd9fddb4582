"""The room that a mechanism takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.resolution import Array

_SMALLEST = 0.2  # m


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
    return Stage(low, high, max(float(np.linalg.norm(high - low)), _SMALLEST))
