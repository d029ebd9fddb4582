"""Geoms of MuJoCo that URDF can draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from uk_dynamics.conversion.mjcf.names import Names
from uk_dynamics.conversion.robot.imported_robot import ImportedRobot
from uk_dynamics.conversion.robot.poses import compose
from uk_dynamics.model.urdf.description import Pose
from uk_dynamics.model.urdf.rotation import from_quaternion
from uk_dynamics.model.urdf.visuals import Box, Cylinder, Shape, Sphere, Visual


def shapes(
    mujoco: Any, model: Any, names: Names, robot: ImportedRobot
) -> Iterator[tuple[int, Visual]]:
    """The shapes with the numbers of their bodies; what URDF cannot draw becomes remarks."""
    for index in range(model.ngeom):
        body = int(model.geom_bodyid[index])
        w, x, y, z = model.geom_quat[index]
        pose = Pose(np.array(model.geom_pos[index]), from_quaternion([x, y, z, w]))
        colour = tuple(float(value) for value in model.geom_rgba[index])
        parts = list(_parts(mujoco.mjtGeom, model.geom_type[index], model.geom_size[index]))
        if not parts:
            kind = str(mujoco.mjtGeom(int(model.geom_type[index])).name)
            kind = kind.removeprefix("mjGEOM_").lower()
            robot.lost(f"geom {names.of('geom', index)}", f"its shape ({kind}) is not drawn")
        for offset, shape in parts:
            yield body, Visual(names.body(body), compose(pose, offset), shape, colour)


def _parts(kinds: Any, kind: int, size: Any) -> Iterator[tuple[Pose, Shape]]:
    a, b, c = (float(value) for value in size)
    if kind == kinds.mjGEOM_BOX:
        yield Pose(), Box((2.0 * a, 2.0 * b, 2.0 * c))
    elif kind == kinds.mjGEOM_SPHERE:
        yield Pose(), Sphere(a)
    elif kind in (int(kinds.mjGEOM_CYLINDER), int(kinds.mjGEOM_CAPSULE)):
        yield Pose(), Cylinder(a, 2.0 * b)
        if kind == kinds.mjGEOM_CAPSULE:
            for end in (b, -b):
                yield Pose(np.array([0.0, 0.0, end])), Sphere(a)
