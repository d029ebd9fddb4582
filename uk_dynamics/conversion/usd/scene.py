# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A USD stage in the package's units: m, kg, rad, z up; what its prims are called."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.escaping import control_character
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import Array, Pose, compose, from_quaternion, inverse
from uk_dynamics.resources import optional_library

_GRAVITY = 9.81  # m/s², where the scene leaves it to the simulator
_SHEAR = 1e-6  # of axes that should be perpendicular; USD stores many numbers in single precision
_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # of a scene whose y is up
_SMALLEST_UNIT = 1e-9  # m or kg


def usd_module(name: str) -> Any:
    """A module of usd-core; InputError where it is not installed."""
    remedy = 'pip install "uk_dynamics[usd]"'
    missing = f"USD is read by usd-core, which is not installed; {remedy}"
    return optional_library(f"pxr.{name}", missing)


def complaint(error: Exception) -> str:
    """The last line of what USD says, which cannot always be decoded."""
    try:
        return str(error).strip().splitlines()[-1].strip()
    except UnicodeDecodeError:
        return "it is damaged"


@dataclass(frozen=True)
class Frame:
    """The pose of a prim in the world, and the scale between its numbers and m."""

    pose: Pose
    scale: Array  # along its axes, (3,)


class Scene:
    """A stage."""

    def __init__(self, path: Path) -> None:
        usd, geometry, physics = (usd_module(n) for n in ("Usd", "UsdGeom", "UsdPhysics"))
        try:
            self.stage = usd.Stage.Open(str(path))  # as usd-core has it
        except usd_module("Tf").ErrorException as error:
            raise InputError(f"USD does not open it: {complaint(error)}") from None
        # of the stage's unit of length, in m
        self.meter = float(geometry.GetStageMetersPerUnit(self.stage))
        # of its unit of mass, in kg
        self.kilogram = float(physics.GetStageKilogramsPerUnit(self.stage))
        for unit, name in ((self.meter, "metersPerUnit"), (self.kilogram, "kilogramsPerUnit")):
            if not _SMALLEST_UNIT <= unit <= 1.0 / _SMALLEST_UNIT:
                valid = f"{_SMALLEST_UNIT:g} to {1.0 / _SMALLEST_UNIT:g}"
                raise InputError(f"expected {valid}, found {unit:g}", place=name)
        up = str(geometry.GetStageUpAxis(self.stage))
        self.turned = Pose(rotation=_Z_UP) if up == "Y" else Pose()
        self._cache = geometry.XformCache()
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def frame(self, prim: Any) -> Frame:
        """Find the frame of a prim; InputError where it is sheared."""
        matrix = np.array(self._cache.GetLocalToWorldTransform(prim)).T
        axes = matrix[:3, :3]
        scale = np.linalg.norm(axes, axis=0)
        if not np.isfinite(matrix).all():
            raise InputError("its place has numbers that are not finite")
        if not scale.all():
            raise InputError("is scaled to nothing")
        axes = axes / scale
        if np.linalg.det(axes) < 0.0:  # mirrored: the shape is, a frame cannot be
            axes, scale = -axes, -scale
        if np.abs(axes.T @ axes - np.eye(3)).max() > _SHEAR:
            raise InputError("is sheared: it is scaled unevenly and turned; apply the scale")
        u, _, vt = np.linalg.svd(axes)  # the nearest rotation
        place = compose(self.turned, Pose(self.meter * matrix[:3, 3], u @ vt))
        return Frame(place, self.meter * scale)

    def name(self, prim: Any) -> str:
        """The last part of its path, and more of it where that is taken."""
        path = str(prim.GetPath())
        if path not in self._names:
            parts = path.strip("/").split("/")
            count = 1
            while count < len(parts) and ("_".join(parts[-count:]) in self._taken):
                count += 1
            chosen = "_".join(parts[-count:])
            if found := control_character(chosen):
                raise InputError(f"a name holds the control character {found}; remove it")
            self._names[path] = chosen
            self._taken.add(chosen)
        return self._names[path]

    def gravity(self) -> list[float]:
        """Gravity of the first PhysicsScene, in m/s²; that of the earth where it says nothing."""
        direction, size = np.array([0.0, 0.0, -1.0]), _GRAVITY
        for prim in self.stage.Traverse():
            if prim.GetTypeName() != "PhysicsScene":
                continue
            scene = usd_module("UsdPhysics").Scene(prim)
            given = np.array(scene.GetGravityDirectionAttr().Get(), dtype=float)
            if given.any():
                direction = self.turned.rotation @ (given / np.linalg.norm(given))
            magnitude = float(scene.GetGravityMagnitudeAttr().Get())
            if magnitude >= 0.0:
                size = self.meter * magnitude
            break
        return [float(value) for value in size * direction]


def axis_of(prim: Any, attribute: str) -> int:
    """Number of the axis X, Y or Z that a prim names; any other is an InputError."""
    word = str(prim.GetAttribute(attribute).Get())
    if word not in ("X", "Y", "Z"):
        place = f"{prim.GetPath()}.{attribute}"
        raise InputError(f'expected X, Y or Z, found "{word:.40}"', place=place)
    return "XYZ".index(word)


def rotation_of(quaternion: Any) -> Array:
    """Rotation matrix of a quaternion of USD; the one of length 0 is none."""
    x, y, z = quaternion.GetImaginary()
    values = [float(x), float(y), float(z), float(quaternion.GetReal())]
    return from_quaternion(values) if any(values) else np.eye(3)


def seen_from(frame: Frame, place: Pose) -> Pose:
    """A place of the world in the frame of a prim."""
    return compose(inverse(frame.pose), place)
