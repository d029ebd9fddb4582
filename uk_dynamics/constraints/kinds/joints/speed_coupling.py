# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A coupling of speeds: a weighted sum of joint velocities is zero, and angles are left free.

Bounded from one side it is a freewheel or overrunning clutch, a ratchet with fine teeth: one shaft
drives another, which may run faster.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.joints.joint_coupling import JointCoupling
from uk_dynamics.constraints.kinds.keys import JOINTS
from uk_dynamics.constraints.kinds.kind import Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows.joint_rows import JointRow, joint_terms
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.exceptions import located


@dataclass(frozen=True)
class SpeedCoupling(Kind):
    """Σ k q̇ = 0."""

    joints: tuple[tuple[str, float], ...]  # joints with their factors k
    name = "speed_coupling"
    removes = 1
    order = "velocity"
    summary = "held: a weighted sum of joint velocities; one-sided, a freewheel"
    example = "freewheel: {type: speed_coupling, joints: {hub: 1, chain: -1}, one_sided: at_least}"
    frames = ()
    keys: ClassVar = {"joints": JOINTS}
    required = ("joints",)

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The sum."""
        with located(place="joints"):
            terms = joint_terms(self.joints, setting.model)
        return (JointRow("", terms, 0.0, velocities=True),)

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Two joints or more."""
        return {"joints": JointCoupling.sample(rng, robot)["joints"]}
