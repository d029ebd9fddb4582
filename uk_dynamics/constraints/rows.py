"""Rows selected from the relative motion of frame pairs, family by family, all vectorised.

Each family turns frames into wrenches (f, n), (m, 6), and residuals (m,), and twists into the
second-derivative term that the wrench alone does not carry (where there is one).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import uk_dynamics.core.so3 as so3
from uk_dynamics.constraints.relative_motion import FrameKinematics, Index, RelativeTwist
from uk_dynamics.constraints.vectors import Array, Bilinear, apply, cross, dot

_AS_COUPLE = np.eye(6)[3:]  # a moment as a wrench without force
_MOMENT = Bilinear((3, 0, 0))  # point × force where a wrench has its moment
_TINY = 1e-300  # coinciding origins give a zero row, which the rank rule reports, instead of NaN


@dataclass(frozen=True)
class RowFrames:
    """The frames of m rows.

    Attributes:
        parent: Frame index of each row, (m,).
        child: Frame index of each row, (m,).
        pair: Pair of each row, (m,).
    """

    parent: Index
    child: Index
    pair: Index

    def origins(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Child origins in the world, and from the parent's to the child's, (m, 3) each, in m."""
        translation = kinematics.translation
        point = translation.take(self.child, 0)
        return point, point - translation.take(self.parent, 0)


@dataclass(frozen=True)
class LinearRows:
    """Child origin in the parent frame along constant directions: ψ = eᵀ d.

    Attributes:
        frames: Frames of the rows.
        direction: Unit vectors in the parent frame, (m, 3).
    """

    frames: RowFrames
    direction: Array

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in m."""
        point, offset = self.frames.origins(kinematics)
        e = apply(kinematics.rotation.take(self.frames.parent, 0), self.direction)
        return _force_through(point, e), dot(e, offset)


@dataclass(frozen=True)
class AngularRows:
    """Rotation vector of the child in the parent frame along constant directions: ψ = cᵀ log(R).

    The rate is cᵀ ω, the geometric rate; it equals ψ̇ where the rotation vanishes, and for three
    rows d|ψ|²/dt = 2 ψᵀω everywhere, so stabilisation converges from any angle below π.

    Attributes:
        frames: Frames of the rows.
        direction: Vectors in the parent frame with the declared length as their norm, (m, 3), m.
    """

    frames: RowFrames
    direction: Array

    def position(
        self, kinematics: FrameKinematics, reference_rotation: Array | None = None
    ) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in rad times the declared length.

        Args:
            kinematics: Arrays of the model.
            reference_rotation: Rotation of the child that counts as zero, per row, (m, 3, 3).
        """
        parent = kinematics.rotation.take(self.frames.parent, 0)
        e = apply(parent, self.direction)
        relative = parent.transpose(0, 2, 1) @ kinematics.rotation.take(self.frames.child, 0)
        if reference_rotation is not None:
            relative = relative @ reference_rotation.transpose(0, 2, 1)
        return _couple(e), dot(self.direction, so3.log(relative))


@dataclass(frozen=True)
class AlignmentRows:
    """A direction of the child stays perpendicular to one of the parent: ψ = aᵀ R c.

    Attributes:
        frames: Frames of the rows.
        parent_direction: a in the parent frame, with the declared length as norm, (m, 3), m.
        child_direction: c in the child frame, unit, (m, 3).
    """

    frames: RowFrames
    parent_direction: Array
    child_direction: Array

    def _directions(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        rotation = kinematics.rotation
        a = apply(rotation.take(self.frames.parent, 0), self.parent_direction)
        c = apply(rotation.take(self.frames.child, 0), self.child_direction)
        return a, c

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,), the sine of the misalignment times the length."""
        a, c = self._directions(kinematics)
        return _couple(cross(c, a)), dot(a, c)

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """((ω × c) × a) · ω: the child's direction turns inside the parent frame, (m,)."""
        a, c = self._directions(kinematics)
        omega = twist.angular.take(self.frames.pair, 0)
        return dot(cross(cross(omega, c), a), omega)


@dataclass(frozen=True)
class DistanceRows:
    """Distance of the two origins: ψ = |d| − L.

    Attributes:
        frames: Frames of the rows.
        length: L, (m,), in m, positive.
    """

    frames: RowFrames
    length: Array

    def _line(self, kinematics: FrameKinematics) -> tuple[Array, Array, Array]:
        point, offset = self.frames.origins(kinematics)
        norm: Array = np.sqrt(dot(offset, offset) + _TINY)
        return point, offset / norm[:, None], norm

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in m."""
        point, e, norm = self._line(kinematics)
        return _force_through(point, e), norm - self.length

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """(|u|² − (eᵀu)²)/|d|: the direction turns with the motion across it, (m,)."""
        _, e, norm = self._line(kinematics)
        u = twist.linear.take(self.frames.pair, 0)
        along = dot(e, u)
        return (dot(u, u) - along * along) / norm


def _force_through(point: Array, force: Array) -> Array:
    wrench = _MOMENT(point, force)
    wrench[:, :3] = force
    return wrench


def _couple(moment: Array) -> Array:
    wrench: Array = moment.dot(_AS_COUPLE)
    return wrench
