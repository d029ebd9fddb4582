"""Springs and dampers between joints, on weighted sums of their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.rows.joint_rows import JointTerm

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JointSpring:
    """A spring on s = Σ factor · position; N and m, or N·m and rad, as s is.

    Attributes:
        joints: The joints of the sum.
        stiffness: Effort per elongation.
        rest: The sum without effort.
        damping: Effort per rate of the sum.
    """

    joints: tuple[JointTerm, ...]
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0


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
        self.conservative = not self._damping.any()

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
