"""Rows selected from the relative motion of frame pairs, family by family, all vectorised.

Each family turns poses into wrenches (f, n), (m, 6), and residuals (m,), and twists into the
second-derivative term that the wrench alone does not carry (where there is one).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import uk_dynamics.core.so3 as so3
from uk_dynamics.constraints.relative_motion import RelativePose, RelativeTwist
from uk_dynamics.constraints.vectors import Array, apply, cross, dot, skew

Index = NDArray[np.intp]
_TINY = 1e-300  # coinciding origins give a zero row, which the rank rule reports, instead of NaN


def _wrench(force: Array, moment: Array) -> Array:
    return np.concatenate((force, moment), axis=1)


@dataclass(frozen=True)
class LinearRows:
    """Child origin in the parent frame along constant directions: ψ = eᵀ d.

    Attributes:
        pair: Pair of each row, (m,).
        direction: Unit vectors in the parent frame, (m, 3).
    """

    pair: Index
    direction: Array

    def position(self, pose: RelativePose) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in m."""
        e = apply(pose.parent_rotation.take(self.pair, 0), self.direction)
        moment = apply(skew(pose.point.take(self.pair, 0)), e)
        return _wrench(e, moment), dot(e, pose.offset.take(self.pair, 0))


@dataclass(frozen=True)
class AngularRows:
    """Rotation vector of the child in the parent frame along constant directions: ψ = cᵀ log(R).

    The rate is cᵀ ω, the geometric rate; it equals ψ̇ where the rotation vanishes, and for three
    rows d|ψ|²/dt = 2 ψᵀω everywhere, so stabilisation converges from any angle below π.

    Attributes:
        pair: Pair of each row, (m,).
        direction: Vectors in the parent frame with the declared length as their norm, (m, 3), m.
    """

    pair: Index
    direction: Array

    def position(
        self, pose: RelativePose, reference_rotation: Array | None = None
    ) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in rad times the declared length.

        Args:
            pose: Poses of the pairs.
            reference_rotation: Rotation of the child that counts as zero, per row, (m, 3, 3).
        """
        parent = pose.parent_rotation.take(self.pair, 0)
        e = apply(parent, self.direction)
        relative = parent.transpose(0, 2, 1) @ pose.child_rotation.take(self.pair, 0)
        if reference_rotation is not None:
            relative = relative @ reference_rotation.transpose(0, 2, 1)
        return _wrench(np.zeros_like(e), e), dot(self.direction, so3.log(relative))


@dataclass(frozen=True)
class AlignmentRows:
    """A direction of the child stays perpendicular to one of the parent: ψ = aᵀ R c.

    Attributes:
        pair: Pair of each row, (m,).
        parent_direction: a in the parent frame, with the declared length as norm, (m, 3), m.
        child_direction: c in the child frame, unit, (m, 3).
    """

    pair: Index
    parent_direction: Array
    child_direction: Array

    def _directions(self, pose: RelativePose) -> tuple[Array, Array]:
        a = apply(pose.parent_rotation.take(self.pair, 0), self.parent_direction)
        c = apply(pose.child_rotation.take(self.pair, 0), self.child_direction)
        return a, c

    def position(self, pose: RelativePose) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,), the sine of the misalignment times the length."""
        a, c = self._directions(pose)
        return _wrench(np.zeros_like(a), cross(c, a)), dot(a, c)

    def extra_bias(self, pose: RelativePose, twist: RelativeTwist) -> Array:
        """((ω × c) × a) · ω: the child's direction turns inside the parent frame, (m,)."""
        a, c = self._directions(pose)
        omega = twist.angular.take(self.pair, 0)
        return dot(cross(cross(omega, c), a), omega)


@dataclass(frozen=True)
class DistanceRows:
    """Distance of the two origins: ψ = |d| − L.

    Attributes:
        pair: Pair of each row, (m,).
        length: L, (m,), in m, positive.
    """

    pair: Index
    length: Array

    def _unit(self, pose: RelativePose) -> tuple[Array, Array]:
        d = pose.offset.take(self.pair, 0)
        norm = np.sqrt(dot(d, d) + _TINY)
        return d / norm[:, None], norm

    def position(self, pose: RelativePose) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in m."""
        e, norm = self._unit(pose)
        return _wrench(e, apply(skew(pose.point.take(self.pair, 0)), e)), norm - self.length

    def extra_bias(self, pose: RelativePose, twist: RelativeTwist) -> Array:
        """(|u|² − (eᵀu)²)/|d|: the direction turns with the motion across it, (m,)."""
        e, norm = self._unit(pose)
        u = twist.linear.take(self.pair, 0)
        along = dot(e, u)
        return (dot(u, u) - along * along) / norm


FrameRows = LinearRows | AngularRows | AlignmentRows | DistanceRows
