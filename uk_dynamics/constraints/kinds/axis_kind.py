"""What kinds with one axis share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from uk_dynamics.constraints.kinds.keys import AXIS, unit_axis
from uk_dynamics.constraints.kinds.kind import Data, Kind
from uk_dynamics.constraints.rows.row import Direction


@dataclass(frozen=True)
class AxisKind(Kind):
    """A kind whose only key is an axis."""

    axis: Direction  # Unit vector in the parent frame
    keys: ClassVar = {"axis": AXIS}
    required = ("axis",)

    @classmethod
    def from_data(cls, data: Data) -> AxisKind:
        """See :meth:`Kind.from_data`."""
        return cls(unit_axis(data["axis"], "axis"))
