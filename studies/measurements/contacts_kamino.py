# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines on the ground in Newton's ``SolverKamino`` on the CPU: time of a step, what it keeps.

``python studies/measurements/contacts_kamino.py [SECONDS]``, where ``UK_DYNAMICS_NEWTON_PYTHON``
names a Python with ``newton``. It has the same bodies, hinges and slides, balls for the pins of
planar loops, implicit drives for springs and damping, a sphere of 0.1 mm for each point, a plane.
Links without mass, which it refuses, weigh 1 g. It knows no couplings: the plantigrade machine has
no gears in it. A step of ours is timed in the same run, with gears. Kernels are compiled before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

STEP, SMALL = 1e-3, 1e-4  # s, m
_MACHINES = "landing_leg_contact", "examples/plantigrade/plantigrade.yaml"


def placed(bodies: list[dict[str, Any]], q: list[float]) -> list[tuple[Any, Any]]:
    """Rotation and origin of each body in the world, at positions of its joints."""
    found: list[tuple[Any, Any]] = []
    for body, x in zip(bodies, q, strict=True):
        turned, at = found[body["parent"]] if body["parent"] >= 0 else (np.eye(3), np.zeros(3))
        at = at + turned @ np.array(body["translation"])
        turned = turned @ np.array(body["rotation"])
        axis = np.array(body["axis"])
        if body["kind"] == "revolute":
            turned = turned @ Rotation.from_rotvec(x * axis).as_matrix()
        else:
            at = at + turned @ (x * axis)
        found.append((turned, at))
    return found


def kamino(machine: dict[str, Any], duration: float) -> dict[str, float]:
    """Run by the Python that has Newton."""
    import newton
    import warp as wp

    wp.config.quiet = True
    wp.init()
    kind, bodies = newton.solvers.SolverKamino, machine["bodies"]
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=wp.vec3(0.0, 0.0, -9.81))
    kind.register_custom_attributes(builder)
    shape = newton.ModelBuilder.ShapeConfig(
        mu=machine["friction"], density=0.0, margin=0.0, gap=0.0
    )

    def pose(rotation: Any, at: Any) -> Any:
        return wp.transform(wp.vec3(*at), wp.quat(*Rotation.from_matrix(rotation).as_quat()))

    start = placed(bodies, machine["q"])
    for body, there in zip(bodies, start, strict=True):
        inertia = wp.mat33(*np.ravel(body["inertia"]))
        builder.add_link(
            xform=pose(*there), mass=body["mass"], com=wp.vec3(*body["center"]), inertia=inertia
        )
    joints, ends = [], []
    for k, body in enumerate(bodies):
        add = (
            builder.add_joint_revolute
            if body["kind"] == "revolute"
            else builder.add_joint_prismatic
        )
        drive: dict[str, Any] = {}
        if body["stiffness"] or body["damping"]:
            drive = {"target_ke": body["stiffness"], "target_kd": body["damping"]}
            drive |= {"target_q": body["rest"], "target_qd": 0.0}
            drive["actuator_mode"] = newton.JointTargetMode.POSITION_VELOCITY
        at = pose(body["rotation"], body["translation"])
        joints.append(
            add(body["parent"], k, parent_xform=at, axis=wp.vec3(*body["axis"]),
                armature=body["armature"], limit_lower=-1e6, limit_upper=1e6, **drive)
        )  # fmt: skip
        if body["kind"] == "revolute":
            ends.append((body["parent"], body["translation"], k, [0.0, 0.0, 0.0]))
    builder.add_articulation(joints)
    builder.joint_q[:] = machine["q"]
    for parent, there, child, here in machine["pins"]:
        first, second = (wp.transform(wp.vec3(*x), wp.quat_identity()) for x in (there, here))
        builder.add_joint_ball(parent, child, parent_xform=first, child_xform=second)
        ends.append((parent, there, child, here))
    for body, point in machine["points"]:
        at = wp.transform(wp.vec3(*point), wp.quat_identity())
        builder.add_shape_sphere(body, xform=at, radius=SMALL, cfg=shape)
    builder.add_ground_plane(cfg=shape)
    model = builder.finalize(device="cpu", skip_validation_joints=True)
    config = kind.Config.from_model(model)
    config.use_collision_detector, config.use_fk_solver = True, False
    config.collect_solver_info = False

    def moved(steps: int, every: int) -> tuple[float, list[Any]]:
        solver = kind(model=model, config=config)
        old, new, control = model.state(), model.state(), model.control()
        spent, seen = 0.0, []
        for k in range(1, steps + 1):
            begin = time.process_time()
            solver.step(old, new, control, None, STEP)
            spent += time.process_time() - begin
            old, new = new, old
            if not k % every:
                seen.append((old.body_q.numpy().copy(), old.body_qd.numpy().copy()))
        return spent / steps, seen

    moved(3, 3)
    steps = round(duration / STEP)
    seconds, seen = moved(steps, 10)
    deepest = slip = opens = 0.0
    for q, v in seen:
        turned = Rotation.from_quat(q[:, 3:].astype(float)).as_matrix()

        def place(body: int, x: Any, q: Any = q, turned: Any = turned) -> Any:
            return np.array(x) if body < 0 else q[body, :3] + turned[body] @ x

        for parent, there, child, here in ends:
            opens = max(opens, float(np.linalg.norm(place(parent, there) - place(child, here))))
        slip = 0.0
        for body, x in machine["points"]:
            point = place(body, x)
            deepest = max(deepest, -float(point[2]))
            center = q[body, :3] + turned[body] @ np.array(bodies[body]["center"])
            speed = v[body, :3] + np.cross(v[body, 3:], point - center)
            if point[2] < 1e-3:
                slip = max(slip, float(np.hypot(*speed[:2])))
    top = [float(x) for x in seen[-1][0][0, :3]]
    return {"seconds": seconds, "deepest": deepest, "slip": slip, "opens": opens, "top": top}


