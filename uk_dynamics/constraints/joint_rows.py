"""Rows that are weighted sums of joint positions: constant A, no bias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uk_dynamics.constraints.constraint import Constraint
from uk_dynamics.constraints.relative_motion import FrameKinematics
from uk_dynamics.constraints.row_family import Rows
from uk_dynamics.constraints.row_types import JointRow
from uk_dynamics.constraints.vectors import Array


@dataclass(frozen=True)
class JointRows:
    """ψ = C_q q − offset, with A = C_v.

    Attributes:
        matrix: C_v, (m, nv).
        position_matrix: C_q, (m, nq).
        offset: (m,), in m or rad.
    """

    matrix: Array
    position_matrix: Array
    offset: Array

    @classmethod
    def of(cls, constraints: tuple[Constraint, ...], nq: int, nv: int) -> JointRows:
        """Collect the joint rows of the constraints, in their order."""
        found = [(c, row) for c in constraints for row in c.rows if isinstance(row, JointRow)]
        matrix = np.zeros((len(found), nv))
        position_matrix = np.zeros((len(found), nq))
        for index, (constraint, _) in enumerate(found):
            for term in constraint.joints:
                matrix[index, term.velocity] += term.coefficient
                position_matrix[index, term.position] += term.coefficient
        return cls(matrix, position_matrix, np.array([row.offset for _, row in found]))

    @property
    def time_dependent(self) -> bool:
        """False: only references bring time in."""
        return False

    @property
    def linear_in_rates(self) -> bool:
        """True: A is constant."""
        return True

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """C_v, and the residuals in m or rad; see :class:`RowFamily`."""
        return self.matrix, self.position_matrix @ q - self.offset

    def evaluate(self, kinematics: FrameKinematics, t: float, q: Array, v: Array) -> Rows:
        """The rows at a state; see :class:`RowFamily`."""
        residual = self.position_matrix @ q - self.offset
        return Rows(self.matrix, np.zeros(len(residual)), residual, self.matrix @ v)

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Magnitudes of C_v."""
        return np.abs(self.matrix)
