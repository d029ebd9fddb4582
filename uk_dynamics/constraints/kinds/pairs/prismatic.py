# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A slider: a common axis, and no turning about it."""

from dataclasses import dataclass
from typing import ClassVar

from uk_dynamics.constraints.kinds.kind import AxisKind, Friction, Setting
from uk_dynamics.constraints.kinds.selections import no_rotation, on_axis
from uk_dynamics.constraints.rows.row import Row


@dataclass(frozen=True)
class Prismatic(AxisKind):
    """A slider: a common axis, and no turning about it."""

    name = "prismatic"
    removes = 5
    summary = "free: sliding along the axis"
    example = (
        "prismatic_joint: {type: prismatic, axis: [1, 0, 0], parent: {link: base},"
        " child: {link: arm, xyz: [0.1, 0, 0]}}"
    )
    friction = Friction("a force against sliding, by the force across the axis")
    foreign_names: ClassVar = {
        "URDF": ("prismatic",),
        "SDF": ("prismatic",),
        "Drake": ("PrismaticJoint",),
    }

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The child's origin is on the axis, and the frames are parallel."""
        return on_axis(self.axis) + no_rotation()
