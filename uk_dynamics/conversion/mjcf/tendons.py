# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tendons of MuJoCo as springs, weighted sums of joints or lines, and actuators as motors.

Their servo laws are not carried over.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from uk_dynamics.conversion.mjcf.compiled import Compiled
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot
from uk_dynamics.model.urdf import Pose


def joints_of(source: Compiled, tendon: int) -> dict[str, float] | None:
    """The joints of a fixed tendon with their factors; None: it is no such tendon."""
    model, wraps = source.model, _wraps(source, tendon, "joint")
    return {source.joint(int(model.wrap_objid[k])): float(model.wrap_prm[k]) for k in wraps} or None


def line_of(source: Compiled, tendon: int) -> tuple[Data, float] | None:
    """The part of a tendon that changes its length, over sites; None: it has none, or wraps.

    Returns:
        Its path as frames of a mechanism file, and the length of the other parts, in m.
    """
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
        plain = shortest == longest and not any(
            np.any(_field(model, f"{f}poly", index)) for f in fields[:2]
        )
        if data is not None and (stiffness or damping) and plain:
            robot.add_force(name, data | {"stiffness": stiffness, "damping": damping})
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
        joints = _joints(source, index)
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


def _joints(source: Compiled, index: int) -> dict[str, float]:
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
