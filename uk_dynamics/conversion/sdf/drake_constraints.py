# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Drake's own elements that close loops in SDF: welds, balls, and bushings in place of joints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.conversion.graph.joint import Axis, GraphJoint
from uk_dynamics.conversion.robot.imported_robot import ImportedRobot
from uk_dynamics.conversion.sdf.frames import Frames, numbers
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import Pose, compose, relative

_KINDS = ("weld_constraint", "ball_constraint", "linear_bushing_rpy")


def local_tag(node: ET.Element) -> str:
    """Without its namespace."""
    return node.tag.rpartition("}")[2]


def drake_joints(model: ET.Element, frames: Frames, robot: ImportedRobot) -> Iterator[GraphJoint]:
    """Joints without coordinates of a model; a bushing that is none becomes a remark."""
    for node in model:
        kind = local_tag(node)
        if not node.tag.endswith(f"}}{kind}") or kind not in _KINDS:
            continue
        try:
            found = _joint(node, kind, frames, robot)
        except InputError as error:
            raise error.located(place=f"drake:{kind}") from None
        if found is not None:
            yield found


def is_drake_joint(node: ET.Element) -> bool:
    """Whether an element is one of them."""
    return "}" in node.tag and local_tag(node) in _KINDS


def _joint(node: ET.Element, kind: str, frames: Frames, robot: ImportedRobot) -> GraphJoint | None:
    parts = {local_tag(part): part for part in node}
    axes: tuple[Axis, ...] = ()
    if kind == "weld_constraint":
        ends, word = [_frame(parts, tag) for tag in ("parent", "child")], "fixed"
    elif kind == "ball_constraint":
        ends, word = [_frame(parts, f"ball_constraint_body_{side}") for side in "AB"], "ball"
    else:
        ends = [_frame(parts, f"bushing_frame{side}") for side in "AC"]
        torque, force = (
            numbers(_part(parts, f"bushing_{part}_stiffness"), 3) for part in ("torque", "force")
        )
        free = np.flatnonzero(torque == 0.0)
        word = {0: "fixed", 1: "revolute", 3: "ball"}.get(len(free), "")
        if not word or not force.all():
            robot.lost(f"bushing {' to '.join(ends)}", "is no joint")
            return None
        robot.changed(f"bushing {' to '.join(ends)}", f"is rigid here, a {word} joint")
        if word == "revolute":
            axes = (Axis(np.eye(3)[free[0]], -math.inf, math.inf, math.inf, math.inf, 0, 0, {}),)
    places = [frames.pose(end) for end in ends]
    if kind == "ball_constraint":
        points = [numbers(_part(parts, f"ball_constraint_{p}"), 3) for p in ("p_AP", "p_BQ")]
        places = [compose(place, Pose(point)) for place, point in zip(places, points, strict=True)]
    parent, child = (frames.link(end) for end in ends)
    at_parent = relative(frames.pose(parent), places[0])
    at_child = relative(frames.pose(child), places[1])
    name = f"{ends[0]}_to_{ends[1]}"
    return GraphJoint(name, word, parent, child, places[0], at_parent, at_child, axes)


def _part(parts: dict[str, ET.Element], tag: str) -> ET.Element:
    if tag not in parts:
        raise InputError(f"<drake:{tag}> is missing; add it")
    return parts[tag]


def _frame(parts: dict[str, ET.Element], tag: str) -> str:
    return (_part(parts, tag).text or "").strip()
