# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What may touch in a MuJoCo model: contacts of a mechanism file, rigid and with exact friction.

Geoms that MuJoCo would let collide are paired with those that stand still, and ``<pair>`` elements
are taken as they are. Of other pairs of moving bodies there may be hundreds that never touch.
Boxes and cylinders touch one another as convex hulls, which are collision shapes of the URDF.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from uk_dynamics.conversion.mjcf.compiled import Compiled, pose_of
from uk_dynamics.conversion.robot.contact_entries import (
    Capsule,
    Corners,
    Ground,
    Plane,
    Touching,
    contact_entry,
)
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import Array, Box, Cylinder, Pose, Sphere, compose

_WITHOUT_FRICTION = 1  # condim
_MOST_HEIGHTS = 20_000  # of a field that is written into the mechanism file


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
        robot.changed("contacts", "are rigid here, and plastic; give them a restitution")


def boxes_in_the_world(source: Compiled) -> bool:
    """Whether hulls of the world touch others, so that the URDF needs a link of that name."""
    return any(
        0 in source.model.geom_bodyid[[first, second]] and _hulls(source, first, second)
        for first, second, _ in _pairs(source)
    )


def _add_pairs(source: Compiled, robot: ImportedRobot) -> None:
    links: dict[int, str] = {}  # of geoms that touch as hulls
    for first, second, friction in _pairs(source):
        names = [source.of("geom", geom) for geom in (first, second)]
        shapes = " and ".join(_shape(source, geom) for geom in (first, second))
        reason = f"no contact of {shapes} is known here"
        try:
            found = _contact(source, first, second) or _contact(source, second, first)
        except InputError as error:
            found, reason = None, str(error)
        if found is None and (hulls := _hulls(source, first, second)):
            for geom, shape in hulls.items():
                if geom not in links:
                    body, name = int(source.model.geom_bodyid[geom]), source.of("geom", geom)
                    pose = compose(source.moved[body], _pose(source, geom))
                    links[geom] = robot.add_shape_link(name, source.body(body), pose, shape)
            found = {"parent": {"link": links[first]}, "child": {"link": links[second]}}
            found["surface"] = {"type": "collision"}
        if found is None:
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
    """A contact of a geom with another one, whose surface it is; None: there is none."""
    surface, child = _touching(source, still), _touching(source, other)
    keys = None if surface is None or child is None else contact_entry(surface, child)
    frames = {"parent": _frame(source, still), "child": _frame(source, other)}
    return None if keys is None else frames | keys


def _hulls(source: Compiled, *geoms: int) -> dict[int, Box | Cylinder]:
    """What geoms are if all of them are boxes or cylinders."""
    shapes = {geom: _touching(source, geom) for geom in geoms}
    found = {geom: one for geom, one in shapes.items() if isinstance(one, Box | Cylinder)}
    return found if len(found) == len(geoms) else {}


def _touching(source: Compiled, geom: int) -> Touching | None:
    """What a geom is; None: it is unknown."""
    model, data = source.model, int(source.model.geom_dataid[geom])
    a, b, c = (float(value) for value in model.geom_size[geom])
    match _shape(source, geom):
        case "plane":
            return Plane()
        case "sphere":
            return Sphere(a)
        case "capsule":
            return Capsule(a, 2.0 * b)
        case "box":
            return Box((2.0 * a, 2.0 * b, 2.0 * c))
        case "cylinder":
            return Cylinder(a, 2.0 * b)
        case "mesh":
            first, count = int(model.mesh_vertadr[data]), int(model.mesh_vertnum[data])
            return Corners(_hull(np.array(model.mesh_vert[first : first + count], dtype=float)))
        case "hfield" if model.hfield_nrow[data] * model.hfield_ncol[data] <= _MOST_HEIGHTS:
            x, y, high, _ = (float(value) for value in model.hfield_size[data])
            first, columns = int(model.hfield_adr[data]), int(model.hfield_ncol[data])
            count = columns * int(model.hfield_nrow[data])
            heights = model.hfield_data[first : first + count].astype(float).reshape(-1, columns)
            return Ground(heights.tolist(), [2.0 * x, 2.0 * y, high])
    return None


def _hull(points: Array) -> Array:
    """Corners of the convex hull."""
    from scipy.spatial import ConvexHull, QhullError  # takes long to import

    try:
        found: Array = points[ConvexHull(points).vertices]
    except QhullError:  # they are in a plane
        return points
    return found


def _frame(source: Compiled, geom: int) -> Data:
    return source.frame(int(source.model.geom_bodyid[geom]), _pose(source, geom))


def _pose(source: Compiled, geom: int) -> Pose:
    return pose_of(source.model.geom_pos[geom], source.model.geom_quat[geom])
