# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""MJCF read by MuJoCo: its mass matrix, its bias forces, its rows; solved here, not by MuJoCo."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from scipy.spatial.transform import Rotation

from support.zoo.maximal import Motion

#: Of the singular values of MuJoCo's rows, which repeat each other in planar loops; the file of
#: toddlerbot closes its loops to 3e-8 m only.
RANK = 1e-6
_STEP = 1e-3  # s, of central differences: an error of its fourth power


class MujocoReading:
    """A compiled model without meshes, contacts, limits, friction and damping."""

    def __init__(self, path: Path) -> None:
        self.mujoco: Any = importlib.import_module("mujoco")
        self.model = _compiled(self.mujoco, path)
        self.data = self.mujoco.MjData(self.model)
        self.bodies = [self.model.body(k).name or f"body_{k}" for k in range(self.model.nbody)]

    def place(self, motions: dict[str, Motion], joint_positions: dict[str, float]) -> None:
        """Take over a state: single joints by name, others from the bodies."""
        model, data, mujoco = self.model, self.data, self.mujoco
        for j in range(model.njnt):
            at, body = model.jnt_qposadr[j], model.jnt_bodyid[j]
            kind, name = model.jnt_type[j], self._joint(j)
            pose = motions[self.body(body)].pose if kind < 2 else None
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                data.qpos[at : at + 3] = pose.p
                data.qpos[at + 3 : at + 7] = _wxyz(pose.R)
            elif kind == mujoco.mjtJoint.mjJNT_BALL:
                parent = motions[self.body(model.body_parentid[body])].pose.R
                w, x, y, z = model.body_quat[body]
                fixed = Rotation.from_quat([x, y, z, w]).as_matrix()
                data.qpos[at : at + 4] = _wxyz(fixed.T @ parent.T @ pose.R)
            else:
                data.qpos[at] = joint_positions[name]
        mujoco.mj_forward(model, data)
        names = [n for n in motions if n != "world"]
        rows, wanted = [], []
        for name in names:
            body = self.bodies.index(name)
            linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
            mujoco.mj_jacBodyCom(model, data, linear, angular, body)
            rows += [linear, angular]
            wanted += [motions[name].velocity, motions[name].spin]
        matrix, right = np.vstack(rows), np.concatenate(wanted)
        data.qvel[:] = np.linalg.lstsq(matrix, right, rcond=None)[0]
        self.misplaced = float(np.abs(matrix @ data.qvel - right).max())
        for name in names:  # velocities agree, and so do places
            error = np.abs(data.xpos[self.bodies.index(name)] - motions[name].pose.p).max()
            turn = np.abs(
                data.xmat[self.bodies.index(name)].reshape(3, 3) - motions[name].pose.R
            ).max()
            self.misplaced = max(self.misplaced, float(error), float(turn))
        mujoco.mj_forward(model, data)
        self.names = names

    def body(self, index: int) -> str:
        """Its name, or its number."""
        return self.bodies[index]

    def _joint(self, j: int) -> str:
        body = self.body(self.model.jnt_bodyid[j])
        return self.model.joint(j).name or f"{body}_joint_{j}"

    def rows(self) -> np.ndarray:
        """Of the equalities that are active."""
        kept = self.data.efc_type == self.mujoco.mjtConstraint.mjCNSTR_EQUALITY
        return self.data.efc_J.reshape(-1, self.model.nv)[: len(kept)][kept].copy()

    def solve(self) -> None:
        """Accelerations by Gauss's principle under MuJoCo's equalities."""
        mujoco, model, data = self.mujoco, self.model, self.data
        qpos, qvel = data.qpos.copy(), data.qvel.copy()
        self.residual = float(np.abs(data.efc_pos[: len(self.rows())]).max(initial=0.0))
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        force = data.qfrc_passive - data.qfrc_bias
        A = self.rows()
        turned = {}
        for k in (-2, -1, 1, 2):
            data.qpos[:] = qpos
            mujoco.mj_integratePos(model, data.qpos, qvel, k * _STEP)
            mujoco.mj_forward(model, data)
            turned[k] = self.rows() @ qvel
        b = -(turned[-2] - 8.0 * turned[-1] + 8.0 * turned[1] - turned[2]) / (12.0 * _STEP)
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(model, data)
        _, s, vt = np.linalg.svd(A) if len(A) else (None, np.zeros(0), np.eye(model.nv))
        self.rank = int((s > RANK * s[0]).sum()) if len(s) else 0
        self.mobility = model.nv - self.rank
        free = vt[self.rank :].T
        a = np.linalg.pinv(A, rcond=RANK) @ b if len(A) else np.zeros(model.nv)
        reduced = free.T @ mass @ free
        if free.shape[1]:
            a = a + free @ np.linalg.solve(reduced, free.T @ (force - mass @ a))
        self.qacc = a

    def accelerations(self) -> dict[str, np.ndarray]:
        """Of the centres of mass and angular, (6,), by body."""
        mujoco, model, data = self.mujoco, self.model, self.data
        data.qacc[:] = self.qacc
        mujoco.mj_rnePostConstraint(model, data)
        found = {}
        for name in self.names:
            both = np.zeros(6)
            body = self.bodies.index(name)
            mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_BODY, body, both, 0)
            found[name] = np.concatenate([both[3:] + self._gravity(), both[:3]])
        return found

    def _gravity(self) -> np.ndarray:
        off = self.model.opt.disableflags & int(self.mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        return np.zeros(3) if off else np.array(self.model.opt.gravity)


def _compiled(mujoco: Any, path: Path) -> Any:
    """The model without what is drawn from files that are not there, and without dissipation."""
    root = ET.parse(path).getroot()
    for include in list(root.iter("include")):
        parent = next(node for node in root.iter() if include in list(node))
        at = list(parent).index(include)
        parent.remove(include)
        included = ET.parse(path.with_name(include.get("file"))).getroot()
        for k, part in enumerate(included):
            parent.insert(at + k, part)
    for node in list(root.iter()):
        for child in list(node):
            shape = child.tag == "geom" and (child.get("mesh") or child.get("type") == "mesh")
            if shape or child.tag in ("asset", "keyframe", "sensor", "visual", "statistic"):
                node.remove(child)
            elif child.get("material"):
                del child.attrib["material"]
    for node in root.iter("default"):
        for child in list(node):
            if child.tag == "geom" and child.get("type") == "mesh":
                node.remove(child)
    for node in list(root.iter("exclude")) + list(root.iter("pair")):
        next(p for p in root.iter() if node in list(p)).remove(node)
    for compiler in root.iter("compiler"):
        compiler.attrib.pop("meshdir", None)
        compiler.attrib.pop("texturedir", None)
    model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= int(flags.mjDSBL_CONTACT) | int(flags.mjDSBL_LIMIT)
    model.opt.disableflags |= int(flags.mjDSBL_FRICTIONLOSS)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model.dof_damping[:], model.dof_frictionloss[:] = 0.0, 0.0
    model.body_gravcomp[:] = 0.0
    model.opt.viscosity = model.opt.density = 0.0
    return model


def _wxyz(rotation: np.ndarray) -> np.ndarray:
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return np.array([w, x, y, z])
