"""What a completion of a state returns."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from uk_dynamics.mechanism.state import Array


class CompletionStatus(enum.Enum):
    """What became of a measurement."""

    COMPLETE = "complete"
    JUMP = "jump"  # measured joints are far from where they were; the loops were followed there
    SINGULAR = "singular"  # measured joints do not determine the others here
    CONTRADICTING = "contradicting"  # measured joints disagree with each other over the loops
    LOST = "lost"  # the loops do not close with these measurements on this branch


@dataclass(frozen=True, slots=True)
class Completion:
    """A complete state, and how far it can be trusted.

    Attributes:
        q: Positions, (nq,), in m or rad; the last good ones when lost.
        v: Velocities, (nv,), in m/s or rad/s; without measured velocities, and when lost, zero.
        status: What became of the measurement.
        joints: Joints that the status speaks of.
        residual: Largest violation of a loop row, in m or rad.
        misfit: Measured minus found position of each measured joint, (d,), in m or rad; zero
            unless more joints are measured than the loops need.
        condition: How much the loops amplify errors of measurements; infinite when singular.
        iterations: Newton steps.
        branch_doubtful: Since the last reset the machine has been lost, or so near to a singular
            configuration that it may have passed it, and changed to another way of closing its
            loops.
    """

    q: Array
    v: Array
    status: CompletionStatus
    joints: tuple[str, ...]
    residual: float
    misfit: Array
    condition: float
    iterations: int
    branch_doubtful: bool

    @property
    def usable(self) -> bool:
        """Whether positions belong to this measurement."""
        return self.status is not CompletionStatus.LOST
