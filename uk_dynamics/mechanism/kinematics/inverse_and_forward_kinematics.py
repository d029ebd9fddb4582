# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inverse and forward kinematics: configurations with a frame at a pose, or motors at positions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.exceptions import InputError, UnknownNameError, expect_names
from uk_dynamics.mechanism.kinematics.configuration_search import POSE, STARTS, ConfigurationSearch
from uk_dynamics.mechanism.kinematics.loop_motion import Positions
from uk_dynamics.mechanism.resolution.named_values import Point, split_point
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.mechanism.tasks import Tasks


def inverse_kinematics(  # noqa: D417 - a method of mechanisms
    mechanism: ResolvedMechanism,
    frame: Point,
    pose: object = None,
    *,
    position: ArrayLike | None = None,
    orientation: ArrayLike | None = None,
    axes: Sequence[str] | None = None,
    seed: Positions = None,
    hold: Iterable[str] = (),
    branches: bool = False,
    starts: int = STARTS,
) -> Array:
    """Configurations with a frame at a pose in the world, loops closed, within joint limits.

    From the seed the frame is led to the pose in steps, so that the branch is that of the seed;
    where that fails, other starts are tried. Of many poses each starts at the one before.

    Args:
        frame: A link, or a point in it.
        pose: Homogeneous matrix (4, 4) or (K, 4, 4), a ``pinocchio.SE3``, or what
            ``mechanism.pose`` returns.
        position: Instead of a pose: (3,) or (K, 3), in m; the orientation is free.
        orientation: Likewise (3, 3) or (K, 3, 3), alone or with a position.
        axes: Components that count, of x, y, z and, as a rotation vector, rx, ry, rz; None: all
            that are given.
        seed: Where to begin.
        hold: Joints that stay as they are in the seed.
        branches: Find all solutions, from many random starts. There may be more than are
            found.
        starts: How many.

    Returns:
        (nq,), (K, nq) for many poses, or with branches (k, nq), nearest to the seed first.

    Raises:
        AssemblyError: Out of reach; ``violations`` says by how much, in m and rad.
        InputError: With branches: the solutions are not isolated; or numbers that are no pose.
    """
    places, rotations, many = _targets(pose, position, orientation)
    chosen = _axes(axes, places is not None, rotations is not None)
    search = ConfigurationSearch(mechanism, seed, hold)
    count = max(len(x) for x in (places, rotations) if x is not None)
    if many and branches:
        raise InputError("expected one pose, of which all branches are found", place="pose")
    found = []
    for k in range(count):
        place = None if places is None else places[k]
        rotation = None if rotations is None else rotations[k]
        tasks = _pose_task(mechanism, frame, place, rotation, chosen)
        what = f"{split_point(frame)[0]} does not reach the pose" + f" number {k}" * many
        if branches:
            return search.branches(tasks, starts)
        found.append(search.nearest(tasks, what))
        search.seed = found[-1]
    return np.array(found) if many else found[0]


def forward_kinematics(  # noqa: D417 - a method of mechanisms
    mechanism: ResolvedMechanism,
    motors: Mapping[str, float] | ArrayLike,
    *,
    seed: Positions = None,
    hold: Iterable[str] = (),
    branches: bool = False,
    starts: int = STARTS,
) -> Array:
    """Configurations with the motors at positions, loops closed, within joint limits.

    Args:
        motors: Positions in rad or m by motor, Σ c q of its joints, or by joint; or of all
            motors, (motors,).
        seed: Where to begin; its branch is kept, where that is possible.
        hold: Joints that stay as they are in the seed.
        branches: Find all solutions (assembly modes), as in :meth:`inverse_kinematics`.
        starts: How many random starts.

    Returns:
        (nq,), or with branches (k, nq), nearest to the seed first.

    Raises:
        AssemblyError: The loops do not close there; says by how much.
        InputError: The motors do not determine the configuration.
        UnknownNameError: There is no such motor or joint.
    """
    if not isinstance(motors, Mapping):
        motors = dict(
            zip(mechanism.actuators.names, mechanism.actuators.efforts(motors), strict=True)
        )
    search = ConfigurationSearch(mechanism, seed, hold)
    tasks = _motor_tasks(mechanism, motors)
    if branches:
        return search.branches(tasks, starts)
    q = search.nearest(tasks, "the loops do not close with the motors at these positions")
    search.check_determined(q, tasks, "the motors do not determine the configuration")
    return q


