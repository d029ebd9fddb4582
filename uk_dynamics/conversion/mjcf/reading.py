# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""MJCF: MuJoCo itself reads and compiles the file; the result of its compiler is used."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.conversion.mjcf.compiled import Compiled, pose_of, without_missing_files
from uk_dynamics.conversion.mjcf.contacts import add_contacts, boxes_in_the_world
from uk_dynamics.conversion.mjcf.couplings import add_actuators, add_equalities, add_springs
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot, moved_link
from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import optional_library

# Kind of object, its count in the model, and why it stays behind.
_KINDS = (
    ("sensor", "nsensor", "sensors are no part of the dynamics"),
    ("camera", "ncam", "cameras are no part of the dynamics"),
    ("light", "nlight", "lights are no part of the dynamics"),
    ("key", "nkey", "keyframes: write one as initial_guess"),
    ("flex", "nflex", "deformable bodies have no counterpart"),
    ("skin", "nskin", "skins are for the eye"),
    ("plugin", "nplugin", "plugins are programs of the simulator"),
)


def add_remarks(source: Compiled, robot: ImportedRobot, *, contacts: bool) -> None:
    """Add a remark for everything that has not been converted."""
    model = source.model
    for kind, count, reason in _KINDS:
        found = [source.of(kind, index) for index in range(int(getattr(model, count, 0)))]
        if found:
            robot.lost(f"{kind}s {', '.join(found)}", reason)
    colliding = (np.array(model.geom_contype) != 0) | (np.array(model.geom_conaffinity) != 0)
    if (colliding.any() or model.npair) and not contacts:
        robot.lost("contacts", "are taken with the option --contacts; geoms are shapes here")
    for medium in ("density", "viscosity", "wind"):
        if np.any(getattr(model.opt, medium)):
            robot.lost(f"option {medium}", "forces of a fluid have no counterpart")
    limited = [source.joint(j) for j in range(model.njnt) if model.jnt_limited[j]]
    if limited and not contacts:
        reason = "are reported here, not enforced, unless joints: {NAME: {stop: ...}} is given"
        robot.changed(f"limits of {', '.join(limited)}", reason)


_LEAST = 1e-12  # of a spring or inertia: nothing
_LARGEST = 1e12  # in SI units: products of such numbers are still numbers


def read_mjcf(path: Path, *, contacts: bool = False) -> ImportedRobot:
    """Take the model of an MJCF file, with its contacts, stops and stiction or without."""
    remedy = 'pip install "uk_dynamics[mjcf]"'
    missing = f"MJCF is read by MuJoCo, which is not installed; {remedy}"
    mujoco = optional_library("mujoco", missing, path.name)
    try:
        model, losses = without_missing_files(mujoco, path)
        robot = _Reader(mujoco, model, path.stem).read(contacts=contacts)
    except InputError as error:
        raise error.located(file=path.name) from None
    except ValueError as error:
        raise InputError(" ".join(str(error).split()), file=path.name) from None
    for subject, reason in losses:
        robot.lost(subject, reason)
    return robot


