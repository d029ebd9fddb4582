# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of two shapes that stand in another format, as a mechanism file has them."""

from dataclasses import dataclass

from uk_dynamics.conversion.robot.imported_robot import Data
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import MOST_CORNERS, sphere_spacing, touching_points
from uk_dynamics.model.urdf import Array, Box, Shape, Sphere


@dataclass(frozen=True)
class Plane:
    """What is below z = 0."""


@dataclass(frozen=True)
class Capsule:
    """What is nearer than a radius to a segment of z, in m."""

    radius: float
    length: float  # of the segment


@dataclass(frozen=True, eq=False)
class Corners:
    """The convex hull of points, (n, 3), in m."""

    points: Array


@dataclass(frozen=True)
class Ground:
    """Heights over a rectangle."""

    heights: str | list[list[float]]  # a file, or rows along x, in m
    size: list[float]  # along x and y, and what heights are multiplied by


Touching = Shape | Plane | Capsule | Corners | Ground


def contact_entry(still: Touching, other: Touching) -> Data | None:
    """Keys of a contact besides its frames, with one shape as its surface; None: there is none.

    Raises:
        InputError: It would be too many spheres.
    """
    surface, child = _surface(still), _child(other)
    flat = isinstance(still, Plane | Ground)
    if surface is None or child is None or ("points" in child and not flat):
        return None  # edges and faces of both may be nearest
    if isinstance(other, Capsule) and isinstance(still, Box | Ground):
        if isinstance(still, Box) or isinstance(still.heights, str):
            return None
        rows = still.heights
        steps = still.size[0] / (len(rows[0]) - 1), still.size[1] / (len(rows) - 1)
        sphere_spacing(other.length, min(steps))
    return ({"surface": surface} if surface else {}) | child


def _surface(shape: Touching) -> Data | None:
    match shape:
        case Plane():
            return {}
        case Sphere(radius):
            return {"type": "sphere", "radius": radius}
        case Capsule(radius, length):
            return {"type": "capsule", "radius": radius, "length": length}
        case Box(size):
            return {"type": "box", "size": list(size)}
        case Ground(heights, extent):
            return {"type": "height_field", "heights": heights, "size": extent}
    return None


def _child(shape: Touching) -> Data | None:
    """What of a shape touches a plane."""
    match shape:
        case Sphere(radius):
            return {"radius": radius}
        case Capsule(radius, length):
            return {"radius": radius, "length": length}
        case Plane() | Ground():
            return None
        case Corners(corners):
            points = list(corners)
        case _:
            try:
                points = [point for point, _ in touching_points("", shape)]
            except InputError:  # a mesh that cannot be read, or has too many corners
                return None
    if not 0 < len(points) <= MOST_CORNERS:
        return None
    return {"points": [point.tolist() for point in points]}
