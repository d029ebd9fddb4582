# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""MuJoCo with the same bodies and joints, loops closed by equality constraints."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.kinematics import Body
from uk_dynamics_studies.benchmarks.peers.peer import closures, load, single_joints

# MuJoCo refuses moving bodies without mass; what this adds is below the check of the mass matrix.
_LEAST_MASS, _LEAST_INERTIA = 1e-13, 1e-13
# As hard as MuJoCo's constraints get: impedance, then time constant (s) and damping ratio.
_STIFF_IMPEDANCE = (0.9999, 0.9999, 0.001, 0.5, 2.0)
_STIFF_REFERENCE = (0.002, 1.0)


class MujocoPeer:
    """One mechanism in MuJoCo, with its default or its stiffest constraints."""

    def __init__(self, mechanism: Mechanism, *, stiff: bool = False, step: float = 1e-3) -> None:
        """Convert the mechanism."""
        mujoco = load("mujoco", "MuJoCo")
        self._mujoco = mujoco
        self._mechanism = mechanism
        self.model: Any = _convert(mujoco, mechanism, stiff=stiff, step=step).compile()
        self.data: Any = mujoco.MjData(self.model)

    def set(self, state: State, tau: Array) -> None:
        """Positions, velocities and forces, passive ones included."""
        passive = self._mechanism.passive.force(state.q, state.v)
        self.data.qpos[:], self.data.qvel[:] = state.q, state.v
        self.data.qfrc_applied[:] = tau + passive

    def mass_matrix(self, state: State) -> Array:
        """M, (nv, nv)."""
        self.set(state, np.zeros(self.model.nv))
        self._mujoco.mj_forward(self.model, self.data)
        full = np.zeros((self.model.nv, self.model.nv))
        self._mujoco.mj_fullM(self.model, self.data, full)
        return full

    def bias(self, state: State) -> Array:
        """Coriolis, centrifugal and gravity forces, (nv,)."""
        self.set(state, np.zeros(self.model.nv))
        self._mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qfrc_bias)

    def acceleration(self, state: State, tau: Array) -> Array:
        """Constrained acceleration under generalized forces, (nv,)."""
        self.set(state, tau)
        self.data.qacc_warmstart[:] = 0.0
        self._mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)

    def forward(self) -> None:
        """``mj_forward`` at what was set."""
        self._mujoco.mj_forward(self.model, self.data)

    def prepare_simulation(self) -> None:
        """Integrate by the classic Runge–Kutta method; a run that explodes is told by its energy.

        MuJoCo would say so too, in a file in the current directory.
        """
        self._mujoco.set_mju_user_warning(lambda _: None)
        self.model.opt.integrator = self._mujoco.mjtIntegrator.mjINT_RK4

    def step(self) -> None:
        """``mj_step``."""
        self._mujoco.mj_step(self.model, self.data)

    def steps_from(self, state: State, tau: Array, count: int = 100) -> Callable[[], None]:
        """A function that does ``mj_step`` along a motion, restarted every so many steps."""
        left = 0

        def step() -> None:
            nonlocal left
            if left == 0:
                self.set(state, tau)
                left = count
            left -= 1
            self._mujoco.mj_step(self.model, self.data)

        return step

    def rollout(self, q: Array, v: Array) -> Any:
        """One step from each of K states, on one thread, as a function without arguments."""
        rollout: Any = importlib.import_module("mujoco.rollout")
        count = len(q)
        initial = np.concatenate((np.zeros((count, 1)), q, v), axis=1)
        size = self._mujoco.mj_stateSize(self.model, self._mujoco.mjtState.mjSTATE_FULLPHYSICS)
        padded = np.zeros((count, size))
        padded[:, : initial.shape[1]] = initial
        return lambda: rollout.rollout(self.model, self.data, padded, nstep=1)


def _convert(mujoco: Any, mechanism: Mechanism, *, stiff: bool, step: float) -> Any:
    """A mechanism as a MuJoCo specification; as XML, MuJoCo reads no trees deeper than 500."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = step
    spec.option.gravity = mechanism.model.gravity
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    if stiff:
        spec.option.iterations, spec.option.tolerance = 200, 1e-14
    places = [spec.worldbody]
    for number, body in enumerate(single_joints(mechanism, "MuJoCo")):
        places.append(_add_body(mujoco, places[body.parent + 1], number, body, mechanism))
    frames = mechanism.model.body_frames
    sites: set[int] = set()
    for kind, constraint in closures(mechanism):
        ends = [frame for frame in (constraint.parent, constraint.child) if frame is not None]
        for frame in ends:
            if frame not in sites:
                sites.add(frame)
                places[frames[frame].body + 1].add_site(
                    name=f"site_{frame}",
                    pos=frames[frame].translation,
                    quat=_quaternion(frames[frame].rotation),
                )
        kinds = mujoco.mjtEq
        closing = spec.add_equality(
            type=kinds.mjEQ_CONNECT if kind == "point" else kinds.mjEQ_WELD,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=f"site_{ends[0]}",
            name2=f"site_{ends[1]}",
        )
        if stiff:
            closing.solimp, closing.solref = _STIFF_IMPEDANCE, _STIFF_REFERENCE
    return spec


def _add_body(mujoco: Any, parent: Any, number: int, body: Body, mechanism: Mechanism) -> Any:
    inertia = body.inertia + _LEAST_INERTIA * np.eye(3)
    element = parent.add_body(
        name=f"body_{number}",
        pos=body.translation,
        quat=_quaternion(body.rotation),
        explicitinertial=True,
        ipos=body.center,
        mass=max(body.mass, _LEAST_MASS),
        fullinertia=inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
    )
    kinds = mujoco.mjtJoint
    element.add_joint(
        type=kinds.mjJNT_HINGE if body.kind == "revolute" else kinds.mjJNT_SLIDE,
        axis=body.axis,
        armature=float(mechanism.model.armature[body.velocity]),
    )
    return element


def _quaternion(rotation: Array) -> Array:
    """As w x y z."""
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return np.array([w, x, y, z])
