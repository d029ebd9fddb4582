# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Factors M = L Lᵀ of the mass matrix; any of them stands for M^{1/2} in the fundamental equation.

``whiten`` (L⁻¹) takes generalized forces to forces per root mass, ``unwhiten`` (L⁻ᵀ) takes
accelerations times root mass back to accelerations, ``multiply_factor`` (L) takes forces per root
mass back to forces.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg.blas import dtrmm, dtrmv
from scipy.linalg.lapack import dpotrf, dpstrf, dtrtrs

from uk_dynamics.arrays import Array
from uk_dynamics.core.linalg.rank_rule import LOST_PIVOTS
from uk_dynamics.exceptions import InputError, UndeterminedMotionError

# Rounding of a positive semi-definite matrix scaled to unit diagonal stays far below this.
_NEGATIVE = 1e-9
# Diagonal entries below this part of the largest are the rounding of a massless coordinate.
MASSLESS = 1e-15


class DenseMass:
    """Cholesky factor of a positive definite M, applied to vectors (nv,) or matrices (nv, k)."""

    __slots__ = ("lower", "size")

    def __init__(self, lower: Array) -> None:
        """Hold L, (nv, nv), column-major, whose upper triangle is never read."""
        self.lower = lower
        self.size = len(lower)

    def whiten(self, x: Array) -> Array:
        """L⁻¹ x."""
        return self._solved(x, 0)

    def unwhiten(self, x: Array) -> Array:
        """L⁻ᵀ x."""
        return self._solved(x, 1)

    def _solved(self, x: Array, transposed: int) -> Array:
        if not self.size:  # LAPACK refuses a matrix without rows, aloud
            return np.array(x, dtype=float)
        result: Array = dtrtrs(self.lower, x, 1, transposed)[0]
        return result

    def multiply_factor(self, x: Array) -> Array:
        """L x."""
        return dtrmv(self.lower, x, 0, 1, 1) if x.ndim == 1 else dtrmm(1.0, self.lower, x, 0, 1)

    def solve(self, x: Array) -> Array:
        """M⁻¹ x."""
        return self.unwhiten(self.whiten(x))

    def dense(self) -> Array:
        """M itself, (nv, nv)."""
        lower = np.tril(self.lower)
        return lower @ lower.T


class SingularMass:
    """A mass matrix that is only positive semi-definite: it has no factor to divide by."""

    __slots__ = ("matrix", "size")

    def __init__(self, matrix: Array) -> None:
        """Keep a copy of M, (nv, nv).

        Raises InputError: M has entries that are not finite, or a clearly negative eigenvalue.
        """
        self.matrix = np.array(matrix, dtype=float)  # M, (nv, nv)
        self.size = len(self.matrix)  # number of velocity coordinates nv
        _check_semidefinite(self.matrix)

    def dense(self) -> Array:
        """M itself, (nv, nv)."""
        return self.matrix


#: A mass matrix that is factored, or kept because it is singular.
Mass = DenseMass | SingularMass


def mass_factor(M: Array) -> DenseMass | SingularMass:
    """Factor M, (nv, nv), of which one triangle is read; it is not changed.

    Gives the checked matrix instead where a pivot vanishes within rounding: M is singular. A
    clearly negative eigenvalue is an InputError.
    """
    lower, failed = dpotrf(M, 1, 0)
    # NaN and inf anywhere in M end up in this sum, and compare as False.
    with np.errstate(all="ignore"):
        if failed == 0 and (M.diagonal() / lower.diagonal() ** 2).sum() < LOST_PIVOTS:
            return DenseMass(lower)
    return SingularMass(M)


def coordinate_scale(diagonal: Array) -> Array:
    """1/√M_jj, (nv,), which makes the diagonal of a positive semi-definite M one.

    Massless coordinates get a mean value.
    """
    massive = diagonal > MASSLESS * max(diagonal.max(initial=0.0), 0.0)
    if not massive.any():
        return np.ones(len(diagonal))
    logarithm = np.log(diagonal, where=massive, out=np.zeros(len(diagonal)))
    return np.exp(-0.5 * np.where(massive, logarithm, logarithm[massive].mean()))


def _check_semidefinite(M: Array) -> None:
    """Raise unless M is positive semi-definite up to rounding (by pivoted Cholesky)."""
    if not np.isfinite(M).all():
        raise InputError(
            "the mass matrix has entries that are not finite; check the masses and inertias"
        )
    scale = coordinate_scale(M.diagonal())
    scaled = scale[:, None] * M * scale
    factor, order, rank, _ = dpstrf(scaled, tol=_NEGATIVE, lower=1)
    order = order - 1
    lower = np.tril(factor)[:, :rank]
    residual = scaled[np.ix_(order, order)] - lower @ lower.T
    # What pivoting left has a diagonal below the tolerance; only an indefinite matrix still has
    # larger entries there, or a diagonal clearly below zero.
    if np.abs(residual).max(initial=0.0) > 10.0 * _NEGATIVE:
        j = int(order[np.abs(residual).max(axis=1).argmax()])
        raise InputError(
            f"the mass matrix has a negative eigenvalue (at velocity coordinate {j}); "
            "check the masses and inertias"
        )


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
        """Make it an error that names the velocity coordinates, by the names of all nv."""
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
