"""Rows taken in a fixed order, traced: how, is a matter of subclasses.

Rows u are covectors in the metric D⁻¹, and so are the force g that pushes and the force f by which
rows answer: g + f makes the motion x = D⁻¹ (g + f), and rows want u·x = b.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import NamedTuple

from uk_dynamics.compilation.sparse_vectors import Scalar, Sparse
from uk_dynamics.compilation.tree_factor import TreeFactor


class Answer(NamedTuple):
    """How rows answer a force.

    Attributes:
        whole: g + f.
        force: f.
        multipliers: Of the rows taken, by row: f = Σ λ u.
    """

    whole: Sparse
    force: Sparse
    multipliers: Sparse


class IndependentRows(ABC):
    """Some rows, of which some are taken, the shortest one next.

    Attributes:
        order: Rows taken, in this order.
        squares: u·D⁻¹u of each row.
        remainders: Of each row that is not taken, what those taken leave of its square, by row.
    """

    def __init__(self, rows: list[Sparse], taken: Collection[int], factor: TreeFactor) -> None:
        """Take rows.

        Args:
            rows: All of them.
            taken: Those to take.
            factor: D is its part.
        """
        self.order: list[int] = []
        self.squares: list[Scalar] = [0.0] * len(rows)
        self._left = [dict(row) for row in rows]
        self._factor = factor
        waiting, left = set(taken), set(range(len(rows)))
        while waiting:
            r = min(waiting, key=lambda row: (len(self._left[row]), row))
            waiting.remove(r)
            left.remove(r)
            self._take(r, sorted(left))
            self.order.append(r)
        self.remainders: dict[int, Scalar] = {r: self._drop(r) for r in sorted(left)}

    @abstractmethod
    def _take(self, r: int, others: Sequence[int]) -> None:
        """Take a row, and remove what others have of it."""

    @abstractmethod
    def _drop(self, r: int) -> Scalar:
        """What is left of the square of a row that is not taken."""

    @abstractmethod
    def answer(self, g: Sparse, b: Sequence[Scalar]) -> Answer:
        """The least f with which the rows taken get what they want.

        Args:
            g: The force that pushes.
            b: What all rows want.
        """

    @abstractmethod
    def dependence(self, r: int) -> Sparse:
        """Factors by row, that of row r one, with which r and the rows taken add up to nothing.

        Args:
            r: A row that is not taken.
        """

    @abstractmethod
    def inverse_square(self, scales: Sequence[Scalar]) -> Scalar:
        """Sum of squares of the pseudoinverse of the rows taken, each divided by its scale.

        Args:
            scales: Squares of the scales of all rows.
        """
