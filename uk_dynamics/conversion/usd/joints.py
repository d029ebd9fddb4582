# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joints of UsdPhysics between rigid bodies."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uk_dynamics.conversion.graph import Axis, GraphJoint
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot, turn
from uk_dynamics.conversion.usd.scene import Frame, Scene, axis_of, rotation_of, usd_module
from uk_dynamics.exceptions import InputError, located
from uk_dynamics.model.urdf import WORLD, Array, Pose, compose, inverse

_KINDS = {
    "PhysicsRevoluteJoint": "revolute",
    "PhysicsPrismaticJoint": "prismatic",
    "PhysicsSphericalJoint": "ball",
    "PhysicsFixedJoint": "fixed",
}
_FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


@dataclass(frozen=True)
class _Freedom:
    """One that a joint leaves: its axis, and its word for drives and limits."""

    axis: Array
    word: str  # angular, linear, transX ... rotZ
    turns: bool


class Joints:
    """Reads the joints of a scene, of whose bodies that move the names are given by path."""

    def __init__(self, scene: Scene, bodies: Mapping[str, str], robot: ImportedRobot) -> None:
        self.scene, self.bodies, self.robot = scene, bodies, robot

    def read(self, prim: Any) -> GraphJoint | None:
        """A joint; None where it holds nothing, or has no counterpart."""
        name = self.scene.name(prim)
        with located(place=f"joint {name}"):
            return self._read(prim, name)

    def _read(self, prim: Any, name: str) -> GraphJoint | None:
        joint = usd_module("UsdPhysics").Joint(prim)
        if not joint.GetJointEnabledAttr().Get():
            self.robot.lost(f"joint {name}", "is not enabled")
            return None
        (parent, at_parent), (child, at_child) = [
            self._end(joint.GetBody0Rel(), joint.GetLocalPos0Attr(), joint.GetLocalRot0Attr()),
            self._end(joint.GetBody1Rel(), joint.GetLocalPos1Attr(), joint.GetLocalRot1Attr()),
        ]
        if parent == child:
            self.robot.lost(f"joint {name}", f"joins {parent} to itself")
            return None
        kind, freedoms = self._freedoms(prim, name)
        if not kind:
            return None
        if float(joint.GetBreakForceAttr().Get()) < math.inf:
            self.robot.lost(f"joint {name}", "breakForce: here joints do not break")
        axes = tuple(self._axis(prim, name, freedom) for freedom in freedoms)
        if kind in ("revolute", "prismatic"):
            self._motor(prim, name, freedoms[0])
        axes = axes if kind != "ball" else ()
        cut = bool(joint.GetExcludeFromArticulationAttr().Get())
        return GraphJoint(name, kind, parent, child, Pose(), at_parent, at_child, axes, cut=cut)

    def _end(self, relation: Any, position: Any, rotation: Any) -> tuple[str, Pose]:
        """A side: the body, and the frame of the joint in it."""
        local = np.array(position.Get(), dtype=float)
        turned = rotation_of(rotation.Get())
        if not (np.isfinite(local).all() and np.isfinite(turned).all()):
            raise InputError("its place has numbers that are not finite")
        targets = relation.GetTargets()
        if not targets:
            place = Pose(self.scene.meter * local, turned)
            return WORLD, compose(self.scene.turned, place)
        prim = self.scene.stage.GetPrimAtPath(targets[0])
        if not prim:
            raise InputError(f"there is no body {targets[0]}")
        frame = self.scene.frame(prim)
        place = compose(frame.pose, Pose(frame.scale * local, turned))
        while prim and str(prim.GetPath()) not in self.bodies:
            prim = prim.GetParent()
        if not prim or prim.IsPseudoRoot():
            return WORLD, place
        body: Frame = self.scene.frame(prim)
        return self.bodies[str(prim.GetPath())], compose(inverse(body.pose), place)

    def _freedoms(self, prim: Any, name: str) -> tuple[str, list[_Freedom]]:
        """The kind of a joint in SDF's words, empty if it has none, and what it leaves free."""
        word = prim.GetTypeName()
        kind = _KINDS.get(word, "")
        if kind in ("revolute", "prismatic"):
            axis = np.eye(3)[axis_of(prim, "physics:axis")]
            turns = kind == "revolute"
            return kind, [_Freedom(axis, "angular" if turns else "linear", turns)]
        if kind == "ball":
            cone = [float(prim.GetAttribute(f"physics:coneAngle{i}Limit").Get()) for i in (0, 1)]
            if max(cone) >= 0.0:
                self.robot.lost(f"joint {name}", "limits of its cone")
        if kind:
            return kind, []
        if word != "PhysicsJoint":
            self.robot.lost(f"joint {name}", f"{word} has no counterpart")
            return "", []
        free = [k for k in range(6) if not self._locked(prim, _FREEDOMS[k])]
        found = [_Freedom(np.eye(3)[k % 3], _FREEDOMS[k], k > 2) for k in free]
        slides, rotations = sum(k < 3 for k in free), sum(k > 2 for k in free)
        kinds = {(0, 0): "fixed", (0, 1): "revolute", (1, 0): "prismatic"}
        kinds |= {(0, 2): "universal", (0, 3): "ball"}
        kind = kinds.get((slides, rotations), "")
        if not kind and len(free) < 6:
            left = ", ".join(freedom.word for freedom in found)
            problem = f"leaves {left} free: no such joint here; make two joints of it, with a body"
            raise InputError(problem)
        return kind, found

    def _locked(self, prim: Any, word: str) -> bool:
        """A lower limit above the upper one, or no room between them."""
        low, high = (prim.GetAttribute(f"limit:{word}:physics:{side}") for side in ("low", "high"))
        if not (low and high):
            return False
        return float(low.Get()) >= float(high.Get())

    def _axis(self, prim: Any, name: str, freedom: _Freedom) -> Axis:
        unit = math.pi / 180.0 if freedom.turns else self.scene.meter
        if freedom.word in ("angular", "linear"):
            keys = ["physics:lowerLimit", "physics:upperLimit"]
        else:
            keys = [f"limit:{freedom.word}:physics:{side}" for side in ("low", "high")]
        limits = []
        for key, none in zip(keys, (-math.inf, math.inf), strict=True):
            value = prim.GetAttribute(key)
            limits.append(unit * float(value.Get()) if value and value.HasValue() else none)
        lower, upper = limits
        if lower > upper:  # as UsdPhysics says: locked
            raise InputError("its lower limit is above the upper one: make it a fixed joint")
        data: Data = {}
        armature = prim.GetAttribute("physxJoint:armature")
        if armature and armature.Get():
            size = self.scene.kilogram * (self.scene.meter**2 if freedom.turns else 1.0)
            data["armature"] = size * float(armature.Get())
        friction = prim.GetAttribute("physxJoint:jointFriction")
        if friction and friction.Get():
            self.robot.lost(f"joint {name}", "physxJoint:jointFriction, a part of the load")
        return Axis(replace(turn("", freedom.axis), lower=lower, upper=upper), data)

    def _motor(self, prim: Any, name: str, freedom: _Freedom) -> None:
        """A drive is a motor; its law is not carried over."""
        physics = usd_module("UsdPhysics")
        if not prim.HasAPI(physics.DriveAPI, freedom.word):
            return
        drive = physics.DriveAPI(prim, freedom.word)
        limit = float(drive.GetMaxForceAttr().Get())
        if limit <= 0.0:
            self.robot.lost(f"drive of {name}", "maxForce is 0")
            return
        data: Data = {"joint": name}
        if limit < math.inf:
            size = self.scene.kilogram * self.scene.meter ** (2 if freedom.turns else 1)
            data["effort_limit"] = size * limit
        self.robot.add_actuator(f"{name}_motor", data)
        if drive.GetStiffnessAttr().Get() or drive.GetDampingAttr().Get():
            why = "its law (stiffness, damping, target); tasks do that here"
            self.robot.lost(f"drive of {name}", why)
