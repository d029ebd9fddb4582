# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Everything that is known about one instant of a view."""

from __future__ import annotations

from dataclasses import dataclass

from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.resolution import Array, Energy, Residual
from uk_dynamics.viewing.scene.marks import Marks
from uk_dynamics.viewing.source import Snapshot


@dataclass(frozen=True)
class Instant:
    """Everything that is known about one instant."""

    snapshot: Snapshot  # state and inputs
    solution: Solution | None  # dynamics there; None where the motion is not determined
    residual: Residual  # of the structural constraints
    energy: Energy  # mechanical energy
    tracking_error: Array  # of each task row, (mt,), in m or rad
    marks: Marks  # forces of the loop joints, and frames
    centre: Array  # centre of mass, (3,), in m
    message: str  # what the user should know; empty when there is nothing
