# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanisms of ours written as SDF and MJCF, from plain numbers: what import is tested against."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.spatial.transform import Rotation

from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.kinematics.bodies import Body

LEAST = 1e-13  # kg and kg m²: MuJoCo takes no bodies without mass


def without_armature(mechanism: Mechanism) -> Mechanism:
    """The same machine for a format that knows no rotor inertia."""
    spec = mechanism.spec
    joints = tuple((name, dataclasses.replace(data, armature=0.0)) for name, data in spec.joints)
    return Mechanism.from_spec(dataclasses.replace(spec, joints=joints))


def numbers(values) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(values))


def mjcf(mechanism: Mechanism) -> str:
    """As MJCF, each loop closed by a ``connect`` of two sites."""
    model = mechanism.model
    found = model.bodies
    frames = model.body_frames
    children: dict[int, list[int]] = {}
    for index, body in enumerate(found):
        children.setdefault(body.parent, []).append(index)
    sites: dict[int, list[str]] = {}
    equalities = ""
    for constraint in mechanism.constraints.constraints:
        names = []
        for role, frame in (("p", constraint.parent), ("c", constraint.child)):
            name = f"{constraint.name}_{role}"
            place = numbers(frames[frame].translation)
            sites.setdefault(frames[frame].body, []).append(f'<site name="{name}" pos="{place}"/>')
            names.append(name)
        equalities += f'<connect name="{constraint.name}" site1="{names[0]}" site2="{names[1]}"/>'

    def write(index: int) -> str:
        body = found[index]
        inner = "".join(sites.get(index, [])) + "".join(map(write, children.get(index, [])))
        pose = f'pos="{numbers(body.translation)}" quat="{_wxyz(body.rotation)}"'
        return (
            f'<body name="b{index}" {pose}>'
            f"{_mjcf_joint(mechanism, body)}{_mjcf_inertia(body)}{inner}</body>"
        )

    world = "".join(sites.get(-1, [])) + "".join(map(write, children.get(-1, [])))
    motors = "".join(
        f'<motor name="m{i}" joint="{model.velocity_names[int(np.argmax(column))]}"/>'
        for i, column in enumerate(mechanism.actuators.matrix.T)
    )
    return (
        f'<mujoco model="{mechanism.name}"><compiler angle="radian" autolimits="false"/>'
        f'<option gravity="{numbers(model.gravity)}"/><worldbody>{world}</worldbody>'
        f"<equality>{equalities}</equality><actuator>{motors}</actuator></mujoco>"
    )


def _mjcf_joint(mechanism: Mechanism, body: Body) -> str:
    model, at = mechanism.model, body.velocity
    kind = "hinge" if body.kind == "revolute" else "slide"
    return (
        f'<joint name="{model.velocity_names[at]}" type="{kind}" axis="{numbers(body.axis)}"'
        f' damping="{float(model.damping[at])!r}" armature="{float(model.armature[at])!r}"/>'
    )


def _mjcf_inertia(body: Body) -> str:
    inertia = body.inertia + LEAST * np.eye(3)
    six = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return (
        f'<inertial pos="{numbers(body.center)}" mass="{max(body.mass, LEAST)!r}"'
        f' fullinertia="{numbers(six)}"/>'
    )


def _wxyz(rotation) -> str:
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return numbers([w, x, y, z])


def sdf(mechanism: Mechanism, q, *, loops_first: bool = False) -> str:
    """As SDF, drawn at a closed configuration (nq,), loops closed by joints of their own.

    A pin of a planar mechanism is a hinge across the plane, a point a ball joint.
    """
    model = mechanism.model
    found = model.bodies
    frames = model.body_frames
    poses: list[tuple[np.ndarray, np.ndarray]] = []
    links = tree = loops = ""
    for index, body in enumerate(found):
        rotation, translation = (np.eye(3), np.zeros(3)) if body.parent < 0 else poses[body.parent]
        translation = translation + rotation @ body.translation
        rotation = rotation @ body.rotation
        position = float(q[body.position])
        if body.kind == "revolute":
            rotation = rotation @ Rotation.from_rotvec(position * body.axis).as_matrix()
        else:
            translation = translation + rotation @ (position * body.axis)
        poses.append((rotation, translation))
        links += _sdf_link(index, body, rotation, translation)
        tree += _sdf_joint(mechanism, index, body)
    for constraint in mechanism.constraints.constraints:
        ends = [frames[frame] for frame in (constraint.parent, constraint.child)]
        names = [f"b{end.body}" if end.body >= 0 else "world" for end in ends]
        end = ends[1]
        pose = _pose(np.asarray(end.rotation), end.translation)
        kind = "ball" if constraint.kind == "point" else "revolute"
        axis = end.rotation.T @ poses[end.body][0].T @ np.array([0.0, 1.0, 0.0])
        axis_text = f"<axis><xyz>{numbers(axis)}</xyz></axis>" if kind == "revolute" else ""
        loops += (
            f'<joint name="{constraint.name}" type="{kind}"><parent>{names[0]}</parent>'
            f"<child>{names[1]}</child>{pose}{axis_text}</joint>"
        )
    joints = loops + tree if loops_first else tree + loops
    return (
        f'<sdf version="1.9"><world name="w"><gravity>{numbers(model.gravity)}</gravity>'
        f'<model name="{mechanism.name}">{links}{joints}</model></world></sdf>'
    )


def _sdf_link(index: int, body: Body, rotation, translation) -> str:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia.tolist()
    moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    inertia = "".join(f"<{name}>{value!r}</{name}>" for name, value in moments.items())
    return (
        f'<link name="b{index}">{_pose(rotation, translation)}<inertial>'
        f"{_pose(np.eye(3), body.center)}<mass>{body.mass!r}</mass>"
        f"<inertia>{inertia}</inertia></inertial></link>"
    )


def _sdf_joint(mechanism: Mechanism, index: int, body: Body) -> str:
    model = mechanism.model
    parent = f"b{body.parent}" if body.parent >= 0 else "world"
    damping = float(model.damping[body.velocity])
    return (
        f'<joint name="{model.velocity_names[body.velocity]}" type="{body.kind}">'
        f"<parent>{parent}</parent><child>b{index}</child><axis><xyz>{numbers(body.axis)}</xyz>"
        f"<dynamics><damping>{damping!r}</damping></dynamics></axis></joint>"
    )


def _pose(rotation, translation) -> str:
    quaternion = Rotation.from_matrix(rotation).as_quat()
    return f'<pose rotation_format="quat_xyzw">{numbers(translation)} {numbers(quaternion)}</pose>'
