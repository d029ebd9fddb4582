# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Elements that apply forces: constant and expression efforts, wrenches, springs, as one set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.expressions import CompiledExpressions
from uk_dynamics.constraints.rows import (
    AncestorMask,
    FrameKinematics,
    FramePairs,
    JointTerm,
    apply,
    cross,
    dot,
    sums_of_joints,
)
from uk_dynamics.core.linalg import above, at_least, square_root, where
from uk_dynamics.forces.joint_friction_and_springs import PassiveForces


@dataclass(frozen=True)
class JointSpring:
    """A spring on s = Σ factor · position; N and m, or N·m and rad, as s is."""

    joints: tuple[JointTerm, ...]  # the joints of the sum
    stiffness: float = 0.0  # effort per elongation
    rest: float = 0.0  # the sum without effort
    damping: float = 0.0  # effort per rate of the sum


class JointSprings:
    """All of them at once: τ = −Cᵀ (k (C q − rest) + d C v)."""

    def __init__(self, springs: Sequence[JointSpring], nq: int, nv: int) -> None:
        """Collect the springs of a robot with nq positions and nv velocities."""
        sums = [spring.joints for spring in springs]
        self._positions, self._velocities = sums_of_joints(sums, nq, nv)
        self._stiffness = np.array([spring.stiffness for spring in springs])
        self._rest = np.array([spring.rest for spring in springs])
        self._damping = np.array([spring.damping for spring in springs])
        self.conservative = not (self._damping != 0.0).any()

    def force(self, q: Array, v: Array) -> Array:
        """Generalized force at positions (nq,) and velocities (nv,), (nv,), in N or N·m."""
        effort = self._stiffness * self._elongation(q) + self._damping * (self._velocities @ v)
        return -(effort @ self._velocities)

    def potential_energy(self, q: Array) -> float:
        """Energy stored in the springs, in J."""
        return 0.5 * np.sum(self._stiffness * self._elongation(q) ** 2)

    def _elongation(self, q: Array) -> Array:
        elongation: Array = self._positions @ q - self._rest
        return elongation


# Where the origins meet, the line has no direction. The length is rounded off below this part of
# the rest length, which changes the force of a spring at rest by 1e-12 of stiffness times length.
_ROUNDED = 1e-6
_SHORTEST = 1e-9  # m, where the rest length is zero


@dataclass(frozen=True)
class LineSpring:
    """A spring and damper between two frames, or along a path over several."""

    parent: int  # frame index
    child: int  # frame index
    stiffness: float = 0.0  # in N/m
    length: float = 0.0  # of the path without spring force, in m
    damping: float = 0.0  # in N·s/m
    through: tuple[int, ...] = ()  # indices of frames that the path passes, from the parent on


