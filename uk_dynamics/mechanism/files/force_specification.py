# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Force elements and contacts as a mechanism file declares them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uk_dynamics.constraints.rows import HeightField, HullPair, Round, weighted_joints
from uk_dynamics.exceptions import MechanismFileError, inside
from uk_dynamics.mechanism.files.frame_specification import (
    FrameSpec,
    Vector,
    frames_of,
    given,
    vector,
)
from uk_dynamics.model.urdf import MeshFile, from_quaternion

_ZERO: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class ForceSpec:
    """A spring, damper or constant force."""

    name: str  # Its key in the file
    type: str  # joint_spring, line_spring, effort, wrench or expression
    # Of joint_spring, effort and expression: joints with their factors
    joints: tuple[tuple[str, float], ...] = ()
    # Of line_spring: parent, through.0 … and child, along its path; of wrench: frame; by role
    frames: tuple[tuple[str, FrameSpec], ...] = ()
    stiffness: float = 0.0  # Of springs, in N/m or N·m/rad
    # Of joint_spring: the weighted sum without effort, in m or rad; of line_spring: the distance
    # without force, in m
    rest: float = 0.0
    damping: float = 0.0  # Of springs, in N·s/m or N·m·s/rad
    effort: float = 0.0  # Of type effort, in N or N·m
    force: Vector = _ZERO  # Of type wrench, (3,), in N
    torque: Vector = _ZERO  # Of type wrench, (3,), in N·m
    body_axes: bool = False  # Of type wrench: whether it turns with its frame
    expression: str = ""  # Of type expression: the effort, in N or N·m
    parameters: tuple[tuple[str, float], ...] = ()  # Constants in it, by name
    # Names in it for joints whose own name cannot be written there
    names: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> "ForceSpec":
        """Build it from checked data."""
        joints: tuple[tuple[str, float], ...] = ()
        if "joints" in data:
            with inside("", "joints"):
                joints = weighted_joints(data["joints"])
        return cls(
            name=name,
            type=data["type"],
            joints=joints,
            frames=tuple(_frames(data).items()),
            **given(data, "stiffness", "damping", "effort"),
            rest=float(data.get("length" if "length" in data else "rest", 0.0)),
            force=vector(data.get("force", _ZERO)),
            torque=vector(data.get("torque", _ZERO)),
            body_axes=data.get("axes") == "body",
            expression=data.get("expression", ""),
            parameters=tuple((n, float(x)) for n, x in data.get("parameters", {}).items()),
            names=tuple(data.get("names", {}).items()),
        )


def _frames(data: Mapping[str, Any]) -> dict[str, FrameSpec]:
    """Frames by role; those of a path in its order."""
    if "through" not in data:
        return frames_of(data, "parent", "child", "frame")
    found = frames_of(data, "parent")
    for n, point in enumerate(data["through"]):
        with inside("", f"through[{n}]"):
            found[f"through.{n}"] = FrameSpec.from_data(point)
    return found | frames_of(data, "child")


# m: what is so long has no ends
_ENDLESS = 1e9
_ROUNDED = 1e-3  # of the depth of a profile: corners over which points go


def _surface(data: Mapping[str, Any]) -> Round:
    """The surface of a contact from checked data."""
    half = {"sphere": 0.0, "cylinder": _ENDLESS}
    length = half.get(data["type"], 0.5 * float(data.get("length", 0.0)))
    return Round(float(data.get("radius", 0.0)), length, bool(data.get("hollow", False)))


@dataclass(frozen=True)
class HeightData:
    """A height field, not yet read."""

    heights: str | tuple[tuple[float, ...], ...]  # path or address of a file, or rows along x
    size: tuple[float, float]  # of the whole field along x and y, in m
    scale: float  # of the heights, to m

    @classmethod
    def from_data(cls, shape: Mapping[str, Any]) -> "HeightData":
        """From the checked data of a surface."""
        heights = shape["heights"]
        if not isinstance(heights, str):
            heights = tuple(tuple(map(float, row)) for row in heights)
        x, y, scale = (*map(float, shape["size"]), 1.0)[:3]
        return cls(heights, (x, y), scale)


