# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joints of a machine with loops: which become the tree, and which close the loops."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from uk_dynamics.conversion.robot.imported_robot import Data
from uk_dynamics.model.urdf import Array, Joint, Pose


@dataclass(frozen=True)
class Axis:
    """One axis of a joint."""

    joint: Joint  # with its axis and numbers; its name, type and links are those of the tree
    data: Data = field(default_factory=dict)  # what goes into the mechanism file: spring and stop

    @property
    def direction(self) -> Array:
        """In the frame of the whole joint, unit, (3,)."""
        return self.joint.axis


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


#: Kinds by how much they cost in a tree; a ball joint is worth cutting, since coordinates of a
#: tree with ball joints lock somewhere, and a cut ball joint costs three rows and no coordinate.
_COST = dict.fromkeys(("fixed", "revolute", "continuous", "prismatic"), 1)
_COST |= {"screw": 2, "revolute2": 2, "universal": 2, "ball": 3}
_CUT = 10  # more, where the file says that a joint closes a loop


@dataclass(frozen=True)
class Branch:
    """A joint of the tree."""

    joint: GraphJoint
    parent: str  # link towards the root
    child: str  # link that it carries

    @property
    def reversed(self) -> bool:
        """Whether the tree goes against the direction of the joint."""
        return self.parent != self.joint.parent


def spanning_tree(
    joints: Sequence[GraphJoint], links: Sequence[str], root: str, driven: Container[object] = ()
) -> tuple[list[Branch], list[GraphJoint], list[str]]:
    """Choose a tree of cheap joints, in the order of the file among equals.

    Returns:
        The joints of the tree, parents first; those that close loops; and one link of each part
        that nothing joins to the root.
    """
    group = {link: link for link in (*links, root)}

    def find(link: str) -> str:
        while group[link] != link:
            link = group[link]
        return link

    chosen: list[GraphJoint] = []

    def cost(joint: GraphJoint) -> int:
        driving = joint.name in driven and not joint.cut
        return 0 if driving else _COST.get(joint.kind, 99) + _CUT * joint.cut

    for joint in sorted(joints, key=cost):
        if joint.kind in _COST and find(joint.parent) != find(joint.child):
            group[find(joint.child)] = find(joint.parent)
            chosen.append(joint)
    closing = [joint for joint in joints if joint.kind in _COST and joint not in chosen]
    branches: list[Branch] = []
    loose: list[str] = []
    reached: set[str] = set()
    for start in (root, *links):
        if start in reached:
            continue
        if start != root:
            loose.append(start)
        reached.add(start)
        waiting = [start]
        while waiting:
            here = waiting.pop(0)
            for joint in joints:
                if joint in chosen and here in (joint.parent, joint.child):
                    there = joint.child if joint.parent == here else joint.parent
                    if there not in reached:
                        reached.add(there)
                        branches.append(Branch(joint, here, there))
                        waiting.append(there)
    return branches, closing, loose
