# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joints of a graph as joints of a URDF, or as constraints where they close a loop."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from uk_dynamics.constraints.kinds import kind_called
from uk_dynamics.conversion.graph.joint import Axis, GraphJoint
from uk_dynamics.conversion.graph.spanning_tree import Branch
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot, turn
from uk_dynamics.conversion.robot.poses import frame_data
from uk_dynamics.model.urdf import Joint, JointType, Pose, relative


def single_joints(joint: GraphJoint, sign: float, robot: ImportedRobot) -> Iterator[Joint]:
    """The joints of one freedom that a joint of the tree consists of, in its frame."""
    if joint.kind == "screw":
        (axis,) = joint.axes
        yield _single(axis, f"{joint.name}_turn", "revolute", sign, robot)
        yield turn(f"{joint.name}_slide", sign * axis.direction, "prismatic")
        return
    names = [f"{joint.name}_1", f"{joint.name}_2"] if len(joint.axes) > 1 else [joint.name]
    kind: JointType = "prismatic" if joint.kind == "prismatic" else "revolute"
    for name, axis in zip(names, joint.axes, strict=False):  # none of a fixed or ball joint
        yield _single(axis, name, kind, sign, robot)


def _single(axis: Axis, name: str, kind: JointType, sign: float, robot: ImportedRobot) -> Joint:
    if axis.data:
        robot.joint_data[name] = axis.data
    return Joint(
        name,
        kind,
        "",
        "",
        axis=sign * axis.direction,
        lower=axis.lower,
        upper=axis.upper,
        effort_limit=axis.effort_limit,
        velocity_limit=axis.velocity_limit,
        damping=axis.damping,
        friction=axis.friction,
    )


def close_loop(joint: GraphJoint, inside: Mapping[str, Pose], robot: ImportedRobot) -> None:
    """Turn a joint into a constraint.

    Args:
        joint: The joint.
        inside: Of its links: their frames in the URDF, seen from those of the file.
        robot: Gets the constraint, or a remark.
    """
    kind = kind_called(joint.kind, "SDF")
    axes = [(x, y, z) for x, y, z in (axis.direction.tolist() for axis in joint.axes)]
    keys = None if kind is None else kind.of_axes(axes, joint.pitch)
    if kind is None or keys is None:
        robot.lost(f"joint {joint.name}", f"closes a loop as {joint.kind}: there is no such row")
        return
    data: Data = {"type": kind.name, **keys}
    for role, link in (("parent", joint.parent), ("child", joint.child)):
        data[role] = frame_data(link, relative(inside[link], joint.seen_from(link)))
    robot.add_constraint(joint.name, data)
    for axis in joint.axes:
        has = [word for word in ("damping", "friction") if getattr(axis, word)]
        has += ["limits"] if math.isfinite(axis.lower) or math.isfinite(axis.upper) else []
        has += list(axis.data)
        if has:
            why = "it closes a loop and has no coordinate"
            robot.lost(f"joint {joint.name}", f"{', '.join(has)}: {why}")


def couple_gears(gearbox: GraphJoint, branches: Sequence[Branch], robot: ImportedRobot) -> None:
    """Couple the joints on which both wheels of a gearbox turn: theta_2 = -ratio theta_1 (SDF)."""
    factors: dict[str, float] = {}
    weights = (gearbox.ratio, 1.0)
    wheels = (gearbox.parent, gearbox.child)
    for wheel, axis, weight in zip(wheels, gearbox.axes, weights, strict=True):
        ends = {gearbox.reference, wheel}
        joint = next((b.joint for b in branches if {b.joint.parent, b.joint.child} == ends), None)
        if joint is None or joint.kind not in ("revolute", "continuous"):
            why = f"{wheel} does not turn on {gearbox.reference} by a joint of the tree"
            robot.lost(f"joint {gearbox.name}", why)
            return
        shaft = joint.pose.rotation @ joint.axes[0].direction
        along = float(np.sign(shaft @ gearbox.pose.rotation @ axis.direction))
        factors[joint.name] = weight * along * (1.0 if joint.child == wheel else -1.0)
    robot.add_constraint(gearbox.name, {"type": "joint_coupling", "joints": factors})


def drop_dangling(robot: ImportedRobot) -> None:
    """Leave out motors and couplings of joints that the tree does not have."""
    there = {joint.name for joint in robot.joints}
    for kind, section in (("actuator", robot.actuators), ("constraint", robot.constraints)):
        for name, data in list(section.items()):
            joints = data.get("joints", {data["joint"]: 1.0} if "joint" in data else {})
            assert isinstance(joints, dict)
            missing = sorted(set(joints) - there)
            if missing:
                del section[name]
                why = "closes a loop or is a chain now: it has no coordinate of this name"
                robot.lost(f"{kind} {name}", f"{', '.join(missing)} {why}")
