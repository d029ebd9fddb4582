# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What ties the bodies of a MuJoCo model: rigid constraints, springs and motors stand for it.

Tendons are springs, weighted sums of joints or lines. Servo laws of actuators are not carried over.
"""

import math
from typing import Any

import numpy as np

from uk_dynamics.constraints.kinds import kind_by_foreign_name
from uk_dynamics.constraints.kinds.frames import Distance
from uk_dynamics.constraints.kinds.pairs import Point
from uk_dynamics.conversion.mjcf.compiled import Compiled, pose_of
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
    kind = kind_by_foreign_name(word, "MJCF")
    data: Data | None = None
    if kind is not None and set(kind.frames) == {"parent", "child"}:
        connect = model.eq_type[index] == kinds.mjEQ_CONNECT
        turns = not connect and not model.eq_data[index][_TORQUE_SCALE]
        data = _of_frames(source, Point.name if turns else kind.name, index, connect=connect)
    elif kind is not None:
        data = _of_joints(source, index)
    elif model.eq_type[index] == kinds.mjEQ_TENDON:
        data = _of_tendons(source, index)
    if data is None:
        robot.lost(f"equality {name}", f"no counterpart of {word}")
        return
    if not model.eq_active0[index]:
        data |= {"switchable": True, "active": False}
    robot.add("constraint", name, data)


def _of_frames(source: Compiled, kind: str, index: int, *, connect: bool) -> Data:
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


def _of_joints(source: Compiled, index: int) -> Data | None:
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


def _of_tendons(source: Compiled, index: int) -> Data | None:
    """A polynomial between lengths of fixed tendons; a straight tendon is a distance."""
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
        offset -= ratio * drawn_second * bool(second)
        return {"type": "joint_coupling", "joints": weights, "offset": offset}
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
    expression = f"{one} - {drawn!r} - ({' + '.join(terms)})"
    return {"type": "expression", "expression": expression, "names": names}


def joints_of(source: Compiled, tendon: int) -> dict[str, float] | None:
    """The joints of a fixed tendon with their factors; None: it is no such tendon."""
    model, wraps = source.model, _wraps(source, tendon, "joint")
    return {source.joint(int(model.wrap_objid[k])): float(model.wrap_prm[k]) for k in wraps} or None


def line_of(source: Compiled, tendon: int) -> tuple[Data, float] | None:
    """Frames along what varies of a tendon, and its other length, in m; None: none, or it wraps."""
    mujoco, model = source.mujoco, source.model
    path = [int(model.wrap_objid[k]) for k in _wraps(source, tendon, "site")]
    rigid = [int(model.body_weldid[model.site_bodyid[site]]) for site in path]
    moving = [k for k in range(len(path) - 1) if rigid[k] != rigid[k + 1]]
    if not moving:
        return None
    first, last = moving[0], moving[-1] + 1
    drawn = mujoco.MjData(model)
    mujoco.mj_kinematics(model, drawn)
    steps = np.linalg.norm(np.diff(drawn.site_xpos[path], axis=0), axis=1)
    points = [
        source.frame(int(model.site_bodyid[site]), Pose(np.array(model.site_pos[site])))
        for site in path[first : last + 1]
    ]
    found: Data = {"parent": points[0], "child": points[-1]}
    if len(points) > 2:
        found["through"] = points[1:-1]
    return found, float(steps[:first].sum() + steps[last:].sum())


def add_springs(source: Compiled, robot: ImportedRobot) -> None:
    """Springs and dampers along tendons; what else tendons do becomes remarks."""
    model = source.model
    for index in range(model.ntendon):
        name = source.of("tendon", index)
        fields = ["stiffness", "damping", "frictionloss", "limited", "armature"]
        has = [f for f in fields if np.any(_field(model, f, index))]
        stiffness, damping = (float(_field(model, f, index)) for f in fields[:2])
        shortest, longest = (float(value) for value in model.tendon_lengthspring[index])
        weights, line = joints_of(source, index), line_of(source, index)
        data: Data | None = None
        if weights is not None:
            data = {"type": "joint_spring", "joints": weights, "rest": longest}
        elif line is not None and longest >= line[1]:
            data = {"type": "line_spring", **line[0], "length": longest - line[1]}
        powers = [np.any(_field(model, f"{f}poly", index)) for f in fields[:2]]
        plain = shortest == longest and not any(powers)
        if data is not None and (stiffness or damping) and plain:
            robot.add("force", name, data | {"stiffness": stiffness, "damping": damping})
            has = has[bool(stiffness) + bool(damping) :]
            if not has:
                continue
        what = ", ".join(has) or "the tendon itself; what an actuator does through it is carried"
        if data is None and has:
            what += ": its path wraps around bodies, or nothing changes its length"
        elif has and not plain:
            what += ": slack between two lengths, or higher powers, have no counterpart"
        robot.lost(f"tendon {name}", what)


def _wraps(source: Compiled, tendon: int, kind: str) -> range:
    """Numbers of what a tendon runs over, if all of it is of a kind; else empty."""
    model, wanted = source.model, getattr(source.mujoco.mjtWrap, f"mjWRAP_{kind.upper()}")
    first = int(model.tendon_adr[tendon])
    wraps = range(first, first + int(model.tendon_num[tendon]))
    return wraps if all(model.wrap_type[k] == wanted for k in wraps) else range(0)


def _field(model: Any, name: str, index: int) -> Any:
    values = getattr(model, f"tendon_{name}", None)
    return 0.0 if values is None else values[index]


def add_actuators(source: Compiled, robot: ImportedRobot) -> None:
    """Add the actuators that push joints, directly or by fixed tendons."""
    model = source.model
    for index in range(model.nu):
        name = source.of("actuator", index)
        joints = _driven(source, index)
        if not joints:
            robot.lost(f"actuator {name}", "does not act on joints of one freedom")
            continue
        data: Data = {"joints": joints}
        if list(joints.values()) == [1.0]:
            data = {"joint": next(iter(joints))}
        laws = (getattr(model, f"actuator_{law}type")[index] for law in ("bias", "gain", "dyn"))
        plain = not any(laws)
        if not plain:
            robot.lost(f"actuator {name}", "its law (gain, bias, dynamics); tasks do that here")
        limit = _effort_limit(model, index, plain=plain)
        if limit < math.inf:
            data["effort_limit"] = limit
        robot.add_actuator(name, data)
        for extra in ("armature", "damping"):
            values = getattr(model, f"actuator_{extra}", None)
            if values is not None and np.any(values[index]):
                robot.lost(f"actuator {name}", extra)


def _driven(source: Compiled, index: int) -> dict[str, float]:
    model, kinds = source.model, source.mujoco.mjtTrn
    gear = float(model.actuator_gear[index][0])
    target = int(model.actuator_trnid[index][0])
    if model.actuator_trntype[index] in (int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)):
        return {source.joint(target): gear} if source.is_single(target) else {}
    if model.actuator_trntype[index] == kinds.mjTRN_TENDON:
        weights = joints_of(source, target) or {}
        return {joint: gear * factor for joint, factor in weights.items()}
    return {}


def _effort_limit(model: Any, index: int, *, plain: bool) -> float:
    """The smaller bound: limits are symmetric here."""
    limit = math.inf
    if model.actuator_forcelimited[index]:
        limit = float(np.abs(model.actuator_forcerange[index]).min())
    if plain and model.actuator_ctrllimited[index]:
        gain = abs(float(model.actuator_gainprm[index][0]))
        limit = min(limit, gain * float(np.abs(model.actuator_ctrlrange[index]).min()))
    return limit if limit > 0.0 else math.inf
