# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows that are weighted sums of joint positions: constant A, no bias."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.constraints.expressions.differentiation import Order
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.row import ConstraintTerms, RobotRow, RowFamily
from uk_dynamics.constraints.rows.vectors import Array
from uk_dynamics.core.linalg import nearest_integer
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.model import RobotModel


@dataclass(frozen=True)
class JointTerm:
    """One joint of a weighted sum."""

    position: int  # index into q
    velocity: int  # index into v
    coefficient: float  # weight of the joint in the sum


def joint_terms(joints: Iterable[tuple[str, float]], model: RobotModel) -> tuple[JointTerm, ...]:
    """Look up the joints of a weighted sum."""
    return tuple(
        JointTerm(model.position_index(name), model.velocity_index(name), factor)
        for name, factor in joints
    )


def weighted_joints(data: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Joints with their factors other than zero; MechanismFileError: there is none."""
    joints = tuple((joint, float(factor)) for joint, factor in data.items() if factor != 0)
    if not joints:
        raise MechanismFileError("every factor is zero; give a joint a factor, such as 1.0")
    return joints


def sums_of_joints(sums: Sequence[Sequence[JointTerm]], nq: int, nv: int) -> tuple[Array, Array]:
    """Matrices of weighted sums, by positions, (k, nq), and of rates by velocities, (k, nv)."""
    positions, velocities = np.zeros((len(sums), nq)), np.zeros((len(sums), nv))
    for row, terms in enumerate(sums):
        for term in terms:
            positions[row, term.position] += term.coefficient
            velocities[row, term.velocity] += term.coefficient
    return positions, velocities


@dataclass(frozen=True)
class JointRow(RobotRow):
    """Weighted sum of joint positions minus ``offset``, in m or rad, or of velocities.

    With a pitch it is counted from the nearest multiple of that, the tooth of a ratchet.
    """

    terms: tuple[JointTerm, ...]
    offset: float
    velocities: bool = False
    pitch: float = 0.0  # in m or rad; 0: it has no teeth

    @property
    def order(self) -> Order:
        """See :attr:`Row.order`."""
        return "velocity" if self.velocities else "position"

    @property
    def period(self) -> float:
        """See :attr:`Row.period`."""
        return self.pitch or math.inf

    @classmethod
    def collect(cls, rows: "Sequence[tuple[str, JointRow]]", nq: int, nv: int) -> "JointRows":
        """See :meth:`RobotRow.collect`."""
        position_matrix, matrix = sums_of_joints([row.terms for _, row in rows], nq, nv)
        for index, (_, row) in enumerate(rows):
            position_matrix[index] *= not row.velocities
        offset, pitch = np.array([(row.offset, row.pitch) for _, row in rows]).T
        return JointRows(matrix, position_matrix, offset, pitch)


@dataclass(frozen=True)
class JointRows(RowFamily):
    """ψ = C_q q − offset, from the nearest tooth where there are some, with A = C_v."""

    matrix: Array  # C_v, (m, nv)
    position_matrix: Array  # C_q, (m, nq)
    offset: Array  # (m,), in m or rad
    pitch: Array  # (m,), in m or rad; 0: no teeth

    def _residual(self, q: Array) -> Array:
        found: Array = self.position_matrix @ q - self.offset
        if (toothed := np.flatnonzero(self.pitch)).size:
            pitch = self.pitch[toothed]
            found[toothed] -= pitch * nearest_integer(found[toothed] / pitch)
        return found

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """C_v, and the residuals in m or rad; see :class:`RowFamily`."""
        return self.matrix, self._residual(q)

    def evaluate(
        self, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> ConstraintTerms:
        """The rows at a state; see :class:`RowFamily`."""
        residual = self._residual(q)
        return ConstraintTerms(self.matrix, np.zeros(len(residual)), residual, self.matrix @ v)

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Magnitudes of C_v."""
        return np.abs(self.matrix)