@dataclass(frozen=True)
class ContactSpec:
    """One point, sphere or capsule that may touch, slide on, stick to and leave a surface."""

    name: str  # its key in the file, of several points with the point's own: ``foot.heel``
    # the plane: through its origin, with its z axis as the outward normal; or where the surface is
    parent: FrameSpec
    child: FrameSpec  # its origin is the point, or the centre of the sphere or capsule
    radius: float = 0.0  # of the sphere, in m; 0: a point
    length: float = 0.0  # of a capsule along z, between the centres of its ends, in m
    surface: Round | None = None  # of the parent; None: a plane
    box: Vector | None = None  # half edges of a box that the surface rounds, in m
    friction: float = 0.0  # μ, without unit
    static_friction: float | None = None  # μ while it sticks; None: the same
    # relative velocity after an impact over that before it, or Poisson's, without unit
    restitution: float = 0.0
    # convex bodies of parent and child, and which of their points it is; None: no such contact
    hulls: HullPair | None = None
    heights: HeightField | HeightData | None = None  # of centres that touch; None: no such surface
    point: int = 0
    meshes: tuple[MeshFile, ...] = ()  # of whose convex hulls its points or bodies are
    # Whether points and radii are still to be taken from the collision shapes of the child's link
    from_collision: bool = False
    both_from_collision: bool = False  # and the surface from those of the parent's

    @property
    def frames(self) -> list[tuple[str, FrameSpec]]:
        """Its frames with their roles."""
        return [("parent", self.parent), ("child", self.child)]

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> "Iterator[ContactSpec]":
        """Build the contacts of an entry from checked data, one per point, between two links."""
        frames = frames_of(data, "parent", "child")
        shape = data.get("surface", {})
        both = shape.get("type") == "collision"
        of_shapes = data.get("from") == "collision" or both
        if both and (other := [key for key in ("points", "radius", "length") if key in data]):
            problem = f"both bodies are those of their collision shapes; leave {other[0]} out"
            raise MechanismFileError(problem, place=other[0])
        for role in ("parent", "child") if both else ():
            if other := sorted(data[role].keys() - {"link"}):
                problem = f"the body is that of the link, with its own place; leave {other[0]} out"
                raise MechanismFileError(problem, place=f"{role}.{other[0]}")
        contact = cls(
            name,
            frames["parent"],
            frames["child"],
            **given(data, "radius", "length", "friction", "static_friction", "restitution"),
            surface=_surface(shape) if shape and not both else None,
            box=vector([0.5 * edge for edge in shape["size"]])
            if shape.get("type") == "box"
            else None,
            heights=HeightData.from_data(shape) if "heights" in shape else None,
            from_collision=of_shapes,
            both_from_collision=both,
        )
        points = data.get("points")
        if points is not None and not isinstance(points, Mapping):
            points = {str(index): point for index, point in enumerate(points, 1)}
        for piece in contact.along(shape) if "points" in shape else (contact,):
            piece.check()
            if points is None:
                yield from piece.ends()
                continue
            for label, point in points.items():
                yield from piece.at(label, vector(point)).ends()

    def along(self, shape: Mapping[str, Any]) -> "list[ContactSpec]":
        """A contact with a box behind each piece of a profile.

        Corners are those of the boxes, rounded within; points, to which any edge is a wall, need
        that.

        Raises:
            MechanismFileError: Two neighbours are one, or a piece is shorter than its rounding.
        """
        line = np.array(shape["points"], dtype=float)
        way = np.diff(line, axis=0)
        length, angle = np.hypot(*way.T), np.arctan2(way[:, 1], way[:, 0])
        if not length.all():
            place = f"surface.points[{int(np.argmin(length)) + 1}]"
            raise MechanismFileError("the same as the point before; remove one", place=place)
        depth = float(shape.get("depth", length.min()))
        rounding = float(shape.get("radius", 0.0 if self.radius else _ROUNDED * depth))
        bend = (angle[:-1] - angle[1:] + np.pi) % (2.0 * np.pi) - np.pi
        cut = rounding * np.tan(0.5 * np.maximum(bend, 0.0))
        cut = np.concatenate(([0.0], cut, [0.0]))
        left = length - cut[:-1] - cut[1:]
        if not (left > 0.0).all() or rounding >= depth:
            problem = f"{rounding:g} m is more than there is of a piece; round less"
            raise MechanismFileError(problem, place="surface.radius")
        turn, (x, y, z, w) = from_quaternion(self.parent.quaternion), self.parent.quaternion
        found = []
        for k, (begin, (dx, dz)) in enumerate(zip(line, way / length[:, None], strict=False)):
            middle = begin + (cut[k] + 0.5 * left[k]) * np.array([dx, dz])
            middle = middle - 0.5 * (rounding + depth) * np.array([-dz, dx])
            origin = self.parent.xyz + turn @ [middle[0], 0.0, middle[1]]
            c, s = math.cos(0.5 * angle[k]), -math.sin(0.5 * angle[k])
            q = (x * c - z * s, y * c + w * s, z * c + x * s, w * c - y * s)
            parent = replace(self.parent, xyz=vector(origin.tolist()), quaternion=q)
            box = (0.5 * float(left[k]), _ENDLESS, 0.5 * (depth - rounding))
            one = replace(self, name=f"{self.name}.{k + 1}", parent=parent, box=box)
            found.append(replace(one, surface=Round(rounding)))
        return found

    def ends(self) -> "Iterator[ContactSpec]":
        """Itself; of a capsule on a plane its ends, which touch it."""
        if self.surface is not None or not self.length:
            yield self
            return
        for label, side in (("lower", -0.5), ("upper", 0.5)):
            yield replace(self.at(label, (0.0, 0.0, side * self.length)), length=0.0)

    def spheres(self, apart: float) -> "list[ContactSpec]":
        """Itself; of a capsule spheres along its axis, so far apart at most, in m."""
        places = np.linspace(-0.5, 0.5, math.ceil(self.length / apart) + 1) * self.length
        if not self.length:
            return [self]
        return [
            replace(self.at(str(index), (0.0, 0.0, place)), length=0.0)
            for index, place in enumerate(places.tolist(), 1)
        ]

    def check(self) -> None:
        """See that the child can be where the surface is not, and touches it at one point alone."""
        surface = self.surface
        if surface is None or not surface.hollow:
            flat = self.box is not None or self.heights is not None
            if self.box is not None and self.length:
                problem = "a capsule and a box touch at several points; give points or spheres"
                raise MechanismFileError(problem, place="length")
            if surface is not None and not flat and not surface.radius + self.radius:
                problem = "two lines or points never touch; give one of both a radius"
                raise MechanismFileError(problem, place="surface.radius")
            return
        if self.length:
            problem = "a capsule touches a hollow surface at both ends; give them as points"
            raise MechanismFileError(problem, place="length")
        if self.radius >= surface.radius:
            problem = (
                f"a sphere of radius {self.radius:g} m has no room in a hollow of"
                f" {surface.radius:g} m; the difference is the clearance"
            )
            raise MechanismFileError(problem, place="surface.radius")

    def at(self, label: str, point: Vector) -> "ContactSpec":
        """The contact of one point in the child frame, in m, which is no longer of its shapes."""
        turned = from_quaternion(self.child.quaternion) @ point
        moved = replace(self.child, xyz=vector((turned + self.child.xyz).tolist()))
        name = f"{self.name}.{label}" if label else self.name
        return replace(self, name=name, child=moved, from_collision=False)
