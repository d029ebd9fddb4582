# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Points and spheres of contacts from the collision shapes of a URDF, and height fields.

A plane touches a box or the convex hull of a mesh at corners, and a sphere below its centre. The
rim of a cylinder is touched at eight points. Two links touch with the convex hulls of such points.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.rows import POINTS, HeightField, Hull, HullPair
from uk_dynamics.exceptions import InputError, located
from uk_dynamics.mechanism.files.force_specification import ContactSpec, HeightData
from uk_dynamics.mechanism.files.frame_specification import FrameSpec, vector
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.model.urdf import (
    Box,
    Cylinder,
    MeshFile,
    Pose,
    RobotDescription,
    Shape,
    Sphere,
    collision_shapes,
    from_quaternion,
)
from uk_dynamics.resources import optional_library, resolve

#: Of a mesh: each is a contact of its own.
MOST_CORNERS = 64
_RIM = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)


def with_shapes(spec: MechanismSpec, description: RobotDescription) -> MechanismSpec:
    """The specification with a contact for each point of the shapes that it refers to.

    Raises:
        InputError: A link without collision shapes, or with a mesh that cannot be read or has too
            many corners; a height field that is none.
    """
    found: list[ContactSpec] = []
    for contact in spec.contacts:
        key = "surface" if contact.both_from_collision else "from"
        with located(spec.file, f"contacts.{contact.name}.{key}"):
            if contact.both_from_collision:
                found += _of_both(contact, description)
            else:
                found += _of_shapes(contact, description) if contact.from_collision else [contact]
    fields: dict[HeightData, HeightField] = {}
    every: list[ContactSpec] = []
    for contact in found:
        if not isinstance(data := contact.heights, HeightData):
            every.append(contact)
            continue
        with located(spec.file, f"contacts.{contact.name.partition('.')[0]}.surface.heights"):
            if data not in fields:
                fields[data] = _height_field(data, spec.directory)
            centres = fields[data].of_centres(contact.radius)
            apart = sphere_spacing(contact.length, float(fields[data].step.min()))
            every += replace(contact, heights=centres).spheres(apart)
    return replace(spec, contacts=tuple(every))


def sphere_spacing(length: float, step: float) -> float:
    """How far apart spheres of a capsule are over a height field with heights at each step, in m.

    Between two that are half a step apart the field is higher by at most 1/32 of a step times the
    difference of the slopes before and behind a height, along a row of the grid.

    Raises:
        InputError: They would be too many.
    """
    if length > 0.5 * MOST_CORNERS * step:
        raise InputError(
            f"a capsule of {length:g} m would be more than {MOST_CORNERS} spheres, two for each"
            f" spacing of the grid; give spheres, or a height at least every"
            f" {2.0 * length / MOST_CORNERS:g} m"
        )
    return 0.5 * step


def _of_both(contact: ContactSpec, description: RobotDescription) -> Iterator[ContactSpec]:
    """A contact for each point at which the convex hulls of two links may touch."""
    found = replace(contact, from_collision=False, both_from_collision=False)
    sides = _hulls(contact.parent, description), _hulls(contact.child, description)
    pairs = [
        replace(found, hulls=HullPair(one, other), meshes=_meshes(of, of_other))
        for (one, of), (other, of_other) in product(*sides)
    ]
    for index, (pair, point) in enumerate(product(pairs, range(POINTS)), 1):
        yield replace(pair, name=f"{contact.name}.{index}", point=point)


def _meshes(*shapes: Shape) -> tuple[MeshFile, ...]:
    return tuple(shape for shape in shapes if isinstance(shape, MeshFile))


def _hulls(frame: FrameSpec, description: RobotDescription) -> Iterator[tuple[Hull, Shape]]:
    """Hulls of the collision shapes of a link, in a frame on it, and these shapes."""
    for pose, shape in _shapes(frame.link, description):
        points = []
        for point, radius in touching_points(frame.link, shape):
            if radius:
                problem = f'the collision shape of "{frame.link}" is a sphere; give radius and xyz'
                raise InputError(problem)
            points.append(pose.rotation @ point + pose.translation)
        try:
            yield Hull((np.array(points) - frame.xyz) @ from_quaternion(frame.quaternion)), shape
        except ValueError as error:
            raise InputError(f'a collision shape of "{frame.link}" is no body: {error}') from None


