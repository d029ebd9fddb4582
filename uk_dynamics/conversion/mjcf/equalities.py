# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Equality constraints of MuJoCo as constraints of ours, which are rigid."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics.constraints.kinds import kind_called
from uk_dynamics.constraints.kinds.frames import Distance
from uk_dynamics.constraints.kinds.pairs import Point
from uk_dynamics.conversion.mjcf.compiled import Compiled, pose_of
from uk_dynamics.conversion.mjcf.tendons import joints_of, line_of
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot
from uk_dynamics.model.urdf import Pose

_POWERS = 5
_TORQUE_SCALE = 10  # place in the data of a weld; 0 leaves rotations free


def add_equalities(source: Compiled, robot: ImportedRobot) -> None:
    """Add all equality constraints, or a remark for each that has no counterpart."""
    for index in range(source.model.neq):
        _add(source, robot, index)
    if robot.constraints:
        reason = "are rigid here; solref and solimp, which make them soft, have no counterpart but"
        robot.changed("equality constraints", f"{reason} compliance")


def _add(source: Compiled, robot: ImportedRobot, index: int) -> None:
    model, kinds = source.model, source.mujoco.mjtEq
    name = source.of("equality", index)
    word = str(kinds(int(model.eq_type[index])).name).removeprefix("mjEQ_").lower()
    kind = kind_called(word, "MJCF")
    data: Data | None = None
    if kind is not None and set(kind.frames) == {"parent", "child"}:
        connect = model.eq_type[index] == kinds.mjEQ_CONNECT
        turns = not connect and not model.eq_data[index][_TORQUE_SCALE]
        data = _frames(source, Point.name if turns else kind.name, index, connect=connect)
    elif kind is not None:
        data = _joints(source, index)
    elif model.eq_type[index] == kinds.mjEQ_TENDON:
        data = _tendons(source, index)
    if data is None:
        robot.lost(f"equality {name}", f"no counterpart of {word}")
        return
    if not model.eq_active0[index]:
        data |= {"switchable": True, "active": False}
    robot.add_constraint(name, data)


def _frames(source: Compiled, kind: str, index: int, *, connect: bool) -> Data:
    """Between two bodies, or two sites.

    MuJoCo keeps for ``connect`` the anchor in both bodies, for ``weld`` the anchor in the
    second body, then its place and the second body's orientation in the first.
    """
    model = source.model
    ends = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
    values = np.array(model.eq_data[index], dtype=float)
    if model.eq_objtype[index] == source.mujoco.mjtObj.mjOBJ_SITE:
        bodies = [int(model.site_bodyid[site]) for site in ends]
        poses = [pose_of(model.site_pos[site], model.site_quat[site]) for site in ends]
    elif connect:
        bodies, poses = list(ends), [Pose(values[:3]), Pose(values[3:6])]
    else:
        bodies, poses = list(ends), [pose_of(values[3:6], values[6:10]), Pose(values[:3])]
    data: Data = {"type": kind}
    for role, body, pose in zip(("parent", "child"), bodies, poses, strict=True):
        if connect:
            pose = Pose(pose.translation)
        data[role] = source.frame(body, pose)
    return data


def _joints(source: Compiled, index: int) -> Data | None:
    """A polynomial between the deviations of two joints from their drawn positions."""
    model = source.model
    first, second = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
    coefficients = np.array(model.eq_data[index][:_POWERS], dtype=float)
    involved = [first] if second < 0 else [first, second]
    if not all(map(source.is_single, involved)):
        return None
    sides = [
        ({source.joint(joint): 1.0}, float(model.qpos0[model.jnt_qposadr[joint]]))
        for joint in involved
    ]
    return _polynomial(sides, coefficients)


def _tendons(source: Compiled, index: int) -> Data | None:
    """The same between the lengths of fixed tendons; a straight one is a distance."""
    model = source.model
    ends = [int(model.eq_obj1id[index]), int(model.eq_obj2id[index])]
    coefficients = np.array(model.eq_data[index][:_POWERS], dtype=float)
    line = line_of(source, ends[0])
    if line is not None and ends[1] < 0 and "through" not in line[0]:
        distance = float(model.tendon_length0[ends[0]] + coefficients[0]) - line[1]
        return {"type": Distance.name, "distance": distance, **line[0]}
    sides = []
    for tendon in ends if ends[1] >= 0 else ends[:1]:
        weights = joints_of(source, tendon)
        if weights is None:
            return None
        sides.append((weights, float(model.tendon_length0[tendon])))
    return _polynomial(sides, coefficients)


Side = tuple[dict[str, float], float]  # factors of joints, and their sum in the drawn pose


def _polynomial(sides: list[Side], coefficients: Any) -> Data:
    """The first side, less its drawn value, is a polynomial of the second less its own."""
    (joints, drawn), *others = sides
    second, drawn_second = others[0] if others else ({}, 0.0)
    if not second or not coefficients[2:].any():
        weights = dict(joints)
        offset, ratio = drawn + float(coefficients[0]), float(coefficients[1])
        for name, factor in second.items():
            weights[name] = weights.get(name, 0.0) - ratio * factor
        return {
            "type": "joint_coupling",
            "joints": weights,
            "offset": offset - ratio * drawn_second * bool(second),
        }
    names = {f"x{k}": name for k, name in enumerate(dict.fromkeys((*joints, *second)))}
    one, other = (
        " + ".join(f"{side[name]!r}*{word}" for word, name in names.items() if name in side)
        for side in (joints, second)
    )
    terms = [
        repr(float(c)) + (f"*({other} - {drawn_second!r})**{power}" if power else "")
        for power, c in enumerate(coefficients.tolist())
        if c
    ]
    return {
        "type": "expression",
        "expression": f"{one} - {drawn!r} - ({' + '.join(terms)})",
        "names": names,
    }
