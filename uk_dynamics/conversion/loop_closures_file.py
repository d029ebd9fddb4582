# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closed loops as exporters of CAD write them: ``loop_closures.yaml`` next to a URDF.

``closures`` lists hinges between two links, ``link_a`` and ``link_b``, at a ``point`` and about an
``axis`` in the frame of the root link, all joints at zero (sw2robot of jsk-ros-pkg).
``independent`` names the joints that others follow, a good guess of the motors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.constraints.kinds.pairs import Hinge
from uk_dynamics.conversion.robot.imported_robot import ImportedRobot
from uk_dynamics.conversion.robot.poses import frame_data
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.model.urdf import Array, Pose, compose, inverse, read_urdf, turning_to

_X = np.array([1.0, 0.0, 0.0])


def read_loop_closures(path: Path, data: dict[str, Any], urdf: Path) -> tuple[ImportedRobot, str]:
    """Read the hinges of a YAML file and the tree of a URDF.

    Returns:
        What goes into the mechanism file, and the URDF.
    """
    description = read_urdf(urdf)
    at_zero = {description.root: Pose()}
    for joint in description.joints:
        at_zero[joint.child] = compose(at_zero[joint.parent], joint.pose)
    robot = ImportedRobot(description.name)
    for number, closure in enumerate(data["closures"], start=1):
        place = f"closures[{number - 1}]"
        if not isinstance(closure, dict):
            raise InputError("expected link_a, link_b, point, axis", file=path.name, place=place)
        point, axis = (_vector(closure, key, path, place) for key in ("point", "axis"))
        if not axis.any():
            raise InputError("the axis is zero", file=path.name, place=f"{place}.axis")
        # the frame of the hinge turns about its x axis, and is the same in both links
        pin = Pose(point, turning_to(_X, axis / np.linalg.norm(axis)))
        entry: dict[str, object] = {"type": Hinge.name, "axis": _X.tolist()}
        for role, key in (("parent", "link_a"), ("child", "link_b")):
            link = closure.get(key)
            if link not in at_zero:
                raise UnknownNameError(
                    "link", str(link), at_zero, file=path.name, place=f"{place}.{key}"
                )
            entry[role] = frame_data(link, compose(inverse(at_zero[link]), pin))
        robot.add_constraint(f"loop_{number}", entry)
    known = [joint.name for joint in description.joints]
    for joint_name in data.get("independent") or ():
        if joint_name not in known:
            raise UnknownNameError(
                "joint", str(joint_name), known, file=path.name, place="independent"
            )
        why = "guess: an independent joint of the closed loops"
        robot.add_actuator(joint_name, {"joint": joint_name}, why)
    for key in data.keys() - {"closures", "independent", "dependent"}:
        robot.lost(f"key {key}", "is unknown")
    return robot, description.text


def _vector(closure: dict[str, Any], key: str, path: Path, place: str) -> Array:
    values = closure.get(key)
    if not (
        isinstance(values, list)
        and len(values) == 3
        and all(isinstance(x, int | float) for x in values)
    ):
        raise InputError(
            f"expected three numbers, found {values!r:.60}", file=path.name, place=f"{place}.{key}"
        )
    return np.array(values, dtype=float)
