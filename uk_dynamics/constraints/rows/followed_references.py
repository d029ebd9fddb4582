# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What references change about the rows that follow them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.rows.constraint_terms import ConstraintTerms
from uk_dynamics.constraints.rows.rotation_vector_rows import RotationReference
from uk_dynamics.constraints.rows.row_layout import RowLayout
from uk_dynamics.constraints.rows.vectors import Array
from uk_dynamics.core.linalg import cosine, polar_angle, sine

Flags = NDArray[np.bool_]


class FollowedReferences:
    """The references of a set of rows, each in the place that the order of its row gives it."""

    def __init__(self, layout: RowLayout, position_rows: Flags, motion_rows: Flags) -> None:
        # where the references of angular rows stand among the rotations
        self.of_angles = slice(0, layout.angular_count)
        self.of_vectors = slice(layout.angular_count, None)  # where those of rotation vectors stand
        self._layout = layout
        self._position, self._motion = position_rows, motion_rows
        self._periodic = np.flatnonzero(np.isfinite(layout.period))

    def rotation(self, reference: ReferenceSample | None) -> RotationReference | None:
        """Reference rotations, None where no row has one."""
        groups = self._layout.rotation_groups
        if reference is None or groups is None:
            return None
        angular = self._layout.angular_rows
        return groups.sample(ReferenceSample(*(part[angular] for part in reference)))

    def subtract(
        self, reference: ReferenceSample, rotation: RotationReference | None, rows: ConstraintTerms
    ) -> ConstraintTerms:
        """The rows as seen from their references."""
        scale = self._layout.direct_scale
        value, first, second = (scale * part for part in reference)
        position, motion = self._position, self._motion
        if not position.all():
            # of order velocity the value stands where others have the rate, and so on
            second = np.where(position, second, np.where(motion, first, value))
            first = np.where(position, first, np.where(motion, value, 0.0))
            value = np.where(position, value, 0.0)
        rate = rows.rate - first
        bias = rows.bias - second
        if rotation is not None:
            angular = self._layout.angular_rows[self.of_angles]
            rate[angular] -= rotation.rate[self.of_angles]
            bias[angular] -= rotation.acceleration[self.of_angles]
        return ConstraintTerms(rows.A, bias, self.errors(rows.residual, value), rate)

    def errors(self, residual: Array, value: Array) -> Array:
        """Residuals as seen from their references, those of periodic rows from the nearest one."""
        error: Array = residual - value
        for row in self._periodic.tolist():
            rise = self._layout.period[row : row + 1] / (2.0 * np.pi)
            angle = error[row : row + 1] / rise
            error[row : row + 1] = rise * polar_angle(sine(angle), cosine(angle))
        return error
