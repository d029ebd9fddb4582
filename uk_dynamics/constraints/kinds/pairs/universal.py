# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A universal (Cardan) joint: the two arms of a cross stay perpendicular."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.keys import direction, unit_axis
from uk_dynamics.constraints.kinds.kind import (
    Data,
    Friction,
    Kind,
    SampleRobot,
    Setting,
    Surfaces,
    random_axis,
)
from uk_dynamics.constraints.kinds.selections import across, origins_meet
from uk_dynamics.constraints.rows.frame_rows import AlignmentRow, LinearRow
from uk_dynamics.constraints.rows.row import Direction, Row

_SQUARE = 1e-9  # cosine of the angle between the arms, as far as robot descriptions round
_ANY_ARM = {"anyOf": [{"required": ["parent_axis"]}, {"required": ["child_axis"]}]}


@dataclass(frozen=True)
class Universal(Kind):
    """A universal joint; its shafts turn together where both are at right angles to the cross."""

    # Arm of the cross that is fixed in the parent, unit, in the parent frame
    parent_axis: Direction
    child_axis: Direction  # Arm that is fixed in the child, unit, in the child frame
    name = "universal"
    removes = 4
    summary = "free: two rotations, about the arms of a cross"
    example = (
        "cardan: {type: universal, parent_axis: [0, 1, 0], child_axis: [0, 0, 1],"
        " parent: {link: input_shaft, xyz: [0.2, 0, 0]}, child: {link: output_shaft}}"
    )
    keys: ClassVar = {
        "axis": direction(
            "Direction of the shaft in the parent frame, any length but zero: the arms of the cross"
            " are two directions perpendicular to it. Where their phase matters, give parent_axis"
            " and child_axis instead.",
            [1, 0, 0],
            title="Axis of the shaft",
        ),
        **{
            f"{role}_axis": direction(
                f"Arm of the cross that is fixed in the {role}, a direction in the {role} frame;"
                " any length but zero.",
                example,
                title=f"Arm in the {role}",
            )
            for role, example in (("parent", [0, 1, 0]), ("child", [0, 0, 1]))
        },
    }
    conditions: ClassVar = {
        "oneOf": [
            {"required": ["axis"], "not": _ANY_ARM},
            {"required": ["parent_axis", "child_axis"], "not": {"required": ["axis"]}},
        ],
        "errorMessage": "a constraint of type universal needs either axis: [1, 0, 0], its shaft, or"
        " both arms of its cross, parent_axis: [0, 1, 0] and child_axis: [0, 0, 1]",
    }
    friction = Friction("a torque about both arms, by the force on their pins", turns_on="a pin")
    foreign_names: ClassVar = {
        "URDF": ("universal",),
        "SDF": ("universal", "revolute2"),
        "Drake": ("UniversalJoint",),
    }

    @classmethod
    def from_data(cls, data: Data) -> "Universal":
        """See :meth:`Kind.from_data`."""
        if "axis" in data:
            return cls(*across(unit_axis(data["axis"], "axis")))
        return cls(*(unit_axis(data[key], key) for key in ("parent_axis", "child_axis")))

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The origins meet, and the arms are perpendicular."""
        return *origins_meet(), AlignmentRow("twist", self.parent_axis, self.child_axis)

    def surfaces(self, rows: Sequence[Row]) -> Surfaces:
        """As of other kinds, but the rotation that is held turns with the shafts."""
        held, _, loads, _ = super().surfaces([row for row in rows if isinstance(row, LinearRow)])
        return Surfaces(held, (), [*loads, (0.0, 0.0, 0.0)], (self.parent_axis, self.child_axis))

    @classmethod
    def of_axes(cls, axes: Sequence[Direction], pitch: float) -> dict[str, Any] | None:
        """Both arms, if they are perpendicular."""
        first, second = axes
        if abs(float(np.dot(first, second))) > _SQUARE:
            return None
        return {"parent_axis": list(first), "child_axis": list(second)}

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Any two arms."""
        return {"parent_axis": random_axis(rng), "child_axis": random_axis(rng)}
