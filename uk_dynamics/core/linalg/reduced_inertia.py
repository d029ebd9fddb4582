# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The inertia ZᵀMZ of the motions that constraints leave: without it a motion is not determined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

from uk_dynamics.exceptions import UndeterminedMotionError

Array = NDArray[np.float64]

# Pivots of ZᵀMZ, with the diagonal of M scaled to one, that carry no digit any more.
NO_INERTIA = 1e-12
# Entries of a null vector of [M; A], relative to its largest, that are rounding.
_NOT_INVOLVED = 1e-6


class UndeterminedCoordinatesError(UndeterminedMotionError):
    """[M; A] lacks full column rank; the coordinates are given by index."""

    def __init__(self, coordinates: Sequence[int]) -> None:
        # velocity coordinates that take part in the undetermined motion
        self.coordinates = tuple(coordinates)
        super().__init__(f"coordinate {index}" for index in self.coordinates)

    def named(self, names: Sequence[str]) -> UndeterminedMotionError:
        """The same error with the names of the velocity coordinates.

        Args:
            names: All nv names.
        """
        return UndeterminedMotionError(names[index] for index in self.coordinates)


def inertia_factor(Z: Array, M: Array) -> Array:
    """Lower Cholesky factor of ZᵀMZ, (k, k).

    Z: Basis of the admissible motions in coordinates that give M a unit diagonal, (nv, k). Raises
    UndeterminedCoordinatesError: Some admissible motion has no inertia.
    """
    inertia = Z.T @ M @ Z
    if len(inertia) == 0:
        return inertia
    lower, failed = dpotrf(inertia, 1, 0)
    if failed or not (lower.diagonal() ** 2 > NO_INERTIA).all():
        raise UndeterminedCoordinatesError(_without_inertia(Z, inertia))
    factor: Array = lower
    return factor


def _without_inertia(Z: Array, inertia: Array) -> list[int]:
    """Velocity coordinates that take part in the null vectors of ZᵀMZ."""
    values, vectors = np.linalg.eigh(inertia)
    null = vectors[:, values <= max(NO_INERTIA, values[0])]
    motion = np.abs(Z @ null)
    involved = (motion > _NOT_INVOLVED * motion.max(axis=0)).any(axis=1)
    return [int(index) for index in np.flatnonzero(involved)]
