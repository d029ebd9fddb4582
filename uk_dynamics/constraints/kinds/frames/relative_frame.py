# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The pose of two moving links with respect to each other, such as of two hands."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from uk_dynamics.constraints.kinds.frames.frame import Frame
from uk_dynamics.constraints.kinds.kind import SampleRobot, Setting
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.exceptions import InputError


@dataclass(frozen=True)
class RelativeFrame(Frame):
    """As ``frame``, but both links move, so that a fixed one named by mistake is refused."""

    name = "relative_frame"
    summary = "as `frame`, but between two links that both move"
    example = (
        "grasp: {type: relative_frame, axes: [x, y, z], parent: {link: left_hand},"
        " child: {link: right_hand}}"
    )

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """As of ``frame``."""
        for role, frame in setting.frames.items():
            if not setting.model.ancestor_mask[frame].any():
                raise InputError(
                    f'"{setting.links[role]}" is fixed in the world; use type frame, '
                    "relative_frame is between two links that move",
                    place=f"{role}.link",
                )
        return super().rows(setting)

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """A complete rotation and a translation, in any order."""
        labels = ["rx", "ry", "rz", str(rng.choice(["x", "y", "z"]))]
        return {"axes": [str(label) for label in rng.permutation(labels)]}
