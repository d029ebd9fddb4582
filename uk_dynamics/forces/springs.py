# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Springs and dampers: on weighted sums of joint positions, and between two frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.rows import (
    AncestorMask,
    FrameKinematics,
    FramePairs,
    JointTerm,
    apply,
    dot,
    skew,
)
from uk_dynamics.core.linalg import above, at_least, square_root, where


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
        self._positions = np.zeros((len(springs), nq))
        self._velocities = np.zeros((len(springs), nv))
        for row, spring in enumerate(springs):
            for term in spring.joints:
                self._positions[row, term.position] += term.coefficient
                self._velocities[row, term.velocity] += term.coefficient
        self._stiffness = np.array([spring.stiffness for spring in springs])
        self._rest = np.array([spring.rest for spring in springs])
        self._damping = np.array([spring.damping for spring in springs])
        self.conservative = not (self._damping != 0.0).any()

    def force(self, q: Array, v: Array) -> Array:
        """Generalized force at positions (nq,) and velocities (nv,), (nv,), in N or N·m."""
        effort = self._stiffness * self._elongation(q) + self._damping * (self._velocities @ v)
        force: Array = -(effort @ self._velocities)
        return force

    def potential_energy(self, q: Array) -> float:
        """Energy stored in the springs, in J."""
        return 0.5 * float(self._stiffness @ self._elongation(q) ** 2)

    def _elongation(self, q: Array) -> Array:
        elongation: Array = self._positions @ q - self._rest
        return elongation


# Where the origins meet, the line has no direction. The length is rounded off below this part of
# the rest length, which changes the force of a spring at rest by 1e-12 of stiffness times length.
_ROUNDED = 1e-6
_SHORTEST = 1e-9  # m, where the rest length is zero


@dataclass(frozen=True)
class LineSpring:
    """A spring and damper between two frames."""

    parent: int  # frame index
    child: int  # frame index
    stiffness: float = 0.0  # in N/m
    length: float = 0.0  # distance of the origins without spring force, in m
    damping: float = 0.0  # in N·s/m


class LineSprings:
    """All of them at once: a force −(k (ℓ − ℓ₀) + d ℓ̇) along the line, on the child.

    With the rounded length ℓ = √(|x|² + ε²) the energy ½ k (ℓ − ℓ₀)² is smooth everywhere, and the
    force is exactly its slope; a spring of rest length zero is linear, −k x. Where the origins
    meet, a spring that wants to be longer is in unstable equilibrium: it does not push anywhere.
    """

    def __init__(self, springs: Sequence[LineSpring], ancestor_mask: AncestorMask) -> None:
        """Collect the springs.

        ancestor_mask: 1 where a velocity coordinate moves a frame, (frames, nv).
        """
        self._pairs = FramePairs(
            np.array([spring.parent for spring in springs], dtype=np.intp),
            np.array([spring.child for spring in springs], dtype=np.intp),
            ancestor_mask,
        )
        self._stiffness = np.array([spring.stiffness for spring in springs])
        self._rest = np.array([spring.length for spring in springs])
        self._damping = np.array([spring.damping for spring in springs])
        self._rounding = where(above(self._rest, 0.0), _ROUNDED * self._rest, 0.0)
        self.conservative = not (self._damping != 0.0).any()

    def force(self, kinematics: FrameKinematics, v: Array) -> Array:
        """Generalized force, (nv,), in N or N·m."""
        point, line, length = self._lines(kinematics)
        # A spring of rest length zero needs no direction: k (ℓ − 0) / ℓ = k.
        divisor = where(above(self._rest, 0.0), length, 1.0)
        part = where(above(self._rest, 0.0), length - self._rest, 1.0)
        tension = self._stiffness * part / divisor
        if not self.conservative:
            speed = self._pairs.twist(kinematics, v).linear
            tension = tension + self._damping * dot(line, speed) / at_least(length, _SHORTEST) ** 2
        force = -tension[:, None] * line
        wrench = np.concatenate((force, apply(skew(point), force)), axis=1)
        generalized: Array = ((wrench @ kinematics.jacobian) * self._pairs.sign).sum(axis=0)
        return generalized

    def potential_energy(self, kinematics: FrameKinematics) -> float:
        """Energy stored in the springs, in J."""
        _, _, length = self._lines(kinematics)
        return 0.5 * float(self._stiffness @ (length - self._rest) ** 2)

    def _lines(self, kinematics: FrameKinematics) -> tuple[Array, Array, Array]:
        """Child origins and lines from parent to child, (k, 3), and rounded lengths, (k,)."""
        point = kinematics.translation.take(self._pairs.child, 0)
        line = point - kinematics.translation.take(self._pairs.parent, 0)
        length: Array = square_root(dot(line, line) + self._rounding**2)
        return point, line, length