def _shapes(link: str, description: RobotDescription) -> tuple[tuple[Pose, Shape], ...]:
    shapes = collision_shapes(description, link)
    if not shapes:
        raise InputError(f'the link "{link}" has no collision shape in the URDF; give points')
    return shapes


def _of_shapes(contact: ContactSpec, description: RobotDescription) -> Iterator[ContactSpec]:
    link = contact.child.link
    points = [
        (pose.rotation @ point + pose.translation, radius, _meshes(shape))
        for pose, shape in _shapes(link, description)
        for point, radius in touching_points(link, shape)
    ]
    for index, (point, radius, meshes) in enumerate(points, 1):
        label = str(index) if len(points) > 1 else ""
        yield replace(contact.at(label, vector(point.tolist())), radius=radius, meshes=meshes)


def touching_points(link: str, shape: Shape) -> Iterator[tuple[Array, float]]:
    """Points or centres with which a shape of a link touches planes, (3,), and radii, in m."""
    match shape:
        case Sphere(radius):
            yield np.zeros(3), radius
        case Box(size):
            for signs in product((0.5, -0.5), repeat=3):
                yield np.multiply(signs, size), 0.0
        case Cylinder(radius, length):
            for side, angle in product((0.5, -0.5), _RIM):
                rim = radius * np.cos(angle), radius * np.sin(angle), side * length
                yield np.array(rim), 0.0
        case MeshFile():
            for corner in _corners(link, shape):
                yield corner, 0.0


def hollow_part(mesh: MeshFile) -> float:
    """Part of the volume of its convex hull that is not in a mesh; 0 where it has no inside."""
    loaded, hull = _with_hull(mesh.path.name, mesh)
    ways = np.where(np.diff(loaded.edges)[:, 0] > 0, 1.0, -1.0)
    _, same = np.unique(loaded.edges_sorted, axis=0, return_inverse=True)
    if np.bincount(same.ravel(), ways).any():  # not closed, nor made of parts that are
        return 0.0
    return max(1.0 - abs(float(loaded.volume) / float(hull.volume)), 0.0)


def _with_hull(link: str, mesh: MeshFile) -> tuple[Any, Any]:
    """A mesh, in units of its file, and its convex hull."""
    loaded = _mesh(mesh.path, f'the collision shape of "{link}" is a mesh, which')
    with _named_faults(mesh.path):
        return loaded, loaded.convex_hull


def _mesh(path: Path, what: str) -> Any:
    """A mesh, in units of its file."""
    missing = f"{what} needs trimesh; install it (pip install trimesh), or give points"
    trimesh = optional_library("trimesh", missing)  # takes long to import
    with _named_faults(path):
        return trimesh.load(path, force="mesh")


