"""What every pseudoinverse algorithm answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pseudoinverse:
    """The Moore–Penrose inverse of a matrix whose rank was decided.

    What is inverted is not A but the matrix of exactly this rank that the algorithm put in its
    place, here as a product of two full-rank factors.

    Attributes:
        matrix: A⁺, (n, m).
        left: Its columns span the range, (m, rank).
        right: Its rows span the range of the transpose, (rank, n).
    """

    matrix: Array
    left: Array
    right: Array

    @property
    def rank(self) -> int:
        """Rank that the tolerance left."""
        return int(self.left.shape[1])

    @property
    def truncated(self) -> Array:
        """The matrix that was inverted, A without what fell under the tolerance, (m, n)."""
        product: Array = self.left @ self.right
        return product

    @property
    def transposed(self) -> Pseudoinverse:
        """The same of Aᵀ."""
        return Pseudoinverse(self.matrix.T, self.right.T, self.left.T)
