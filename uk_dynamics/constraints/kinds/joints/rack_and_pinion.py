# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A rack and pinion: a joint that turns drives one that slides.

Both bodies are carried by joints of the tree, as in a steering gear or a linear drive, so that two
coordinates are coupled. Where pinion or rack floats, use ``no_slip`` or an expression.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.keys import JOINT, number
from uk_dynamics.constraints.kinds.kind import Data, Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows.joint_rows import JointRow, JointTerm, joint_terms
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.exceptions import MechanismFileError, located


@dataclass(frozen=True)
class RackAndPinion(Kind):
    """x_rack − radius·θ_pinion = offset, so v_rack = radius·ω_pinion."""

    pinion: str  # Joint that turns
    rack: str  # Joint that slides
    radius: float  # Pitch radius in m, below 0 where the rack runs backwards; not zero
    offset: float = 0.0  # Of the rack where the pinion is at 0, in m
    name = "rack_and_pinion"
    removes = 1
    summary = "held: a rack moves by the radius of its pinion per radian"
    example = (
        "steering: {type: rack_and_pinion, pinion: steering_column, rack: tie_rod, radius: 0.012}"
    )
    frames = ()
    keys: ClassVar = {
        "pinion": JOINT,
        "rack": JOINT,
        "radius": number(
            "m",
            "Pitch radius of the pinion in m: the rack moves at radius times the pinion's rate;"
            " below 0 where it runs backwards.",
            0.012,
            title="Pitch radius",
        ),
        "offset": number(
            "m",
            "Position of the rack's joint where the pinion's is 0, in m; default 0.",
            0.0,
            default=0.0,
        ),
    }
    number = "offset"
    required = ("pinion", "rack", "radius")
    foreign_names: ClassVar = {"Drake": ("CouplerConstraint",)}

    @classmethod
    def from_data(cls, data: Data) -> Kind:
        """See :meth:`Kind.from_data`."""
        if data["radius"] == 0:
            problem = "a pinion of radius 0 moves no rack; give its pitch radius in m, such as 0.01"
            raise MechanismFileError(problem, place="radius")
        if data["pinion"] == data["rack"]:
            problem = f'"{data["rack"]}" is the pinion; name the joint that slides'
            raise MechanismFileError(problem, place="rack")
        return super().from_data(data)

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The rack against the pinion."""
        terms: list[JointTerm] = []
        for key, joint, factor in (("rack", self.rack, 1.0), ("pinion", self.pinion, -self.radius)):
            with located(place=key):
                terms += joint_terms([(joint, factor)], setting.model)
        return (JointRow("", tuple(terms), self.offset),)

    def trajectory_name(self, constraint: str) -> str:
        """The constraint's own name."""
        return constraint

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Any two joints."""
        pinion, rack = (str(joint) for joint in rng.permutation(list(robot.joints))[:2])
        offset = float(rng.normal())
        return {
            "pinion": pinion,
            "rack": rack,
            "radius": float(rng.uniform(0.1, 1.0)),
            "offset": offset,
        }