@contextmanager
def _named_faults(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever its readers raise
        raise InputError(f"{path.name} is no mesh: {error!s:.100}; give points") from None


def _corners(link: str, mesh: MeshFile) -> Array:
    """Corners of the convex hull of a mesh, (n, 3), in m."""
    corners: Array = _with_hull(link, mesh)[1].vertices * np.array(mesh.scale)
    if len(corners) > MOST_CORNERS:
        raise InputError(
            f"the convex hull of {mesh.path.name} has {len(corners)} corners, more than"
            f" {MOST_CORNERS}; give points"
        )
    return corners


#: Points of a grid: what C has as a table, and what spheres are rolled over, in seconds.
_MOST_HEIGHTS = 257 * 257
_MESHES = ".stl", ".obj", ".ply"
_ALONG_MESH = 128  # spacings of the grid over a mesh, along its longer side
_ON_EDGE = 1e-9  # of a spacing, and of the coordinates in a triangle


def _height_field(data: HeightData, directory: Path) -> HeightField:
    """The field of a mechanism file, in whose directory relative paths start: a finite grid."""
    heights, file = data.heights, ""
    if isinstance(heights, str):
        path = resolve(heights, relative_to=directory)
        file = f"{path.name}: "
        if path.suffix.lower() in _MESHES:
            grid = _over_mesh(path, np.array(data.size) / data.scale)
        else:
            grid = _read(path)
    else:
        long = {len(row) for row in heights}
        if len(long) > 1:
            k = next(k for k, row in enumerate(heights) if len(row) != len(heights[0]))
            problem = f"row {k} has {len(heights[k])} heights, row 0 has {len(heights[0])}"
            raise InputError(f"{problem}; a grid has as many in all rows")
        grid = np.array(heights, dtype=float)
    if grid.ndim != 2 or min(grid.shape) < 2 or grid.size > _MOST_HEIGHTS:
        found = " × ".join(map(str, grid.shape))
        wanted = f"expected a grid of 2 × 2 to {_MOST_HEIGHTS} heights, a row for each y"
        raise InputError(f"{file}{wanted}, found {found}")
    if not np.isfinite(grid).all():
        row, column = np.argwhere(~np.isfinite(grid))[0].tolist()
        raise InputError(
            f"{file}row {row}, column {column} is {grid[row, column]}; give a height in m"
        )
    return HeightField(data.scale * grid, data.size)


def _read(path: Path) -> Array:
    """The numbers of a file; pictures are from 0, black, to 1, and have their last row first."""
    try:
        if path.suffix == ".npy":
            return np.asarray(np.load(path, allow_pickle=False), dtype=float)
        if path.suffix == ".csv":
            return np.loadtxt(path, delimiter=",", ndmin=2)
        if path.suffix == ".png":
            remedy = "a picture needs matplotlib: pip install matplotlib; or give a .npy file"
            grey = np.asarray(optional_library("matplotlib.image", remedy).imread(path), float)
            return grey[::-1] if grey.ndim == 2 else grey[::-1, :, :3].mean(axis=2)
    except (OSError, ValueError, TypeError, SyntaxError) as error:
        raise InputError(f"{path.name} holds no grid of numbers: {error!s:.100}") from None
    known = ".npy, .csv, .png or a mesh, " + ", ".join(_MESHES)
    raise InputError(f"{path.name}: expected a file {known}")


def _over_mesh(path: Path, size: Array) -> Array:
    """The highest points of a mesh over a rectangle about its origin, in the unit of the mesh.

    Raises:
        InputError: It cannot be read, or is not everywhere below or above the rectangle.
    """
    triangles = np.array(_mesh(path, "a height field from a mesh").triangles, dtype=float)
    if not triangles.size or not np.isfinite(triangles).all():
        raise InputError(f"{path.name} is no mesh: it has no triangles of finite numbers")
    count = 1 + np.maximum(np.rint(_ALONG_MESH * size / size.max()).astype(int), 1)
    grid = np.full(count[::-1], -np.inf)
    triangles[:, :, :2] = (triangles[:, :, :2] / size + 0.5) * (count - 1)  # in steps of the grid
    low, high = triangles[:, :, :2].min(axis=1), triangles[:, :, :2].max(axis=1)
    begin = np.clip(np.ceil(low - _ON_EDGE), 0, count).astype(int)
    end = np.clip(np.floor(high + _ON_EDGE) + 1, 0, count).astype(int)
    over = np.flatnonzero((begin < end).all(axis=1))  # a point of the grid, perhaps
    for corners, low, high in zip(triangles[over], begin[over], end[over], strict=True):
        sides = np.vstack((corners[:, :2].T, np.ones(3)))
        if abs(np.linalg.det(sides)) <= _ON_EDGE:  # it is upright
            continue
        x, y = np.meshgrid(*map(np.arange, low, high))
        parts = np.linalg.solve(sides, np.stack((x, y, np.ones_like(x))).reshape(3, -1))
        height = np.where((parts >= -_ON_EDGE).all(axis=0), corners[:, 2] @ parts, -np.inf)
        part = grid[low[1] : high[1], low[0] : high[0]]
        np.maximum(part, height.reshape(part.shape), out=part)
    if not np.isfinite(grid).all():
        place = (np.argwhere(np.isinf(grid))[0][::-1] / (count - 1) - 0.5) * size
        raise InputError(
            f"{path.name} has no surface at x = {place[0]:g}, y = {place[1]:g} in its unit; give a"
            " size of which it covers all, about its origin"
        )
    return grid
