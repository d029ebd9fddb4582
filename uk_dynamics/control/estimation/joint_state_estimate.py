# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The estimate of a joint state from the measured joints, and how far it can be trusted."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from uk_dynamics.mechanism.resolution import Array


class EstimationStatus(enum.Enum):
    """Outcome of an estimation."""

    COMPLETE = "complete"
    JUMP = "jump"  # measured joints have moved far; the loops were followed to there
    SINGULAR = "singular"  # measured joints do not determine the others in this configuration
    CONTRADICTING = "contradicting"  # redundant measurements contradict each other
    LOST = "lost"  # the loops do not close with these measurements on this branch


@dataclass(frozen=True, slots=True)
class JointStateEstimate:
    """An estimated joint state, and how far it can be trusted.

    Attributes:
        q: Positions, (nq,), in m or rad; the last good ones when lost.
        v: Velocities, (nv,), in m/s or rad/s; zero without measured velocities, and when lost.
        status: Outcome of the estimation.
        joints: Joints that the status is about.
        residual: Largest residual of the loops, in m or rad.
        misfit: Measured minus estimated position of each measured joint, (d,), in m or rad; zero
            unless more joints are measured than the loops need.
        condition: How much the loops amplify measurement errors; infinite when singular.
        iterations: Newton steps.
        branch_doubtful: Since the last reset the loops failed to close, or a singular configuration
            was so near that the mechanism may have passed it onto another assembly branch.
    """

    q: Array
    v: Array
    status: EstimationStatus
    joints: tuple[str, ...]
    residual: float
    misfit: Array
    condition: float
    iterations: int
    branch_doubtful: bool

    @property
    def usable(self) -> bool:
        """Whether the positions belong to this measurement."""
        return self.status is not EstimationStatus.LOST
