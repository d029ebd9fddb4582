# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A ratchet and its pawl: a weighted sum of joints is held by teeth.

Bounded from one side it falls back to the last tooth it passed, by up to one pitch. The pawl has no
inertia, and teeth are not felt on the way forward; which of them holds follows from the
configuration alone. Held from both sides it is at its nearest tooth, as with a toothed brake.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.joints.joint_coupling import JointCoupling
from uk_dynamics.constraints.kinds.keys import JOINTS, OFFSET, number
from uk_dynamics.constraints.kinds.kind import Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows.joint_rows import JointRow, joint_terms
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.exceptions import located


@dataclass(frozen=True)
class Ratchet(Kind):
    """Σ k q = offset + n·pitch, n ∈ ℤ."""

    joints: tuple[tuple[str, float], ...]  # joints with their factors k
    pitch: float  # from tooth to tooth, in rad or m
    offset: float = 0.0  # of one of them, in rad or m
    name = "ratchet"
    removes = 1
    summary = "held: a weighted sum of joints, on a tooth; one-sided, by the last one passed"
    example = "winch: {type: ratchet, joints: {drum: 1}, pitch: 0.3, one_sided: at_least}"
    frames = ()
    keys: ClassVar = {
        "joints": JOINTS,
        "pitch": number(
            "rad or m",
            "From tooth to tooth, in rad or m of the weighted sum of joints.",
            0.3,
            exclusiveMinimum=0,
        ),
        "offset": OFFSET,
    }
    required = ("joints", "pitch")

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The sum, from the nearest tooth."""
        with located(place="joints"):
            terms = joint_terms(self.joints, setting.model)
        return (JointRow("", terms, self.offset, pitch=self.pitch),)

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Two joints or more."""
        return JointCoupling.sample(rng, robot) | {"pitch": float(rng.uniform(0.1, 1.0))}
