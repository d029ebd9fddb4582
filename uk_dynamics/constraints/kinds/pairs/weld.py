# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A rigid joint: two frames coincide."""

from dataclasses import dataclass
from typing import ClassVar

from uk_dynamics.constraints.kinds.kind import Friction, Kind, Setting
from uk_dynamics.constraints.kinds.selections import no_rotation, origins_meet
from uk_dynamics.constraints.rows.row import Row


@dataclass(frozen=True)
class Weld(Kind):
    """A rigid joint: two frames coincide."""

    name = "weld"
    removes = 6
    summary = "free: nothing"
    example = "weld_joint: {type: weld, parent: {link: base}, child: {link: arm, xyz: [0.1, 0, 0]}}"
    friction = Friction(
        "none: a weld does not move",
        refusal="a weld does not move, so it has no friction; remove the key, or use another type",
    )
    foreign_names: ClassVar = {
        "URDF": ("fixed",),
        "SDF": ("fixed",),
        "MJCF": ("weld",),
        "Gepetto": ("6d",),
        "Drake": ("WeldConstraint",),
    }
    cuts: ClassVar = {"weld": {}}

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The origins meet, and the frames are parallel."""
        return origins_meet() + no_rotation()
