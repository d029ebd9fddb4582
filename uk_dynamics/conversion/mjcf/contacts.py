# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What may touch in a MuJoCo model: contacts of a mechanism file, rigid and with exact friction.

Geoms that MuJoCo would let collide are paired with those that stand still, and ``<pair>`` elements
are taken as they are. Of other pairs of moving bodies there may be hundreds that never touch.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from uk_dynamics.conversion.mjcf.compiled import Compiled, pose_of
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot
from uk_dynamics.mechanism.resolution import MOST_CORNERS, touching_points
from uk_dynamics.model.urdf import Array, Box, Cylinder

_WITHOUT_FRICTION = 1  # condim


def add_contacts(source: Compiled, robot: ImportedRobot) -> None:
    """Add contacts, hard stops at limits and stiction, or remarks for what has no counterpart."""
    model = source.model
    if not model.opt.disableflags & int(source.mujoco.mjtDisableBit.mjDSBL_CONTACT):
        _add_pairs(source, robot)
    for joint in filter(source.is_single, range(model.njnt)):
        data = robot.joint_data.setdefault(source.joint(joint), {})
        if model.jnt_limited[joint]:
            data["stop"] = {"hard": True}
        if loss := float(model.dof_frictionloss[model.jnt_dofadr[joint]]):
            data["stiction"] = loss
        if not data:
            del robot.joint_data[source.joint(joint)]
    if robot.contacts:
        reason = "are rigid here, and plastic; give them a restitution"
        robot.changed("contacts", reason)


def _add_pairs(source: Compiled, robot: ImportedRobot) -> None:
    for first, second, friction in _pairs(source):
        names = [source.of("geom", geom) for geom in (first, second)]
        found = _contact(source, first, second) or _contact(source, second, first)
        if found is None:
            shapes = " and ".join(_shape(source, geom) for geom in (first, second))
            reason = f"no contact of {shapes} is known here"
            robot.lost(f"contact {' with '.join(names)}", reason)
            continue
        if friction:
            found["friction"] = friction
        robot.add("contact", "_".join(names), found)
    moving = sum(_moves(source.model, *pair) for pair in _candidates(source))
    if moving:
        reason = "add those that can touch (two are on moving bodies)"
        robot.lost(f"{moving} further pairs of geoms", reason)


def _pairs(source: Compiled) -> Iterator[tuple[int, int, float]]:
    """Two geoms and their friction: explicit pairs, then what meets what stands still."""
    model = source.model
    for k in range(model.npair):
        rough = model.pair_dim[k] > _WITHOUT_FRICTION
        friction = float(model.pair_friction[k][0]) if rough else 0.0
        yield int(model.pair_geom1[k]), int(model.pair_geom2[k]), friction
    for first, second in _candidates(source):
        if not _moves(model, first, second):
            yield first, second, _friction(model, first, second)


def _moves(model: Any, first: int, second: int) -> bool:
    """Whether neither of two geoms stands still."""
    return bool((model.body_weldid[model.geom_bodyid[[first, second]]] != 0).all())


def _candidates(source: Compiled) -> Iterator[tuple[int, int]]:
    """Pairs that masks, tree and exclusions let collide, without those that are given."""
    model = source.model
    given = {frozenset(pair) for pair in zip(model.pair_geom1, model.pair_geom2, strict=True)}
    excluded = set(np.array(model.exclude_signature).tolist())
    parents = not model.opt.disableflags & int(source.mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    for first in range(model.ngeom):
        for second in range(first + 1, model.ngeom):
            bodies = sorted((int(model.geom_bodyid[first]), int(model.geom_bodyid[second])))
            welds = [int(model.body_weldid[body]) for body in bodies]
            above = [int(model.body_weldid[model.body_parentid[weld]]) for weld in welds]
            related = welds[0] == above[1] or welds[1] == above[0]
            mask = model.geom_contype[first] & model.geom_conaffinity[second]
            mask |= model.geom_contype[second] & model.geom_conaffinity[first]
            if not mask or welds[0] == welds[1] or (parents and all(welds) and related):
                continue
            if (bodies[0] << 16) + bodies[1] in excluded:
                continue
            if frozenset((first, second)) not in given:
                yield first, second


def _friction(model: Any, first: int, second: int) -> float:
    """Of sliding: that of the geom with more priority, or the larger one."""
    priority = model.geom_priority[first] - model.geom_priority[second]
    chosen = [first, second] if not priority else [first] if priority > 0 else [second]
    if max(model.geom_condim[chosen]) == _WITHOUT_FRICTION:
        return 0.0
    return float(max(model.geom_friction[geom][0] for geom in chosen))


def _shape(source: Compiled, geom: int) -> str:
    kind = source.mujoco.mjtGeom(int(source.model.geom_type[geom])).name
    return str(kind).removeprefix("mjGEOM_").lower()


def _contact(source: Compiled, still: int, other: int) -> Data | None:
    """A contact of a plane or round surface with another geom; None: there is none."""
    shape = _shape(source, still)
    size = [float(value) for value in source.model.geom_size[still]]
    data: Data = {"parent": _frame(source, still), "child": _frame(source, other)}
    touching = _touching(source, other)
    if touching is None:
        return None
    if shape == "sphere":
        data["surface"] = {"type": "sphere", "radius": size[0]}
    elif shape == "capsule":
        data["surface"] = {"type": "capsule", "radius": size[0], "length": 2.0 * size[1]}
    elif shape == "box" and "length" not in touching:
        data["surface"] = {"type": "box", "size": [2.0 * edge for edge in size]}
    elif shape != "plane":
        return None
    if shape != "plane" and "points" in touching:  # edges and faces of both may be nearest
        return None
    return data | touching


def _touching(source: Compiled, geom: int) -> Data | None:
    """What of a geom touches a plane; None: it is unknown."""
    model, shape = source.model, _shape(source, geom)
    a, b, c = (float(value) for value in model.geom_size[geom])
    if shape == "sphere":
        return {"radius": a}
    if shape == "capsule":
        return {"radius": a, "length": 2.0 * b}
    points: list[Array] = []
    if shape == "box":
        points = [point for point, _ in touching_points("", Box((2.0 * a, 2.0 * b, 2.0 * c)))]
    elif shape == "cylinder":
        points = [point for point, _ in touching_points("", Cylinder(a, 2.0 * b))]
    elif shape == "mesh":
        mesh = int(model.geom_dataid[geom])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        points = list(_hull(np.array(model.mesh_vert[first : first + count], dtype=float)))
    if not 0 < len(points) <= MOST_CORNERS:
        return None
    return {"points": [point.tolist() for point in points]}


def _hull(points: Array) -> Array:
    """Corners of the convex hull."""
    from scipy.spatial import ConvexHull, QhullError  # takes long to import

    try:
        found: Array = points[ConvexHull(points).vertices]
    except QhullError:  # they are in a plane
        return points
    return found


def _frame(source: Compiled, geom: int) -> Data:
    model = source.model
    pose = pose_of(model.geom_pos[geom], model.geom_quat[geom])
    return source.frame(int(model.geom_bodyid[geom]), pose)
