# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A flat slide: a plane of one body stays on a plane of the other."""

from dataclasses import dataclass
from typing import ClassVar

from uk_dynamics.constraints.kinds.kind import AxisKind, Friction, Setting
from uk_dynamics.constraints.kinds.selections import aligned
from uk_dynamics.constraints.rows.frame_rows import LinearRow
from uk_dynamics.constraints.rows.row import Row


@dataclass(frozen=True)
class Planar(AxisKind):
    """A flat slide: a plane of one body stays on a plane of the other."""

    name = "planar"
    removes = 3
    summary = "free: sliding across the axis and turning about it"
    example = (
        "planar_joint: {type: planar, axis: [0, 0, 1], parent: {link: base},"
        " child: {link: arm, xyz: [0.1, 0, 0]}}"
    )
    friction = Friction("against sliding and turning together, by the force along the axis")
    foreign_names: ClassVar = {"URDF": ("planar",), "Drake": ("PlanarJoint",)}

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The child's origin is in the plane, and the normals agree."""
        return (LinearRow("height", self.axis), *aligned(self.axis))
