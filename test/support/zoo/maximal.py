# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanisms in maximal coordinates: free bodies, every joint a set of rows.

The opposite of the package's way (a tree of joints, loops cut), in NumPy alone: no Pinocchio, no
cuts, no coordinates of joints. Accelerations follow from Gauss's principle in the null space of all
rows, so that redundant rows and bodies without mass do no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

WORLD = "world"


@dataclass(frozen=True)
class Pose:
    """Where a frame is in another: its axes as columns, its origin."""

    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    p: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.p + self.R @ other.p)

    def inverse(self) -> Pose:
        return Pose(self.R.T, -self.R.T @ self.p)


@dataclass(frozen=True)
class Body:
    """A rigid body; the inertia is about the centre of mass, in the axes of the link."""

    mass: float = 0.0
    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True)
class Joint:
    """A joint: the frames of both sides, which coincide at zero, and axes in them."""

    name: str
    kind: str
    parent: str
    child: str
    at_parent: Pose
    at_child: Pose
    axes: tuple[np.ndarray, ...] = ()
    pitch: float = 0.0  # of a screw, in m per rad
    spring: tuple[float, float] = (0.0, 0.0)  # of the position of one freedom: stiffness and rest


@dataclass(frozen=True)
class Coupling:
    """Factors of joint positions whose sum stays as it is."""

    factors: dict[str, float]


@dataclass
class Reading:
    """What a file says, read without the package."""

    bodies: dict[str, Body] = field(default_factory=dict)
    joints: list[Joint] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    # where the file draws the links; none where the links of the import have the frames of the file
    drawn: dict[str, Pose] = field(default_factory=dict)
    apart: bool = False  # whether the file draws them in a heap, and joints bring them together
    # Of the singular values of all rows: below it a row depends on others. Between rounding (1e-15)
    # and the smallest lever of a model (1e-3 of its size), unless the file itself is rounded.
    rank: float = 1e-9


@dataclass(frozen=True)
class Motion:
    """Of a body: the pose of its link, and the velocities of its centre of mass."""

    pose: Pose
    center: np.ndarray  # in the world, (3,)
    velocity: np.ndarray
    spin: np.ndarray


@dataclass(frozen=True)
class Scalar:
    """A function of two poses: value, gradients (6,) by body, second derivative at rest of both."""

    value: float
    rows: tuple[tuple[str, np.ndarray], ...]
    bias: float


STILL = Motion(Pose(), np.zeros(3), np.zeros(3), np.zeros(3))


