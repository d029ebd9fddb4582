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
    """The constraint force that answers an applied one."""

    whole: Sparse  # g + f
    force: Sparse  # f
    multipliers: Sparse  # of the independent rows, by row: f = Σ λ u


class IndependentRows(ABC):
    """Some rows, of which some are independent: among them the sparsest one is next."""

    def __init__(
        self, rows: list[Sparse], independent: Collection[int], factor: TreeFactor
    ) -> None:
        self.order: list[int] = []  # independent rows, in this order
        self.squares: list[Scalar] = [0.0] * len(rows)  # u·D⁻¹u of each row
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
        """The least f with which the independent rows are satisfied."""

    @abstractmethod
    def dependence(self, r: int) -> Sparse:
        """Factors by row, 1 for r, with which r and the independent rows add up to zero."""

    @abstractmethod
    def inverse_square(self, scales: Sequence[Scalar]) -> Scalar:
        """Sum of squares of the pseudoinverse of the independent rows, at unit scale."""
