# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""USD with UsdPhysics: rigid bodies and joints; joints that close a loop become constraints."""

import math
from pathlib import Path
from typing import Any

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.conversion.graph import Graph
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot
from uk_dynamics.conversion.usd.joints import Joints
from uk_dynamics.conversion.usd.scene import (
    Scene,
    axis_of,
    complaint,
    rotation_of,
    seen_from,
    usd_module,
)
from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.exceptions import InputError, located
from uk_dynamics.model.urdf import Link, Pose, Visual


def read_link(scene: Scene, prim: Any, robot: ImportedRobot) -> urdf.Link:
    """A body, in the frame of its prim.

    Mass, centre of mass and inertia are those of its MassAPI; what is not there comes from its
    colliders, by the rules of UsdPhysics, or is an InputError.
    """
    physics = usd_module("UsdPhysics")
    name, frame = scene.name(prim), scene.frame(prim)
    api = physics.MassAPI(prim)
    mass, moments, center, turned = 0.0, np.zeros(3), np.full(3, -math.inf), np.eye(3)
    if prim.HasAPI(physics.MassAPI):
        mass = float(api.GetMassAttr().Get())
        moments = np.array(api.GetDiagonalInertiaAttr().Get(), dtype=float)
        center = np.array(api.GetCenterOfMassAttr().Get(), dtype=float)
        turned = rotation_of(api.GetPrincipalAxesAttr().Get())
    given = bool(moments.any())
    if mass <= 0.0 or not given or not np.isfinite(center).all():
        found = _of_colliders(scene, prim, robot)
        if found is None:
            if mass <= 0.0 or not given:
                what = "inertia" if mass > 0.0 else "mass"
                problem = f"no {what}, and no shapes of colliders to take it from; give"
                raise InputError(f"{problem} physics:mass and physics:diagonalInertia")
            center = np.zeros(3)
        else:
            total, of_shapes, at, axes = found
            mass = mass if mass > 0.0 else total
            center = center if np.isfinite(center).all() else at
            moments, turned = (moments, turned) if given else (of_shapes, axes)
    if not (np.isfinite(mass) and np.isfinite(moments).all() and np.isfinite(turned).all()):
        raise InputError("its mass or inertia has numbers that are not finite")
    unit = scene.kilogram * scene.meter**2
    inertia = turned @ np.diag(unit * moments) @ turned.T
    return urdf.Link(name, scene.kilogram * mass, frame.scale * center, inertia)


def _of_colliders(
    scene: Scene, prim: Any, robot: ImportedRobot
) -> tuple[float, Any, Any, Any] | None:
    """Mass, moments, centre and axes from the shapes, in units of the stage; None without any."""
    physics, geometry = usd_module("UsdPhysics"), usd_module("Gf")
    body = physics.RigidBodyAPI(prim)
    missing: list[str] = []
    solid: list[bool] = []

    def information(shape: Any, *_: Any) -> Any:
        found = physics.RigidBodyAPI.MassInformation()
        sizes = _shape(scene, shape)
        if sizes is None:
            missing.append(scene.name(shape))
            return found
        volume, moments = _of_unit_density(sizes)
        here = _pose(scene, prim, shape, sizes)
        unit = scene.meter
        found.volume = volume / unit**3
        found.inertia = geometry.Matrix3f(*np.diag(moments / unit**5).ravel().tolist())
        found.centerOfMass = geometry.Vec3f(0.0, 0.0, 0.0)
        x, y, z, w = to_quaternion(here.rotation)
        found.localPos = geometry.Vec3f(*(here.translation / scene.frame(prim).scale).tolist())
        found.localRot = geometry.Quatf(float(w), float(x), float(y), float(z))
        solid.append(True)
        return found

    mass, moments, center, axes = body.ComputeMassProperties(information)
    if missing and not solid:
        problem = f"the mass properties of {', '.join(missing)} are those of a mesh; give"
        raise InputError(f"{problem} physics:mass, centerOfMass and diagonalInertia")
    if missing:
        robot.lost(f"shapes {', '.join(missing)}", "meshes give no mass here")
    if not solid:
        return None
    robot.changed(f"body {scene.name(prim)}", "takes mass properties from its colliders")
    return float(mass), np.array(moments, float), np.array(center, float), rotation_of(axes)


