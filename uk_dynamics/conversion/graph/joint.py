# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A joint of a machine that is a graph of links and joints."""

from __future__ import annotations

from dataclasses import dataclass

from uk_dynamics.conversion.robot.imported_robot import Data
from uk_dynamics.model.urdf import Array, Pose


@dataclass(frozen=True)
class Axis:
    """One axis of a joint."""

    direction: Array  # in the frame of the joint, unit, (3,)
    lower: float  # limits in rad or m, infinite where there are none
    upper: float
    effort_limit: float  # infinite where there are none
    velocity_limit: float
    damping: float
    friction: float
    data: Data  # what goes into the mechanism file: spring and stop


@dataclass(frozen=True)
class GraphJoint:
    """A joint between two links of a machine, which may close a loop."""

    name: str
    kind: str  # in SDF's words
    parent: str  # name of a link, or ``world``
    child: str  # name of the other
    pose: Pose  # of the joint in the machine as it is drawn
    # of the joint in each link, which are the same place in the model unless links are drawn apart
    at_parent: Pose
    at_child: Pose
    axes: tuple[Axis, ...]  # none, one or two
    pitch: float = 0.0  # of a screw, in m per turn, positive for a right-handed thread
    # of a gearbox: both its links turn on this one, the child by −ratio times the parent
    reference: str = ""
    ratio: float = 1.0
    cut: bool = False  # whether the file says that it closes a loop

    def seen_from(self, link: str) -> Pose:
        """Its pose in one of its links."""
        return self.at_parent if link == self.parent else self.at_child
