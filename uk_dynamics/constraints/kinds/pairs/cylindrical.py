# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A cylindrical joint: a common axis."""

from dataclasses import dataclass
from typing import ClassVar

from uk_dynamics.constraints.kinds.kind import AxisKind, Friction, Setting
from uk_dynamics.constraints.kinds.selections import aligned, on_axis
from uk_dynamics.constraints.rows.row import Row


@dataclass(frozen=True)
class Cylindrical(AxisKind):
    """A cylindrical joint: a common axis."""

    name = "cylindrical"
    removes = 4
    summary = "free: turning about the axis and sliding along it"
    example = (
        "cylindrical_joint: {type: cylindrical, axis: [0, 0, 1], parent: {link: base},"
        " child: {link: arm, xyz: [0.1, 0, 0]}}"
    )
    foreign_names: ClassVar = {"URDF": ("cylindrical",)}
    friction = Friction("against sliding and turning together, by the force across the axis")

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The child's origin is on the axis, which has the same direction in both frames."""
        return on_axis(self.axis) + aligned(self.axis)
