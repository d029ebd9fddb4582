# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inverse and forward kinematics: configurations with a frame at a pose, or motors at positions.

Both are tasks in the sense of the package, led to their references through closed configurations
(see :mod:`uk_dynamics.mechanism.assembly`), and searched for from many starts where all branches
are wanted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.exceptions import AssemblyError, InputError, UnknownNameError, expect_names
from uk_dynamics.mechanism.assembly.assembly import assemble_on_tasks, free_velocities
from uk_dynamics.mechanism.assembly.assembly_search import Assembly, Search
from uk_dynamics.mechanism.kinematics.loop_motion import LoopMotion, Positions, states_of
from uk_dynamics.mechanism.resolution.named_values import Point, split_point
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.mechanism.tasks import Tasks

POSE = ("x", "y", "z", "rx", "ry", "rz")
STARTS = 64
_SAME = 1e-5  # rad, or part of the machine's size
_OTHER_STARTS = 8  # of a single solution, before it is called out of reach
_OPEN = 1e-6  # of a motion that neither loops nor tasks hold
_SPREAD = 3.0  # machine sizes: of sliding joints without limits in random starts


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


class ConfigurationSearch:
    """Looks for configurations on loops and tasks, within the joint limits."""

    def __init__(
        self, mechanism: ResolvedMechanism, seed: Positions, hold: Iterable[str] = ()
    ) -> None:
        self._mechanism = mechanism
        (state, *_), many = states_of(mechanism, seed)
        if many:
            raise InputError("expected one configuration", place="seed")
        self.seed = state.q  # where the search for one solution begins, (nq,)
        self._hold = tuple(hold)
        self._free = free_velocities(mechanism, self._hold)

    def nearest(self, tasks: Tasks, problem: str) -> Array:
        """The solution on the branch of the seed, or else one from other starts.

        Raises:
            AssemblyError: There is none, with how much is missing where it came closest.
        """
        mechanism = self._mechanism
        found = assemble_on_tasks(mechanism, tasks, self.seed, self._hold)
        if found.closed and not found.limit_violations:
            return found.q
        best = found
        search = Search(mechanism, self._free, 0.0, tasks)
        for start in self._starts(_OTHER_STARTS):
            other = search.run(start, mechanism.closure_tolerance, within_limits=True)
            if other.closed:
                return other.q
        self._raise(best, tasks, problem)
        raise AssertionError

    def branches(self, tasks: Tasks, starts: int) -> Array:
        """All solutions that are found from many starts, nearest to the seed first, (k, nq).

        Raises:
            AssemblyError: There is none.
            InputError: There are infinitely many.
        """
        mechanism, model = self._mechanism, self._mechanism.model
        search = Search(mechanism, self._free, 0.0, tasks)
        first = self.nearest(tasks, "there is no solution")
        self.check_determined(first, tasks, "there are infinitely many solutions")
        found = [first]
        for start in self._starts(starts):
            other = search.run(start, mechanism.closure_tolerance, within_limits=True)
            if other.closed and not any(self._same(other.q, q) for q in found):
                found.append(other.q)
        ways = [np.linalg.norm(model.difference(self.seed, q)) for q in found]
        return np.array([found[k] for k in np.argsort(ways)])

    def check_determined(self, q: Array, tasks: Tasks, problem: str) -> None:
        """Refuse solutions that are not isolated.

        Raises:
            InputError: Motions are left, with their number and the joints that move most.
        """
        motion = LoopMotion(self._mechanism)
        motion.update(q)
        free = motion.basis(of_positions=True)
        held = [self._mechanism.model.velocity_index(n) for n in self._hold]
        workspace = tasks.model.workspace()
        workspace.update_positions(q)
        A, _ = tasks.constraints.position(workspace, 0.0, q, tasks.sample(0.0))
        rows = np.vstack(
            [A[tasks.constraints.position_rows] * motion.unit, np.eye(len(free))[held]]
        )
        _, values, directions = np.linalg.svd(rows @ free)
        rank = int(np.count_nonzero(values > _OPEN * values.max(initial=1.0)))
        left = free.shape[1] - rank
        if not left:
            return
        moving = np.linalg.norm(free @ directions[rank:].T, axis=1)
        names = self._mechanism.model.velocity_names
        shown = ", ".join(names[k] for k in np.argsort(-moving)[:3] if moving[k] > _OPEN)
        rolling = "; rows of velocities, as of rolling, hold no position" * motion.nonholonomic
        raise InputError(
            f"{problem}: {left} freedom{'s' * (left > 1)} stay{'s' * (left == 1)} open"
            f" ({shown}){rolling}; hold joints, or give more",
            place=self._mechanism.name,
        )

    def _raise(self, found: Assembly, tasks: Tasks, problem: str) -> None:
        mechanism, violations = self._mechanism, dict(found.violations)
        parts = [name.rpartition(".")[2] for name in tasks.row_names]
        if set(violations) <= set(tasks.names) and set(parts) & set(POSE):
            workspace = tasks.model.workspace()
            workspace.update_positions(found.q)
            sample = tasks.sample(0.0)
            _, error = tasks.constraints.position(workspace, 0.0, found.q, sample)
            error = error / tasks.constraints.reference_scale
            turning = np.array([part in POSE[3:] for part in parts])
            missing = {"position": error[~turning], "orientation": error[turning]}
            violations = {n: float(np.linalg.norm(e)) for n, e in missing.items() if len(e)}
        raise AssemblyError(
            found.reason,
            violations,
            mechanism.model.positions_by_name(found.q),
            problem=problem,
            file=mechanism.spec.file,
        )

    def _starts(self, count: int) -> list[Array]:
        """Random configurations within limits; held joints stay as at the seed."""
        mechanism, model = self._mechanism, self._mechanism.model
        rng = np.random.default_rng(0)
        span = np.where(model.slides, 0.5 * _SPREAD * mechanism.size, np.pi)
        lower, upper = model.lower, model.upper
        bounded = np.isfinite(lower) & np.isfinite(upper)
        at = np.zeros(model.nv)
        at[model.velocity_of_joint] = self.seed[model.position_of_joint]
        low = np.where(bounded, lower - at, -span)
        high = np.where(bounded, upper - at, span)
        narrow = bounded & (high - low > 4.0 * span)  # a limit of many turns is none
        low, high = np.where(narrow, -span, low), np.where(narrow, span, high)
        ways = [np.where(self._free, rng.uniform(low, high), 0.0) for _ in range(count)]
        return [model.integrate(self.seed, way) for way in ways]

    def _same(self, a: Array, b: Array) -> bool:
        """Whether two configurations are one, full turns of unlimited joints aside."""
        model = self._mechanism.model
        way = model.difference(a, b)
        for body in model.bodies:
            if body.kind == "revolute" and not np.isfinite(model.lower[body.velocity]):
                angle = way[body.velocity]
                way[body.velocity] = angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
        size = max(1.0, self._mechanism.size)
        return bool(np.abs(way).max(initial=0.0) < _SAME * size)


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
