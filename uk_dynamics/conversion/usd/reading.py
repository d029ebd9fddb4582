# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""USD with UsdPhysics: rigid bodies and joints; joints that close a loop become constraints."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from uk_dynamics.conversion.graph.graph import Graph
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot
from uk_dynamics.conversion.usd.bodies import ignored, read_link, read_visuals
from uk_dynamics.conversion.usd.joints import Joints
from uk_dynamics.conversion.usd.scene import Scene, complaint, usd_module
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import Link, Visual

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


def read_usd(path: Path, *, fixed: bool = False) -> ImportedRobot:
    """Take the mechanism of a USD scene, all its rigid bodies; its root floats or is fixed."""
    try:
        return _Reader(path).read(fixed=fixed)
    except InputError as error:
        raise error.located(file=path.name) from None
    except usd_module("Tf").ErrorException as error:
        raise InputError(f"USD does not read it: {complaint(error)}", file=path.name) from None
    except TypeError as error:  # values of no registered type
        raise InputError(f"a value has the wrong type: {error}", file=path.name) from None


class _Reader:
    def __init__(self, path: Path) -> None:
        usd_module("Usd")
        if not path.is_file():
            raise InputError("there is no such file")
        self.scene = Scene(path)
        default = self.scene.stage.GetDefaultPrim()
        self.robot = ImportedRobot(default.GetName() if default else path.stem)
        self.prims: dict[str, Any] = {}  # bodies, by name

    def read(self, *, fixed: bool) -> ImportedRobot:
        physics = usd_module("UsdPhysics")
        scene, robot = self.scene, self.robot
        robot.gravity = scene.gravity()
        if scene.turned.rotation[2, 2] == 0.0:
            robot.changed("upAxis Y", "the scene is turned: z is up here")
        everything = list(scene.stage.Traverse())
        for prim in everything:
            if prim.HasAPI(physics.RigidBodyAPI):
                self._body(prim)
        if not self.prims:
            raise InputError("there is no rigid body (PhysicsRigidBodyAPI) in it")
        bodies = {str(prim.GetPath()): name for name, prim in self.prims.items()}
        reader = Joints(scene, bodies, robot)
        prims = [prim for prim in everything if prim.IsA(physics.Joint)]
        found = [joint for prim in prims if (joint := reader.read(prim)) is not None]
        places = {name: scene.frame(prim).pose for name, prim in self.prims.items()}
        Graph(robot, found, (), places, self._first(everything), self._link, fixed).build()
        names = {scene.name(prim) for prim in prims}
        for prim in prims:
            self._mimic(prim, names)
        self._remarks(everything)
        return robot

    def _body(self, prim: Any) -> None:
        api = usd_module("UsdPhysics").RigidBodyAPI(prim)
        name = self.scene.name(prim)
        if not api.GetRigidBodyEnabledAttr().Get():
            self.robot.changed(f"body {name}", "is not enabled: it stands still")
        elif api.GetKinematicEnabledAttr().Get():
            self.robot.lost(f"body {name}", "is led as kinematic; here it stands still")
        else:
            self.prims[name] = prim

    def _link(self, name: str) -> tuple[Link, list[Visual]]:
        prim = self.prims[name]
        try:
            link = read_link(self.scene, prim, self.robot)
            return link, read_visuals(self.scene, prim, self.robot)
        except InputError as error:
            raise error.located(place=f"body {name}") from None

    def _first(self, everything: list[Any]) -> str:
        """The body that floats: the root of an articulation, or the first."""
        physics = usd_module("UsdPhysics")
        for prim in everything:
            if prim.HasAPI(physics.ArticulationRootAPI):
                inside = str(prim.GetPath())
                for name, body in self.prims.items():
                    if f"{body.GetPath()}/".startswith(f"{inside}/"):
                        return name
        return next(iter(self.prims))

    def _mimic(self, prim: Any, names: set[str]) -> None:
        """PhysX: position + gearing · position of the reference + offset = 0."""
        for schema in prim.GetAppliedSchemas():
            kind, _, instance = schema.partition(":")
            if kind != "PhysxMimicJointAPI":
                continue
            key = f"physxMimicJoint:{instance}"
            gearing = prim.GetAttribute(f"{key}:gearing").Get()
            offset = prim.GetAttribute(f"{key}:offset").Get() or 0.0
            targets = prim.GetRelationship(f"{key}:referenceJoint").GetTargets()
            name = self.scene.name(prim)
            other = self.scene.name(self.scene.stage.GetPrimAtPath(targets[0])) if targets else ""
            joints = {joint.name for joint in self.robot.joints}
            if gearing is None or not {name, other} <= joints:
                self.robot.lost(f"mimic of {name}", f'follows "{other}": not a joint of the tree')
                continue
            unit = math.pi / 180.0 if instance.startswith("rot") else self.scene.meter
            data: Data = {
                "type": "joint_coupling",
                "joints": {name: 1.0, other: float(gearing)},
                "offset": -unit * float(offset),
            }
            self.robot.add_constraint(f"{name}_mimic", data)

    def _remarks(self, everything: list[Any]) -> None:
        physics = usd_module("UsdPhysics")
        if any(prim.HasAPI(physics.CollisionAPI) for prim in everything):
            self.robot.lost("collision shapes", "contact is out of scope")
        for name, prim in self.prims.items():
            for key, reason in ignored(prim):
                self.robot.lost(f"body {name}", f"{key}: {reason}")