def described(mechanism: Any) -> dict[str, Any]:
    """What Newton needs to know of a mechanism."""
    model, passive = mechanism.model, mechanism.passive
    rest, unit = np.zeros(model.nv), np.eye(model.nv)
    spring = passive.force(rest, rest)
    stiffness = np.diag([spring - passive.force(x, rest) for x in unit])
    damping = np.diag([spring - passive.force(rest, x) for x in unit])
    bodies = []
    for body in model.bodies:
        k = body.velocity
        bodies.append(
            {
                "parent": body.parent, "kind": body.kind, "axis": body.axis.tolist(),
                "rotation": body.rotation.tolist(), "translation": body.translation.tolist(),
                "mass": body.mass or 1e-3, "center": body.center.tolist(),
                "inertia": (body.inertia if body.mass else 1e-6 * np.eye(3)).tolist(),
                "stiffness": float(stiffness[k]), "damping": float(damping[k]),
                "rest": float(spring[k] / stiffness[k]) if stiffness[k] else 0.0,
                "armature": float(model.armature[k]),
            }
        )  # fmt: skip

    def on(frame: int, xyz: Any) -> tuple[int, list[float]]:
        link = model.body_frames[frame]
        return link.body, (link.translation + link.rotation @ np.asarray(xyz)).tolist()

    pins = [
        (*on(one.parent, np.zeros(3)), *on(one.child, np.zeros(3)))
        for one in mechanism.constraints.constraints
        if one.kind == "frame"
    ]
    points = [on(model.frame_index(x.child.link), x.child.xyz) for x in mechanism.spec.contacts]
    friction = mechanism.spec.contacts[0].friction
    q = mechanism.start().q.tolist()
    return {"bodies": bodies, "pins": pins, "points": points, "friction": friction, "q": q}


def main() -> None:
    """Both machines."""
    from uk_dynamics import Mechanism
    from uk_dynamics_studies.benchmarks.contact import in_contact

    duration = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    python = os.environ["UK_DYNAMICS_NEWTON_PYTHON"]
    for name in _MACHINES:
        mechanism = Mechanism.from_file(name)
        ours = next(x for x in in_contact(mechanism, duration, 3) if x.seconds)
        print(
            f"{name}: ours {1e6 * (ours.seconds or 0.0):.1f} µs, inside {ours.penetration:.2g} m,"
            f" slips {ours.slip:.2g} m/s, opens {ours.violation:.2g}", flush=True
        )  # fmt: skip
        run = [python, __file__, "--kamino", str(duration)]
        given = json.dumps(described(mechanism))
        told = subprocess.run(run, input=given, capture_output=True, text=True, check=False)
        if told.returncode:
            print(f"Kamino fails: {told.stderr.strip().splitlines()[-1]}")
            continue
        found = json.loads(told.stdout.strip().splitlines()[-1])
        print(
            f"  Kamino {1e6 * found['seconds']:.0f} µs, inside {found['deepest']:.2g} m, slips"
            f" {found['slip']:.2g} m/s, opens {found['opens']:.2g} m, first body at {found['top']}"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--kamino"]:
        print(json.dumps(kamino(json.load(sys.stdin), float(sys.argv[2]))))
    else:
        main()