class Maximal:
    """The rows of a reading at one state."""

    def __init__(self, reading: Reading, motions: dict[str, Motion]) -> None:
        self.reading = reading
        self.motions = motions | {WORLD: STILL}
        self.index = {name: 6 * i for i, name in enumerate(reading.bodies)}
        joints = {joint.name: joint for joint in reading.joints}
        scalars = [scalar for joint in reading.joints for scalar in self._rows(joint)]
        self.residual = np.array([scalar.value for scalar in scalars])
        for coupling in reading.couplings:
            parts = [(f, self._position(joints[n])) for n, f in coupling.factors.items()]
            rows = tuple((body, f * row) for f, part in parts for body, row in part.rows)
            scalars.append(Scalar(0.0, rows, sum(f * part.bias for f, part in parts)))
        self.A = np.zeros((len(scalars), 6 * len(self.index)))
        for k, scalar in enumerate(scalars):
            for body, row in scalar.rows:
                if body != WORLD:
                    self.A[k, self.index[body] : self.index[body] + 6] += row
        self.b = -np.array([scalar.bias for scalar in scalars])
        u, s, vt = np.linalg.svd(self.A)
        self.rank = int((s > reading.rank * s[0]).sum())
        self.free = vt[self.rank :].T
        part = (u[:, : self.rank].T @ self.b) / s[: self.rank]
        self.particular = vt[: self.rank].T @ part
        self.velocities = np.concatenate(
            [[*self.motions[n].velocity, *self.motions[n].spin] for n in self.index]
        )

    @property
    def mobility(self) -> int:
        return self.free.shape[1]

    def accelerations(self) -> dict[str, np.ndarray]:
        """Of the centre of mass and angular, (6,), by body."""
        size = 6 * len(self.index)
        mass, force = np.zeros((size, size)), np.zeros(size)
        for name, body in self.reading.bodies.items():
            at, motion = self.index[name], self.motions[name]
            inertia = motion.pose.R @ body.inertia @ motion.pose.R.T
            mass[at : at + 3, at : at + 3] = body.mass * np.eye(3)
            mass[at + 3 : at + 6, at + 3 : at + 6] = inertia
            force[at : at + 3] = body.mass * self.reading.gravity
            force[at + 3 : at + 6] = -np.cross(motion.spin, inertia @ motion.spin)
        for joint in self.reading.joints:
            stiffness, rest = joint.spring
            if stiffness:
                position = self._position(joint)
                for name, row in position.rows:
                    if name != WORLD:
                        at = self.index[name]
                        force[at : at + 6] -= stiffness * (position.value - rest) * row
        reduced = self.free.T @ mass @ self.free
        right = self.free.T @ (force - mass @ self.particular)
        a = self.particular + self.free @ np.linalg.solve(reduced, right)
        return {name: a[at : at + 6] for name, at in self.index.items()}

    def _rows(self, joint: Joint) -> Iterator[Scalar]:
        # A frame of each side whose z axis is the joint's (first) axis
        turned = Pose(_with_z(joint.axes[0])) if joint.axes else Pose()
        one, two = joint.at_parent @ turned, joint.at_child @ turned
        x, y, z = one.R.T
        _, Y, Z = two.R.T
        kind, p, c = joint.kind, joint.parent, joint.child
        if kind in ("revolute", "continuous", "ball", "fixed", "universal"):
            for n in (x, y, z):
                yield self._along(p, n, one.p, c, two.p)
        elif kind in ("prismatic", "screw"):
            for n in (x, y):
                yield self._along(p, n, one.p, c, two.p)
        if kind in ("revolute", "continuous", "fixed", "prismatic", "screw"):
            yield self._dot(p, x, c, Z)
            yield self._dot(p, y, c, Z)
        if kind in ("fixed", "prismatic"):
            yield self._dot(p, x, c, Y)
        if kind == "universal":
            first, second = joint.axes
            scalar = self._dot(p, joint.at_parent.R @ first, c, joint.at_child.R @ second)
            yield Scalar(scalar.value - float(first @ second), scalar.rows, scalar.bias)
        if kind == "screw":
            slide, angle = self._along(p, z, one.p, c, two.p), self._turn(p, z, c)
            rows = (*slide.rows, *((body, -joint.pitch * row) for body, row in angle.rows))
            yield Scalar(0.0, rows, slide.bias - joint.pitch * angle.bias)

    def _position(self, joint: Joint) -> Scalar:
        """Of a joint of one freedom; an angle within half a turn."""
        axis = joint.at_parent.R @ joint.axes[0]
        if joint.kind == "prismatic":
            return self._along(joint.parent, axis, joint.at_parent.p, joint.child, joint.at_child.p)
        turn = self._turn(joint.parent, axis, joint.child)
        frame = _with_z(joint.axes[0])
        one = self.motions[joint.parent].pose.R @ joint.at_parent.R @ frame
        two = self.motions[joint.child].pose.R @ joint.at_child.R @ frame
        x, y, _ = one.T @ two[:, 0]
        return Scalar(float(np.arctan2(y, x)), turn.rows, turn.bias)

    def _along(self, i: str, n: np.ndarray, p: np.ndarray, j: str, c: np.ndarray) -> Scalar:
        """How far a point of j is from one of i along a direction of i."""
        one, two = self.motions[i], self.motions[j]
        n = one.pose.R @ n
        ri = one.pose.p + one.pose.R @ p - one.center
        rj = two.pose.p + two.pose.R @ c - two.center
        d = two.center + rj - one.center - ri
        rate = two.velocity + np.cross(two.spin, rj) - one.velocity - np.cross(one.spin, ri)
        turning = np.cross(one.spin, n)
        bias = (
            np.cross(one.spin, turning) @ d
            + 2.0 * turning @ rate
            + n @ np.cross(two.spin, np.cross(two.spin, rj))
            - n @ np.cross(one.spin, np.cross(one.spin, ri))
        )
        first = np.concatenate([-n, np.cross(n, d) - np.cross(ri, n)])
        return Scalar(float(n @ d), ((i, first), (j, np.concatenate([n, np.cross(rj, n)]))), bias)

    def _dot(self, i: str, u: np.ndarray, j: str, w: np.ndarray) -> Scalar:
        """Of two directions, one fixed in each body."""
        one, two = self.motions[i], self.motions[j]
        u, w = one.pose.R @ u, two.pose.R @ w
        row = np.concatenate([np.zeros(3), np.cross(u, w)])
        change = np.cross(np.cross(one.spin, u), w) + np.cross(u, np.cross(two.spin, w))
        return Scalar(float(u @ w), ((i, row), (j, -row)), float((one.spin - two.spin) @ change))

    def _turn(self, i: str, axis: np.ndarray, j: str) -> Scalar:
        """The angle about an axis of i."""
        one, two = self.motions[i], self.motions[j]
        a = one.pose.R @ axis
        row = np.concatenate([np.zeros(3), a])
        bias = float(np.cross(one.spin, a) @ (two.spin - one.spin))
        return Scalar(0.0, ((i, -row), (j, row)), bias)


def _with_z(axis: np.ndarray) -> np.ndarray:
    """A rotation whose z axis is the given direction."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
