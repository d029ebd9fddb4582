# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bodies that can exist: pseudo-inertias as a function of ten free numbers.

P = U Uᵀ with U upper triangular and a positive diagonal, whose logarithms are the free numbers:
every value of them is a possible body, and every possible body has one.
Source: Rucker, Wensing: Smooth parameterization of rigid-body inertia (RA-L 2022).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_ROWS, _COLUMNS = np.triu_indices(4)
_DIAGONAL = _ROWS == _COLUMNS
_LEAST = 1e-6  # of the largest moment of a body of that mass and size


def possible(pseudo: Array, mass: float, length: float) -> Array:
    """The nearest pseudo-inertia that has some extent in every direction, (4, 4).

    Args:
        pseudo: Symmetric, (4, 4), in kg, kg m and kg m².
        mass: What counts as a mass, in kg.
        length: What counts as a size, in m.
    """
    unit = np.sqrt(mass) * np.array([length, length, length, 1.0])
    values, vectors = np.linalg.eigh(pseudo / np.outer(unit, unit))
    found: Array = (vectors * np.maximum(values, _LEAST)) @ vectors.T * np.outer(unit, unit)
    return found


def free_numbers(pseudo: Array, length: float) -> Array:
    """The ten free numbers of a possible pseudo-inertia, (10,), without dimension."""
    unit = np.array([length, length, length, 1.0])
    flipped = np.linalg.cholesky((pseudo / np.outer(unit, unit))[::-1, ::-1])
    upper = flipped[::-1, ::-1]
    diagonal = upper.diagonal()
    ratios = (upper / diagonal[None, :])[_ROWS, _COLUMNS]
    return np.where(_DIAGONAL, np.log(diagonal[_ROWS]), ratios)


def from_free_numbers(numbers: Array, length: float) -> Array:
    """The pseudo-inertia of ten free numbers, (4, 4)."""
    upper = np.zeros((4, 4))
    upper[_ROWS, _COLUMNS] = np.where(_DIAGONAL, 1.0, numbers)
    upper *= np.exp(numbers[_DIAGONAL])[None, :]
    unit = np.array([length, length, length, 1.0])
    found: Array = upper @ upper.T * np.outer(unit, unit)
    return found
