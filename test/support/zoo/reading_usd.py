# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""USD read for free bodies by usd-core alone; in m, kg, z up, mass properties given."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from support.zoo.maximal import WORLD, Body, Joint, Pose, Reading

_KINDS = {"Revolute": "revolute", "Prismatic": "prismatic", "Spherical": "ball", "Fixed": "fixed"}


def read_usd(path: Path) -> Reading:
    """The rigid bodies of a stage, and its joints."""
    usd, geometry, physics = (
        importlib.import_module(f"pxr.{n}") for n in ("Usd", "UsdGeom", "UsdPhysics")
    )
    stage = usd.Stage.Open(str(path))
    assert geometry.GetStageMetersPerUnit(stage) == 1.0
    # the pose drawn is rounded to 1e-9 m: joints bring the bodies together
    read, paths = Reading(apart=True), {}
    for prim in stage.Traverse():
        if prim.GetTypeName() == "PhysicsScene":
            size = prim.GetAttribute("physics:gravityMagnitude").Get()
            read.gravity = size * np.array(prim.GetAttribute("physics:gravityDirection").Get())
        if prim.HasAPI(physics.RigidBodyAPI):
            name = prim.GetName()
            paths[prim.GetPath()] = name
            axes = _turn(prim.GetAttribute("physics:principalAxes").Get())
            moments = np.array(prim.GetAttribute("physics:diagonalInertia").Get(), dtype=float)
            read.bodies[name] = Body(
                prim.GetAttribute("physics:mass").Get(),
                np.array(prim.GetAttribute("physics:centerOfMass").Get(), dtype=float),
                axes @ np.diag(moments) @ axes.T,
            )
    for prim in stage.Traverse():
        kind = prim.GetTypeName().removeprefix("Physics").removesuffix("Joint")
        if kind not in _KINDS:
            continue
        links, frames = [], []
        for side in "01":
            targets = prim.GetRelationship(f"physics:body{side}").GetTargets()
            links.append(paths[targets[0]] if targets else WORLD)
            place = np.array(prim.GetAttribute(f"physics:localPos{side}").Get(), dtype=float)
            turn = _turn(prim.GetAttribute(f"physics:localRot{side}").Get())
            frames.append(Pose(turn, place))
        letter = (
            prim.GetAttribute("physics:axis").Get() if kind in ("Revolute", "Prismatic") else ""
        )
        axes = (np.eye(3)["XYZ".index(letter)],) if letter else ()
        read.joints.append(Joint(prim.GetName(), _KINDS[kind], *links, *frames, axes))
    return read


def _turn(quaternion: Any) -> np.ndarray:
    w, (x, y, z) = quaternion.GetReal(), quaternion.GetImaginary()
    return Rotation.from_quat([x, y, z, w]).as_matrix()
