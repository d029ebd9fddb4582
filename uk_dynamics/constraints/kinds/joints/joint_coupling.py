# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A gear, a mimic joint or a differential: a weighted sum of joint coordinates is held."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.keys import JOINTS, OFFSET
from uk_dynamics.constraints.kinds.kind import Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows.joint_rows import JointRow, joint_terms
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.exceptions import located


@dataclass(frozen=True)
class JointCoupling(Kind):
    """Σ k q = offset."""

    joints: tuple[tuple[str, float], ...]  # joints with their factors k
    offset: float = 0.0  # in rad or m
    name = "joint_coupling"
    removes = 1
    summary = "held: a weighted sum of joints, such as a gear"
    example = "gear: {type: joint_coupling, joints: {motor: 1, wheel: -2}}"
    frames = ()
    keys: ClassVar = {"joints": JOINTS, "offset": OFFSET}
    number = "offset"
    required = ("joints",)
    foreign_names: ClassVar = {
        "SDF": ("mimic",),
        "URDF": ("mimic",),
        "MJCF": ("joint",),
        "Drake": ("CouplerConstraint",),
    }

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The sum."""
        with located(place="joints"):
            terms = joint_terms(self.joints, setting.model)
        return (JointRow("", terms, self.offset),)

    def trajectory_name(self, constraint: str) -> str:
        """The constraint's own name."""
        return constraint

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Two joints or more."""
        count = int(rng.integers(2, len(robot.joints) + 1))
        joints = [str(joint) for joint in rng.permutation(list(robot.joints))[:count]]
        factors = rng.uniform(0.5, 3.0, count) * rng.choice([-1.0, 1.0], count)
        return {
            "joints": dict(zip(joints, factors.tolist(), strict=True)),
            "offset": float(rng.normal()),
        }
