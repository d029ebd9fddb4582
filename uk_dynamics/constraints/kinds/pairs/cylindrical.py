"""A cylindrical joint: a common axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from uk_dynamics.constraints.kinds.keys import AXIS, unit_axis
from uk_dynamics.constraints.kinds.kind import Data, Friction, Kind, Setting
from uk_dynamics.constraints.kinds.selections import aligned, on_axis
from uk_dynamics.constraints.row_types import Direction, Row


@dataclass(frozen=True)
class Cylindrical(Kind):
    """A cylindrical joint: a common axis.

    Attributes:
        axis: Unit vector in the parent frame.
    """

    axis: Direction
    name = "cylindrical"
    removes = 4
    summary = "free: turning about the axis and sliding along it"
    example = (
        "cylindrical_joint: {type: cylindrical, axis: [0, 0, 1], parent: {link: base},"
        " child: {link: arm, xyz: [0.1, 0, 0]}}"
    )
    keys: ClassVar = {"axis": AXIS}
    required = ("axis",)
    friction = Friction("against sliding and turning together, by the force across the axis")

    @classmethod
    def from_data(cls, data: Data) -> Cylindrical:
        """See :meth:`Kind.from_data`."""
        return cls(unit_axis(data["axis"], "axis"))

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The child's origin is on the axis, which has the same direction in both frames."""
        return on_axis(self.axis) + aligned(self.axis)
