"""Independent rows in a fixed order, traced; subclasses orthogonalise them.

Rows u are covectors in the metric D⁻¹, and so are the applied force g and the constraint force f:
together they make the acceleration x = D⁻¹ (g + f), which is to satisfy u·x = b.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import NamedTuple

from uk_dynamics.compilation.trace.sparse_vectors import Scalar, Sparse
from uk_dynamics.compilation.trace.tree_factor import TreeFactor


class Answer(NamedTuple):
    """The constraint force that answers an applied one.

    Attributes:
        whole: g + f.
        force: f.
        multipliers: Of the independent rows, by row: f = Σ λ u.
    """

    whole: Sparse
    force: Sparse
    multipliers: Sparse


class IndependentRows(ABC):
    """Some rows, of which some are independent: among them the sparsest one is next.

    Attributes:
        order: Independent rows, in this order.
        squares: u·D⁻¹u of each row.
        residual_squares: Of each dependent row, the square of its residual norm, by row.
    """

    def __init__(
        self, rows: list[Sparse], independent: Collection[int], factor: TreeFactor
    ) -> None:
        """Orthogonalise rows.

        Args:
            rows: All of them.
            independent: Those to orthogonalise.
            factor: D is its part.
        """
        self.order: list[int] = []
        self.squares: list[Scalar] = [0.0] * len(rows)
        self._left = [dict(row) for row in rows]
        self._factor = factor
        waiting, left = set(independent), set(range(len(rows)))
        while waiting:
            r = min(waiting, key=lambda row: (len(self._left[row]), row))
            waiting.remove(r)
            left.remove(r)
            self._orthogonalise(r, sorted(left))
            self.order.append(r)
        self.residual_squares: dict[int, Scalar] = {
            r: self._residual_square(r) for r in sorted(left)
        }

    @abstractmethod
    def _orthogonalise(self, r: int, others: Sequence[int]) -> None:
        """Add a row to the basis, and remove its part from the others."""

    @abstractmethod
    def _residual_square(self, r: int) -> Scalar:
        """Square of the residual norm of a dependent row."""

    @abstractmethod
    def answer(self, g: Sparse, b: Sequence[Scalar]) -> Answer:
        """The least f with which the independent rows are satisfied.

        Args:
            g: The applied force.
            b: Right-hand side of all rows.
        """

    @abstractmethod
    def dependence(self, r: int) -> Sparse:
        """Factors by row, that of row r one, with which r and the independent rows add up to zero.

        Args:
            r: A dependent row.
        """

    @abstractmethod
    def inverse_square(self, scales: Sequence[Scalar]) -> Scalar:
        """Sum of squares of the pseudoinverse of the independent rows, each divided by its scale.

        Args:
            scales: Squares of the scales of all rows.
        """
