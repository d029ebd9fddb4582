# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Actuators of MuJoCo as motors; their servo laws are not carried over."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from uk_dynamics.conversion.mjcf.names import Names
from uk_dynamics.conversion.mjcf.tendons import joints_of
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot


def add_actuators(mujoco: Any, model: Any, names: Names, robot: ImportedRobot) -> None:
    """Add the actuators that push joints, directly or by fixed tendons."""
    for index in range(model.nu):
        name = names.of("actuator", index)
        joints = _joints(mujoco, model, names, index)
        if not joints:
            robot.lost(f"actuator {name}", "does not act on joints of one freedom")
            continue
        data: Data = {"joints": joints}
        if list(joints.values()) == [1.0]:
            data = {"joint": next(iter(joints))}
        plain = not (
            model.actuator_biastype[index]
            or model.actuator_gaintype[index]
            or model.actuator_dyntype[index]
        )
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


def _joints(mujoco: Any, model: Any, names: Names, index: int) -> dict[str, float]:
    kinds, gear = mujoco.mjtTrn, float(model.actuator_gear[index][0])
    target = int(model.actuator_trnid[index][0])
    if model.actuator_trntype[index] in (int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)):
        return {names.joint(target): gear} if names.is_single(target) else {}
    if model.actuator_trntype[index] == kinds.mjTRN_TENDON:
        weights = joints_of(mujoco, model, names, target) or {}
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