class _Reader:
    """A compiled model on its way to a tree with constraints."""

    def __init__(self, mujoco: Any, model: Any, fallback: str) -> None:
        self.mujoco, self.model = mujoco, model
        self.source = Compiled(mujoco, model)
        self.robot = ImportedRobot(self.source.name or fallback)
        self.moved = self.source.moved

    def read(self, *, contacts: bool) -> ImportedRobot:
        model, robot = self.model, self.robot
        off = model.opt.disableflags & int(self.mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        robot.gravity = [0.0, 0.0, 0.0] if off else np.array(model.opt.gravity).tolist()
        walled = contacts and boxes_in_the_world(self.source)
        floating = None if walled else self._floating_root()
        if floating is None:
            robot.links.append(urdf.Link(urdf.WORLD))
        else:
            robot.root = "floating"
        for body in range(1, model.nbody):
            self._check_sizes(body)
            self._body(body, floating)
        for body, visual in shapes(self.source, robot):
            if body or floating is None:
                placed = urdf.compose(self.moved[body], visual.pose)
                robot.visuals.append(replace(visual, pose=placed))
        add_equalities(self.source, robot)
        add_actuators(self.source, robot)
        add_springs(self.source, robot)
        if contacts:
            add_contacts(self.source, robot)
        add_remarks(self.source, robot, contacts=contacts)
        return robot

    def _floating_root(self) -> int | None:
        """The one body on the world, if that is free: it becomes the root."""
        model = self.model
        top = [body for body in range(1, model.nbody) if model.body_parentid[body] == 0]
        if len(top) != 1 or model.body_jntnum[top[0]] != 1:
            return None
        free = model.jnt_type[model.body_jntadr[top[0]]] == self.mujoco.mjtJoint.mjJNT_FREE
        # Object 0 may be the world, and where the root floats there is no such link to tie to.
        tied = [model.eq_obj1id[i] == 0 or model.eq_obj2id[i] == 0 for i in range(model.neq)]
        return int(top[0]) if free and not any(tied) else None

    def _check_sizes(self, body: int) -> None:
        model = self.model
        joints = slice(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        for what, values in {
            "pos": model.body_pos[body],
            "quat": model.body_quat[body],
            "inertial": np.r_[model.body_mass[body], model.body_inertia[body]],
            "inertial pos": model.body_ipos[body],
            "joint pos": model.jnt_pos[joints],
            "joint axis": model.jnt_axis[joints],
        }.items():
            for value in np.ravel(values):
                if not abs(value) <= _LARGEST:
                    problem = f"{what}: expected numbers up to {_LARGEST:g}, found {value:g}"
                    raise InputError(problem, place=f"body {self.source.body(body)}")
        if not model.body_quat[body].any():  # what MuJoCo makes of numbers whose squares overflow
            raise InputError("quat: is no rotation", place=f"body {self.source.body(body)}")

    def _body(self, body: int, floating: int | None) -> None:
        model, robot = self.model, self.robot
        name = self.source.body(body)
        kinds = self.mujoco.mjtJoint
        parent = int(model.body_parentid[body])
        joints = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        pose = pose_of(model.body_pos[body], model.body_quat[body])
        place = urdf.compose(self.moved[parent], pose)
        moved = urdf.Pose()
        if len(joints) == 1 and model.jnt_type[joints[0]] == kinds.mjJNT_FREE:
            self._free(body, name, joints[0], floating)
        elif not len(joints):
            mount = urdf.Joint(f"{name}_mount", "fixed", self.source.body(parent), name, place)
            robot.joints.append(mount)
        else:
            moved = self._series(name, self.source.body(parent), place, list(joints))
        self.moved[body] = moved
        center = pose_of(model.body_ipos[body], model.body_iquat[body])
        turned = center.rotation @ np.diag(model.body_inertia[body]) @ center.rotation.T
        link = urdf.Link(name, float(model.body_mass[body]), center.translation, turned)
        robot.links.append(moved_link(link, moved))
        if model.body_mocapid[body] >= 0:
            robot.lost(f"body {name}", "is led by mocap; here it stands still")
        if model.body_gravcomp[body]:
            robot.lost(f"body {name}", "gravcomp: here gravity acts on all links")

    def _free(self, body: int, name: str, joint: int, floating: int | None) -> None:
        start = self.model.qpos0[self.model.jnt_qposadr[joint] :]
        place = pose_of(start[:3], start[3:7])
        root = "root"
        if body != floating:
            root = self.source.joint(joint)
            self.robot.joints.append(urdf.Joint(root, "floating", urdf.WORLD, name))
        self.robot.place_root(root, place, np.array([*start[4:7], start[3]]))

    def _series(self, name: str, parent: str, place: urdf.Pose, joints: list[int]) -> urdf.Pose:
        """Add a body's joints, each with its anchor; where MuJoCo's frame of it is in the link."""
        before = place
        for number, joint in enumerate(joints, start=1):
            anchor = urdf.Pose(np.array(self.model.jnt_pos[joint]))
            last = number == len(joints)
            child = name if last else f"{name}_part_{number}"
            if not last:
                self.robot.links.append(urdf.Link(child))
            self._joint(joint, parent, child, urdf.compose(before, anchor))
            parent, before = child, urdf.inverse(anchor)
        return before

    def _joint(self, joint: int, parent: str, child: str, pose: urdf.Pose) -> None:
        model, kinds = self.model, self.mujoco.mjtJoint
        name = self.source.joint(joint)
        dof = int(model.jnt_dofadr[joint])
        if model.jnt_type[joint] == kinds.mjJNT_BALL:
            self.robot.add_ball(urdf.Joint(name, "fixed", parent, child, pose))
            extras = [model.dof_damping[dof], model.dof_armature[dof], model.jnt_stiffness[joint]]
            extras += [model.dof_frictionloss[dof], float(model.jnt_limited[joint])]
            if any(extras):
                reason = "limits, spring, damping, friction, armature of a ball joint"
                self.robot.lost(f"joint {name}", reason)
            return
        slides = model.jnt_type[joint] == kinds.mjJNT_SLIDE
        axis = np.array(model.jnt_axis[joint])
        zero = float(model.qpos0[model.jnt_qposadr[joint]])  # the position of the drawn pose
        turned = urdf.Pose(rotation=urdf.about_axis(axis, -zero))
        back = urdf.Pose(-zero * axis) if slides else turned
        lower, upper = -math.inf, math.inf
        if model.jnt_limited[joint]:
            lower, upper = map(float, model.jnt_range[joint])
        effort = math.inf
        if model.jnt_actfrclimited[joint]:
            effort = float(np.abs(model.jnt_actfrcrange[joint]).min()) or math.inf
        kind: urdf.JointType = "prismatic" if slides else "revolute"
        placed = urdf.compose(pose, back) if zero else pose
        read = urdf.Joint(name, kind, parent, child, placed, axis, lower, upper, effort)
        damping, friction = float(model.dof_damping[dof]), float(model.dof_frictionloss[dof])
        self.robot.joints.append(replace(read, damping=damping, friction=friction))
        if zero:
            self.robot.initial_guess[name] = zero
        data: Data = {}
        if model.dof_armature[dof] > _LEAST:
            data["armature"] = float(model.dof_armature[dof])
        if model.jnt_stiffness[joint] > _LEAST:
            rest = float(model.qpos_spring[model.jnt_qposadr[joint]])
            data["spring"] = {"stiffness": float(model.jnt_stiffness[joint]), "rest": rest}
        if data:
            self.robot.joint_data[name] = data
        for polynomial in ("jnt_stiffnesspoly", "dof_dampingpoly"):
            index = joint if polynomial.startswith("jnt") else dof
            if np.any(getattr(model, polynomial, np.zeros((model.nv + model.njnt, 1)))[index]):
                self.robot.lost(f"joint {name}", f"higher powers of {polynomial[4:-4]}")


def shapes(source: Compiled, robot: ImportedRobot) -> Iterator[tuple[int, urdf.Visual]]:
    """The shapes with the numbers of their bodies; what URDF cannot draw becomes remarks."""
    model, kinds = source.model, source.mujoco.mjtGeom
    for index in range(model.ngeom):
        body = int(model.geom_bodyid[index])
        pose = pose_of(model.geom_pos[index], model.geom_quat[index])
        colour = tuple(float(value) for value in model.geom_rgba[index])
        parts = list(_parts(kinds, model.geom_type[index], model.geom_size[index]))
        if not parts:
            kind = str(kinds(int(model.geom_type[index])).name).removeprefix("mjGEOM_").lower()
            robot.lost(f"geom {source.of('geom', index)}", f"its shape ({kind}) is not drawn")
        for offset, shape in parts:
            yield body, urdf.Visual(source.body(body), urdf.compose(pose, offset), shape, colour)


def _parts(kinds: Any, kind: int, size: Any) -> Iterator[tuple[urdf.Pose, urdf.Shape]]:
    a, b, c = (float(value) for value in size)
    if kind == kinds.mjGEOM_BOX:
        yield urdf.Pose(), urdf.Box((2.0 * a, 2.0 * b, 2.0 * c))
    elif kind == kinds.mjGEOM_SPHERE:
        yield urdf.Pose(), urdf.Sphere(a)
    elif kind in (int(kinds.mjGEOM_CYLINDER), int(kinds.mjGEOM_CAPSULE)):
        yield urdf.Pose(), urdf.Cylinder(a, 2.0 * b)
        if kind == kinds.mjGEOM_CAPSULE:
            for end in (b, -b):
                yield urdf.Pose(np.array([0.0, 0.0, end])), urdf.Sphere(a)