class LineSprings:
    """All of them at once: a force −(k (ℓ − ℓ₀) + d ℓ̇) along the line, on the child.

    A path over several frames has one tension; ℓ is the sum of its straight parts. With their
    rounded lengths √(|x|² + ε²) the energy ½ k (ℓ − ℓ₀)² is smooth everywhere, and the force is
    exactly its slope; a straight spring of rest length zero is linear, −k x. Where the origins
    meet, a spring that wants to be longer is in unstable equilibrium: it does not push anywhere.
    """

    def __init__(self, springs: Sequence[LineSpring], ancestor_mask: AncestorMask) -> None:
        """Collect the springs.

        ancestor_mask: 1 where a velocity coordinate moves a frame, (frames, nv).
        """
        paths = [(spring.parent, *spring.through, spring.child) for spring in springs]
        ends = [x for path in paths for x in path[:-1]], [x for path in paths for x in path[1:]]
        self._pairs = FramePairs(*ends, ancestor_mask)
        parts = np.array([len(path) - 1 for path in paths])
        self._first = np.cumsum(parts) - parts  # part of each spring
        self._of = np.repeat(np.arange(len(paths)), parts)  # spring of each part
        self._stiffness = np.array([spring.stiffness for spring in springs])
        self._rest = np.array([spring.length for spring in springs])
        self._damping = np.array([spring.damping for spring in springs])
        shortest = np.where(parts > 1, _SHORTEST, 0.0)
        rounding = where(above(self._rest, 0.0), _ROUNDED * self._rest, shortest)
        self._rounding = rounding[self._of]
        # whether the force needs a direction: k (ℓ − 0) / ℓ = k
        self._directed = where(above(self._rest, 0.0), 1.0, np.where(parts > 1, 1.0, 0.0))
        self.conservative = not (self._damping != 0.0).any()

    def force(self, kinematics: FrameKinematics, v: Array) -> Array:
        """Generalized force, (nv,), in N or N·m."""
        point, line, length = self._lines(kinematics)
        directed = above(self._directed, 0.5)
        part = where(directed, self._sum(length) - self._rest, 1.0)
        tension = (self._stiffness * part)[self._of] / where(directed[self._of], length, 1.0)
        if not self.conservative:
            distance = at_least(length, _SHORTEST)
            speed = dot(line, self._pairs.twist(kinematics, v).linear) / distance
            tension = tension + (self._damping * self._sum(speed))[self._of] / distance
        force = -tension[:, None] * line
        wrench = np.concatenate((force, cross(point, force)), axis=1)
        generalized: Array = ((wrench @ kinematics.jacobian) * self._pairs.sign).sum(axis=0)
        return generalized

    def potential_energy(self, kinematics: FrameKinematics) -> float:
        """Energy stored in the springs, in J."""
        _, _, length = self._lines(kinematics)
        stretch = self._sum(length) - self._rest
        energy: float = 0.5 * np.sum(self._stiffness * stretch**2)
        return energy

    def _sum(self, parts: Array) -> Array:
        """Sum over the parts of each spring."""
        return np.add.reduceat(parts, self._first)

    def _lines(self, kinematics: FrameKinematics) -> tuple[Array, Array, Array]:
        """Ends and lines of the parts, (k, 3), and their rounded lengths, (k,)."""
        point = kinematics.translation.take(self._pairs.child, 0)
        line = point - kinematics.translation.take(self._pairs.parent, 0)
        return point, line, square_root(dot(line, line) + self._rounding**2)


Vector = tuple[float, float, float]


@dataclass(frozen=True)
class ConstantEffort:
    """The same effort at all times on a weighted sum of joints."""

    joints: tuple[JointTerm, ...]  # what it acts on: factor · effort on each joint
    effort: float  # in N or N·m


@dataclass(frozen=True)
class ConstantWrench:
    """A force at the origin of a frame and a torque, from outside."""

    frame: int  # frame index
    force: Vector = (0.0, 0.0, 0.0)  # in N
    torque: Vector = (0.0, 0.0, 0.0)  # in N·m
    # whether they turn with the frame; otherwise they keep their direction in the world
    body_axes: bool = False


class ConstantWrenches:
    """All constant wrenches at once."""

    def __init__(self, wrenches: Sequence[ConstantWrench], ancestor_mask: AncestorMask) -> None:
        """Collect them.

        ancestor_mask: 1 where a velocity coordinate moves a frame, (frames, nv).
        """
        self._frame = np.array([wrench.frame for wrench in wrenches], dtype=np.intp)
        self._mask = ancestor_mask[self._frame]
        self._force = np.array([wrench.force for wrench in wrenches]).reshape(-1, 3)
        self._torque = np.array([wrench.torque for wrench in wrenches]).reshape(-1, 3)
        self._body = np.array([wrench.body_axes for wrench in wrenches], dtype=bool)[:, None, None]

    def force(self, kinematics: FrameKinematics) -> Array:
        """Generalized force, (nv,), in N or N·m."""
        axes = np.where(self._body, kinematics.rotation.take(self._frame, 0), np.eye(3))
        force, torque = apply(axes, self._force), apply(axes, self._torque)
        point = kinematics.translation.take(self._frame, 0)
        wrench = np.concatenate((force, torque + cross(point, force)), axis=1)
        generalized: Array = ((wrench @ kinematics.jacobian) * self._mask).sum(axis=0)
        return generalized


@dataclass(frozen=True)
class ExpressionEffort:
    """An effort e(t, q, q̇) on a weighted sum of joints."""

    joints: tuple[JointTerm, ...]  # what it acts on: factor · effort on each joint
    effort: CompiledExpressions  # gives one value, in N or N·m


