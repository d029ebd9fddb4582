# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine that touches the ground in Newton's ``SolverKamino``, on the processor.

Hinges and slides, balls and welds for loops, implicit drives for springs and damping, spheres on a
plane, all in single precision; the solver as it is by default, with its own collision detector.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.kinematics import Body
from uk_dynamics_studies.benchmarks.peers.ground import (
    ground_of,
    passive_joints,
    placed_on,
    without_contacts,
)
from uk_dynamics_studies.benchmarks.peers.peer import (
    CLOSURES,
    PeerError,
    closure,
    load,
)

_SIZES = {"floating": (7, 6), "planar": (4, 3)}  # positions and velocities


class KaminoSteps:
    """One mechanism in Newton, from its start on without motors."""

    def __init__(self, mechanism: Mechanism, step: float, smallest: float) -> None:
        """Convert the mechanism, and compile what a step needs.

        Args:
            mechanism: What moves.
            step: In s.
            smallest: Radius of what is a point, in m.

        Raises:
            PeerError: Newton is not installed, or has no counterpart of something.
        """
        self._newton, self._warp = load("newton", "Newton"), load("warp", "Newton's Warp")
        self._warp.config.log_level = self._warp.LOG_WARNING
        self._mechanism, self._step, self._smallest = mechanism, step, smallest
        self._bodies = mechanism.model.bodies
        sizes = [(_SIZES.get(body.kind, (1, 1)), body) for body in self._bodies]
        self._places = [body.position + k for (size, _), body in sizes for k in range(size)]
        self._rates = [body.velocity + k for (_, size), body in sizes for k in range(size)]
        self._model = self._converted()
        self._config = self._newton.solvers.SolverKamino.Config.from_model(self._model)
        self._config.use_collision_detector, self._config.use_fk_solver = True, False
        self._config.collect_solver_info = False
        self.run(3 * step, 1, lambda _: None)

    def run(
        self, duration: float, samples: int, see: Callable[[State], object]
    ) -> tuple[list[float], float]:
        """Seconds that the motion takes to each of the samples, and by how much joints open, in m.

        ``see`` gets them: positions and velocities that joints have between bodies.
        """
        model, start = self._model, self._mechanism.start()
        solver = self._newton.solvers.SolverKamino(model=model, config=self._config)
        old, new, control = model.state(), model.state(), model.control()
        spent, opened = [], 0.0
        q, chunk = start.q, round(duration / self._step / samples)
        for k in range(1, samples + 1):
            begin = time.process_time()
            for _ in range(chunk):
                solver.step(old, new, control, None, self._step)
                old, new = new, old
            spent.append(time.process_time() - begin)
            q, v = self._read(old, q)
            opened = max(opened, self._opened(old.body_q.numpy().astype(float), q))
            see(State(start.t + k * chunk * self._step, q, v))
        return spent, opened

    def _read(self, state: Any, near: Array) -> tuple[Array, Array]:
        """Positions, of angles those nearest to these, and velocities."""
        found = [self._warp.zeros_like(x) for x in (self._model.joint_q, self._model.joint_qd)]
        self._newton.eval_ik(self._model, state, *found)
        q, v = near.copy(), np.zeros(len(self._rates))
        q[self._places] = found[0].numpy()[: len(self._places)]
        v[self._rates] = found[1].numpy()[: len(self._rates)]
        for body in self._bodies:
            if body.kind == "revolute":
                at = body.position
                q[at] += 2.0 * np.pi * np.round((near[at] - q[at]) / (2.0 * np.pi))
            elif body.kind == "floating":
                quaternion = q[body.position + 3 : body.position + 7]
                quaternion /= np.linalg.norm(quaternion)
        return q, self._turned(q, v, back=True)

    def _turned(self, q: Array, v: Array, *, back: bool) -> Array:
        """Velocities of floating bodies: of the centre of mass in axes of the world there."""
        v = v.copy()
        for body in self._bodies:
            if body.kind == "floating":
                at = body.velocity
                attitude = Rotation.from_quat(q[body.position + 3 : body.position + 7])
                linear, angular = v[at : at + 3], v[at + 3 : at + 6]
                if back:
                    linear, angular = attitude.apply([linear, angular], inverse=True)
                    linear = linear - np.cross(angular, body.center)
                else:
                    linear = linear + np.cross(angular, body.center)
                    linear, angular = attitude.apply([linear, angular])
                v[at : at + 6] = *linear, *angular
        return v

    def _opened(self, places: Array, q: Array) -> float:
        """Largest distance of the two places that a joint of the tree holds together."""
        apart = 0.0
        for body, place in zip(self._bodies, places, strict=True):
            if body.kind == "floating":
                continue
            at = body.translation
            if body.kind == "prismatic":
                at = at + body.rotation @ (q[body.position] * body.axis)
            if body.parent >= 0:
                carrier = places[body.parent]
                at = carrier[:3] + Rotation.from_quat(carrier[3:]).apply(at)
            apart = max(apart, float(np.linalg.norm(at - place[:3])))
        return apart

    def _converted(self) -> Any:
        """The model in Newton."""
        newton, wp, mechanism = self._newton, self._warp, self._mechanism
        model = mechanism.model
        gravity = wp.vec3(*model.gravity)
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=gravity)
        newton.solvers.SolverKamino.register_custom_attributes(builder)
        passive = passive_joints(mechanism, "Kamino")
        names = dict(zip(model.velocity_of_joint.tolist(), model.joint_names, strict=True))
        for body in self._bodies:
            name = names.get(body.velocity, "the base")
            if not body.mass:
                raise PeerError(f"Kamino has no links without mass, as the one of {name}")
            if body.kind == "planar":
                raise PeerError(f"{name}: a planar joint has other coordinates in Kamino")
            inertia = wp.mat33(*np.ravel(body.inertia))
            builder.add_link(mass=body.mass, com=wp.vec3(*body.center), inertia=inertia)
        joints = [
            self._joint(builder, k, body, *map(float, passive[body.velocity]))
            for k, body in enumerate(self._bodies)
        ]
        builder.add_articulation(joints)
        start = mechanism.start()
        builder.joint_q[:] = start.q[self._places].tolist()
        builder.joint_qd[:] = self._turned(start.q, start.v, back=False)[self._rates].tolist()
        for constraint in without_contacts(mechanism):
            if constraint.kind not in CLOSURES:
                raise PeerError(f"Kamino has no {constraint.kind}, as {constraint.name} is")
            kind, _ = closure(mechanism, constraint)
            frames = [x for x in (constraint.parent, constraint.child) if x is not None]
            ends = [model.body_frames[frame] for frame in frames]
            add = builder.add_joint_ball if kind == "point" else builder.add_joint_fixed
            first, second = (self._pose(end.rotation, end.translation) for end in ends)
            add(ends[0].body, ends[1].body, parent_xform=first, child_xform=second)
        ground, friction = ground_of(mechanism, "Kamino")
        shape = newton.ModelBuilder.ShapeConfig(mu=friction, density=0.0, margin=0.0, gap=0.0)
        on, *there = placed_on(mechanism, ground)
        place = self._pose(*there)
        builder.add_shape_plane(None, body=on, xform=place, width=0.0, length=0.0, cfg=shape)
        for contact in mechanism.spec.contacts:
            on, *there = placed_on(mechanism, contact.child)
            radius = max(contact.radius, self._smallest)
            builder.add_shape_sphere(on, xform=self._pose(*there), radius=radius, cfg=shape)
        converted = builder.finalize(device="cpu", skip_validation_joints=True)
        newton.eval_fk(converted, converted.joint_q, converted.joint_qd, converted)
        return converted

    def _joint(
        self, builder: Any, number: int, body: Body, damping: float, stiffness: float, rest: float
    ) -> int:
        place = self._pose(body.rotation, body.translation)
        if body.kind == "floating":
            return int(builder.add_joint_free(number, parent=body.parent, parent_xform=place))
        turns = body.kind == "revolute"
        add = builder.add_joint_revolute if turns else builder.add_joint_prismatic
        drive: dict[str, Any] = {}
        if damping or stiffness:
            drive = {"target_ke": stiffness, "target_q": rest}
            drive |= {"target_kd": damping, "target_qd": 0.0}
            drive["actuator_mode"] = self._newton.JointTargetMode.POSITION_VELOCITY
        added: int = add(
            body.parent,
            number,
            parent_xform=place,
            axis=self._warp.vec3(*body.axis),
            armature=float(self._mechanism.model.armature[body.velocity]),
            limit_lower=-1e6,
            limit_upper=1e6,
            **drive,
        )
        return added

    def _pose(self, rotation: Array, translation: Array) -> Any:
        wp = self._warp
        quaternion = Rotation.from_matrix(rotation).as_quat()
        return wp.transform(wp.vec3(*translation), wp.quat(*quaternion))
