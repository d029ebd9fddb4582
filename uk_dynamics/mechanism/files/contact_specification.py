# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts as a file declares them: points or spheres of a link that touch a plane of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from uk_dynamics.mechanism.files.frame_specification import FrameSpec, Vector, frames_of, vector
from uk_dynamics.model.urdf import from_quaternion


@dataclass(frozen=True)
class ContactSpec:
    """One point or sphere that may touch, slide on, stick to and leave a plane."""

    name: str  # its key in the file, of several points with the point's own: ``foot.heel``
    parent: FrameSpec  # the plane: through its origin, with its z axis as the outward normal
    child: FrameSpec  # its origin is the point, or the centre of the sphere
    radius: float = 0.0  # of the sphere, in m; 0: a point
    friction: float = 0.0  # μ, without unit
    # Newton's: relative velocity after an impact over that before it, without unit
    restitution: float = 0.0
    # Whether points and radii are still to be taken from the collision shapes of the child's link
    from_collision: bool = False

    @property
    def frames(self) -> list[tuple[str, FrameSpec]]:
        """Its frames with their roles."""
        return [("parent", self.parent), ("child", self.child)]

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Iterator[ContactSpec]:
        """Build the contacts of an entry from checked data, one per point.

        Raises:
            MechanismFileError: Both frames are on one link; its place is counted from here.
        """
        frames = frames_of(data, "parent", "child")
        numbers = {
            key: float(data[key]) for key in ("radius", "friction", "restitution") if key in data
        }
        of_shapes = data.get("from") == "collision"
        contact = cls(name, frames["parent"], frames["child"], **numbers, from_collision=of_shapes)
        points = data.get("points")
        if points is None:
            yield contact
            return
        if not isinstance(points, Mapping):
            points = {str(index): point for index, point in enumerate(points, 1)}
        for label, point in points.items():
            yield contact.at(label, vector(point))

    def at(self, label: str, point: Vector) -> ContactSpec:
        """The contact of one point in the child frame, in m, which is no longer of its shapes."""
        turned = from_quaternion(self.child.quaternion) @ point
        moved = replace(self.child, xyz=vector((turned + self.child.xyz).tolist()))
        name = f"{self.name}.{label}" if label else self.name
        return replace(self, name=name, child=moved, from_collision=False)
