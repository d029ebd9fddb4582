# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One joint coordinate that is held, or follows a reference."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.keys import JOINT
from uk_dynamics.constraints.kinds.kind import Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows.joint_rows import JointRow, joint_terms
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.exceptions import located


@dataclass(frozen=True)
class Joint(Kind):
    """The position of one joint."""

    joint: str
    name = "joint"
    removes = 1
    summary = "held: one joint"
    example = "crank: {type: joint, joint: crank, reference: {type: constant, value: 0.5}}"
    frames = ()
    keys: ClassVar = {"joint": JOINT}
    required = ("joint",)

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The joint."""
        with located(place="joint"):
            terms = joint_terms([(self.joint, 1.0)], setting.model)
        return (JointRow("", terms, 0.0),)

    def trajectory_name(self, constraint: str) -> str:
        """The joint's name."""
        return self.joint

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Any joint."""
        return {"joint": str(rng.choice(list(robot.joints)))}