def read_visuals(scene: Scene, prim: Any, robot: ImportedRobot) -> list[urdf.Visual]:
    """The simple shapes below a body, in its frame."""
    found = []
    walk = iter(usd_module("Usd").PrimRange(prim))
    for part in walk:
        if part != prim and part.HasAPI(usd_module("UsdPhysics").RigidBodyAPI):
            walk.PruneChildren()
            continue
        if part.GetTypeName() == "Mesh":
            robot.lost(f"mesh {scene.name(part)}", "is not drawn")
        shape = _shape(scene, part)
        if shape is None:
            continue
        pose = _pose(scene, prim, part, shape)
        found.append(urdf.Visual(scene.name(prim), pose, shape, urdf.GREY))
    return found


def _shape(scene: Scene, prim: Any) -> urdf.Shape | None:
    """A simple shape in m; capsules without their round ends. None of other prims."""
    kind = prim.GetTypeName()
    if kind not in ("Cube", "Sphere", "Cylinder", "Capsule"):
        return None
    scale = np.abs(scene.frame(prim).scale)

    def size(name: str) -> float:
        return float(prim.GetAttribute(name).Get())

    if kind == "Cube":
        x, y, z = (float(value) for value in size("size") * scale)
        return urdf.Box((x, y, z))
    if kind == "Sphere":
        return urdf.Sphere(size("radius") * float(scale.mean()))
    along = axis_of(prim, "axis")
    across = float(np.delete(scale, along).mean())
    return urdf.Cylinder(size("radius") * across, size("height") * float(scale[along]))


def _of_unit_density(shape: urdf.Shape) -> tuple[float, Any]:
    """Volume and moments of inertia about the centre, in m³ and m⁵; of a cylinder about z last."""
    if isinstance(shape, urdf.Box):
        x, y, z = shape.size
        volume = x * y * z
        return volume, volume / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    if isinstance(shape, urdf.Sphere):
        volume = 4.0 / 3.0 * math.pi * shape.radius**3
        return volume, np.full(3, 0.4 * volume * shape.radius**2)
    assert isinstance(shape, urdf.Cylinder)
    volume = math.pi * shape.radius**2 * shape.length
    across = volume * (3.0 * shape.radius**2 + shape.length**2) / 12.0
    return volume, np.array([across, across, 0.5 * volume * shape.radius**2])


def _pose(scene: Scene, prim: Any, part: Any, shape: urdf.Shape) -> Pose:
    """The pose of a shape in the frame of a prim above it; cylinders of URDF are about z."""
    pose = seen_from(scene.frame(prim), scene.frame(part).pose)
    if not isinstance(shape, urdf.Cylinder):
        return pose
    axis = np.eye(3)[axis_of(part, "axis")]
    return urdf.compose(pose, Pose(rotation=urdf.turning_to(np.array([0.0, 0.0, 1.0]), axis)))


# attributes of bodies that have no counterpart, with why
_IGNORED = {
    "physxRigidBody:disableGravity": "gravity acts on all links",
    "physxRigidBody:linearDamping": "no damping against the world",
    "physxRigidBody:angularDamping": "no damping against the world",
    "physics:velocity": "a start is given to simulate",
    "physics:linearVelocity": "a start is given to simulate",
    "physics:angularVelocity": "a start is given to simulate",
}
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
        for prim in prims:
            self._mimic(prim)
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
        with located(place=f"body {name}"):
            link = read_link(self.scene, prim, self.robot)
            return link, read_visuals(self.scene, prim, self.robot)

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

    def _mimic(self, prim: Any) -> None:
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
            data: Data = {"type": "joint_coupling", "joints": {name: 1.0, other: float(gearing)}}
            data["offset"] = -unit * float(offset)
            self.robot.add("constraint", f"{name}_mimic", data)

    def _remarks(self, everything: list[Any]) -> None:
        physics = usd_module("UsdPhysics")
        if any(prim.HasAPI(physics.CollisionAPI) for prim in everything):
            self.robot.lost("collision shapes", "are not imported: declare contacts instead")
        for name, prim in self.prims.items():
            for key, reason in _IGNORED.items():
                if (attribute := prim.GetAttribute(key)) and np.any(attribute.Get() or 0.0):
                    self.robot.lost(f"body {name}", f"{key}: {reason}")
