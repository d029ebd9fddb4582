# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A revolute joint: a common axis, and no sliding along it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.kind import AxisKind, Friction, Setting, Surfaces
from uk_dynamics.constraints.kinds.selections import AXES, aligned, origins_meet
from uk_dynamics.constraints.rows.row import Row


@dataclass(frozen=True)
class Hinge(AxisKind):
    """A revolute joint: a common axis, and no sliding along it."""

    name = "hinge"
    removes = 5
    summary = "free: turning about the axis"
    example = (
        "hinge_joint: {type: hinge, axis: [0, 1, 0], parent: {link: base},"
        " child: {link: arm, xyz: [0.1, 0, 0]}}"
    )
    friction = Friction(
        "a torque about the axis, by the force across it on a pin", turns_on="a pin"
    )
    foreign_names: ClassVar = {
        "URDF": ("revolute", "continuous"),
        "SDF": ("revolute", "continuous"),
        "Drake": ("RevoluteJoint",),
    }
    cuts: ClassVar = {
        f"hinge about {name}": {"axis": list(direction)} for name, direction in AXES.items()
    }

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The origins meet, and the axis has the same direction in both frames."""
        return origins_meet() + aligned(self.axis)

    def surfaces(self, rows: Sequence[Row]) -> Surfaces:
        """As of other kinds, but thrust along the axis runs in a bearing of its own."""
        held, turns, loads, _ = super().surfaces(rows)
        n = np.array(self.axis)
        across_axis = np.array(loads) - np.outer(np.array(loads) @ n, n)
        return Surfaces(held, turns, [(x, y, z) for x, y, z in across_axis.tolist()])