def _pose_task(
    mechanism: ResolvedMechanism,
    frame: Point,
    place: Array | None,
    rotation: Array | None,
    axes: Sequence[str],
) -> Tasks:
    """The pose as a task of the kind ``frame``."""
    name, inside = split_point(frame)
    expect_names("link", (name,), mechanism.model.link_names)
    values = np.zeros(6)
    values[:3] = 0.0 if place is None else place
    values[3:] = 0.0 if rotation is None else so3.log(rotation)
    task: dict[str, Any] = {
        "type": "frame",
        "axes": list(axes),
        "parent": {"link": "world"},
        "child": {"link": name, "xyz": inside.tolist()},
        "reference": {
            "type": "constant",
            "value": [float(values[POSE.index(axis)]) for axis in axes],
        },
    }
    return Tasks.from_data({"tasks": {"pose": task}}, mechanism)


def _motor_tasks(mechanism: ResolvedMechanism, motors: Mapping[str, float]) -> Tasks:
    """Positions of motors, Σ c q of their joints, or of joints, as tasks."""
    known = {motor.name: motor.joints for motor in mechanism.spec.actuators}
    tasks: dict[str, Any] = {}
    for number, (name, value) in enumerate(motors.items()):
        joints = known.get(name, ((name, 1.0),))
        for joint, _ in joints:
            if joint not in mechanism.joint_names:
                raise UnknownNameError("motor with a position", name, tuple(known))
        tasks[f"motor_{number}"] = {
            "type": "joint_coupling",
            "joints": {joint: float(factor) for joint, factor in joints},
            "reference": {"type": "constant", "value": float(value)},
        }
    if not tasks:
        raise InputError("expected positions of motors, found none", place="motors")
    return Tasks.from_data({"tasks": tasks}, mechanism)


def _targets(
    pose: object, position: ArrayLike | None, orientation: ArrayLike | None
) -> tuple[Array | None, Array | None, bool]:
    """Positions (K, 3) and rotations (K, 3, 3), and whether many were given."""
    if pose is not None:
        if position is not None or orientation is not None:
            raise InputError("give a pose, or position and orientation, not both", place="pose")
        if isinstance(pose, tuple) and len(pose) == 2:
            position, orientation = pose
        else:
            try:
                matrix = np.asarray(getattr(pose, "homogeneous", pose), dtype=float)
            except (TypeError, ValueError):
                raise InputError(f"expected numbers, found {pose!r:.60}", place="pose") from None
            if matrix.shape[-2:] != (4, 4):
                problem = (
                    f"expected (4, 4), (K, 4, 4) or position and rotation, found {matrix.shape};"
                    " position=... leaves the orientation free"
                )
                raise InputError(problem, place="pose")
            position, orientation = matrix[..., :3, 3], matrix[..., :3, :3]
    if position is None and orientation is None:
        raise InputError("expected a pose, a position or an orientation", place="pose")
    places = None if position is None else _checked(position, (3,), "position")
    rotations = None if orientation is None else _checked(orientation, (3, 3), "orientation")
    for rotation in () if rotations is None else rotations:
        error = np.abs(rotation @ rotation.T - np.eye(3)).max()
        if error > 1e-6 or np.linalg.det(rotation) < 0.0:
            raise InputError("is no rotation matrix", place="orientation")
    many = any(np.ndim(x) > n for x, n in ((position, 1), (orientation, 2)) if x is not None)
    sizes = {len(x) for x in (places, rotations) if x is not None}
    if len(sizes) > 1:
        raise InputError("expected as many positions as orientations", place="pose")
    return places, rotations, many


def _checked(given: ArrayLike, shape: tuple[int, ...], place: str) -> Array:
    """Finite numbers, (K, *shape)."""
    numbers: NDArray[np.float64] = np.asarray(given, dtype=float)
    if numbers.shape[-len(shape) :] != shape or numbers.ndim > len(shape) + 1:
        raise InputError(f"expected {shape} or (K, …), found shape {numbers.shape}", place=place)
    if not np.isfinite(numbers).all():
        raise InputError("expected finite numbers", place=place)
    return numbers.reshape((-1, *shape))


def _axes(axes: Sequence[str] | None, has_place: bool, has_rotation: bool) -> tuple[str, ...]:
    given = POSE[:3] * has_place + POSE[3:] * has_rotation
    if axes is None:
        return given
    expect_names("axis of this pose", axes, given)
    if not axes:
        raise InputError("expected at least one axis", place="axes")
    return tuple(axes)