class ExpressionEfforts:
    """All of them at once: τ = Cᵀ e(t, q, q̇)."""

    def __init__(self, efforts: Sequence[ExpressionEffort], nq: int, nv: int) -> None:
        """Collect the efforts on a robot with nq positions and nv velocities."""
        self._functions = [effort.effort for effort in efforts]
        _, self._directions = sums_of_joints([effort.joints for effort in efforts], nq, nv)

    def force(self, t: float, q: Array, v: Array) -> Array:
        """Generalized force at a time and state, (nv,), in N or N·m.

        Raises ExpressionValueError: An expression has no value there.
        """
        return np.array([function(t, q, v)[0] for function in self._functions]) @ self._directions


ForceElement = JointSpring | LineSpring | ConstantEffort | ConstantWrench | ExpressionEffort


class ForceElements:
    """The section ``forces`` of a mechanism file, resolved against a robot."""

    def __init__(
        self,
        elements: Sequence[ForceElement],  # in any order
        ancestor_mask: AncestorMask,  # 1 where a velocity coordinate moves a frame, (frames, nv)
        nq: int,  # size of q
    ) -> None:
        """Sort the elements by what they act on."""
        nv = ancestor_mask.shape[1]
        joint_springs = [e for e in elements if isinstance(e, JointSpring)]
        line_springs = [e for e in elements if isinstance(e, LineSpring)]
        efforts = [e for e in elements if isinstance(e, ConstantEffort)]
        wrenches = [e for e in elements if isinstance(e, ConstantWrench)]
        written = [e for e in elements if isinstance(e, ExpressionEffort)]
        self._joint_springs = JointSprings(joint_springs, nq, nv) if joint_springs else None
        self._line_springs = LineSprings(line_springs, ancestor_mask) if line_springs else None
        _, directions = sums_of_joints([effort.joints for effort in efforts], nq, nv)
        parts = (x.effort * row for x, row in zip(efforts, directions, strict=True))
        self._efforts = sum(parts, np.zeros(nv)) if efforts else None
        self._wrenches = ConstantWrenches(wrenches, ancestor_mask) if wrenches else None
        self._expressions = ExpressionEfforts(written, nq, nv) if written else None
        self.active = bool(elements)  # whether there is any
        springs = [part for part in (self._joint_springs, self._line_springs) if part]
        drives = efforts or wrenches or written
        # whether all of them have a potential: springs without damping
        self.conservative = not drives and all(part.conservative for part in springs)
        # whether their energy needs the placements of frames
        self.stores_energy_in_frames = bool(line_springs)
        # whether some of them depend on t by itself
        self.time_dependent = any(effort.effort.time_dependent for effort in written)

    def add_to(
        self,
        force: Array,  # changed in place
        kinematics: FrameKinematics,  # arrays of the robot at (q, v)
        t: float,  # time, in s
        q: Array,  # configuration, (nq,)
        v: Array,  # velocity, (nv,)
    ) -> None:
        """Add all of them to a generalized force (nv,), in N or N·m; expressions need values."""
        if self._joint_springs is not None:
            force += self._joint_springs.force(q, v)
        if self._line_springs is not None:
            force += self._line_springs.force(kinematics, v)
        if self._efforts is not None:
            force += self._efforts
        if self._wrenches is not None:
            force += self._wrenches.force(kinematics)
        if self._expressions is not None:
            force += self._expressions.force(t, q, v)

    def unstored(
        self, passive: PassiveForces, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> Array:
        """Of them and of those of joints what has no potential: damping, friction, drives."""
        rest = 0.0 * v
        force = passive.resistance(v) + passive.at_places(q, v) - passive.at_places(q, rest)
        self.add_to(force, kinematics, t, q, v)
        if self._joint_springs is not None:
            force -= self._joint_springs.force(q, rest)
        if self._line_springs is not None:
            force -= self._line_springs.force(kinematics, rest)
        return force

    def potential_energy(self, kinematics: FrameKinematics, q: Array) -> float:
        """Energy stored in springs, in J; other forces work like motors and store none."""
        energy = 0.0
        if self._joint_springs is not None:
            energy += self._joint_springs.potential_energy(q)
        if self._line_springs is not None:
            energy += self._line_springs.potential_energy(kinematics)
        return energy
