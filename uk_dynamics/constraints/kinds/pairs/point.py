# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A ball joint: two points coincide."""

from dataclasses import dataclass
from typing import ClassVar

from uk_dynamics.constraints.kinds.kind import Friction, Kind, Setting
from uk_dynamics.constraints.kinds.selections import origins_meet
from uk_dynamics.constraints.rows.row import Row


@dataclass(frozen=True)
class Point(Kind):
    """A ball joint: two points coincide."""

    name = "point"
    removes = 3
    summary = "free: the rotation"
    example = (
        "point_joint: {type: point, parent: {link: base}, child: {link: arm, xyz: [0.1, 0, 0]}}"
    )
    friction = Friction("a torque against the rotation, by the force on a ball", turns_on="a ball")
    foreign_names: ClassVar = {
        "URDF": ("spherical", "ball"),
        "SDF": ("ball",),
        "MJCF": ("connect",),
        "Gepetto": ("3d",),
        "Drake": ("BallConstraint",),
    }
    cuts: ClassVar = {"point": {}}

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The origins meet."""
        return origins_meet()
