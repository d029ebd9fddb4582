# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fundamental equation, whatever its form: factor M and A once, solve for any F and b."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.equation.solution import Method, Solution, Status
from uk_dynamics.core.linalg.mass_factor import DenseMass, Mass
from uk_dynamics.core.linalg.rank_rule import (
    DEFAULT_CONSISTENCY_TOLERANCE,
    EXACTLY_DEPENDENT,
    NEGLIGIBLE_ACCELERATION,
)
from uk_dynamics.core.linalg.row_basis import RowSpace
from uk_dynamics.core.tree.clusters import TreeInertia

_NO_ROWS: Indices = np.empty(0, dtype=np.intp)


class Factorization(ABC):
    """M and the rows of A, ready for several right-hand sides.

    A is not copied: it must stay as it is while :meth:`solve` is in use.
    """

    method: ClassVar[Method]  # name of the form

    def __init__(self, basis: RowSpace, mass: Mass | TreeInertia, A: Array) -> None:
        self.basis = basis  # which rows are independent, and what they span
        self.mass = mass  # the mass factor, or the bodies of a tree
        self.A = A  # constraint matrix, (m, nv)

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        return self.basis.rank

    @property
    def independent(self) -> Indices:
        """Independent rows in the order in which they were found, (rank,)."""
        return self.basis.independent

    @property
    def dependent(self) -> Indices:
        """Rows that depend on the independent ones, (m − rank,)."""
        return self.basis.dependent

    @property
    def residual_norm(self) -> Array:
        """Norm of what the independent rows before it leave of each scaled row, (m,)."""
        return self.basis.residual_norm

    @cached_property
    def condition(self) -> float:
        """Condition number of the independent rows at unit norm."""
        return self.basis.condition

    @cached_property
    def determined(self) -> Flags:
        """Whether the multiplier of each row is unique, (m,)."""
        return self.basis.determined()

    def multipliers(self, coordinates: Array) -> Array:
        """Multipliers of minimum norm of an ideal force given in coordinates, (m,)."""
        return self.basis.multipliers(coordinates)

    def solve(
        self,
        F: Array,  # generalized force without constraints, (nv,), N m or N
        b: Array,  # right-hand side of A q̈ = b, (m,)
        *,
        nonideal: Array | None = None,  # non-ideal constraint force c, (nv,), N m or N
        # a dependent row holds when |A q̈ − b| is at most this part of |b| + |A| (|q̈| + |free
        # acceleration|)
        consistency_tolerance: float = DEFAULT_CONSISTENCY_TOLERANCE,
    ) -> Solution:
        """Acceleration under the constraints: review (36), servo paper (13).

        Independent rows hold within rounding, dependent rows were checked.
        """
        qdd, coordinates = self._accelerate(F, b, nonideal)
        residual = self.A.dot(qdd)
        residual -= b
        status, offending = Status.OK, _NO_ROWS
        if len(self.dependent):
            # Every row may be off by so much, however small the accelerations; NaN may not.
            admitted = consistency_tolerance * NEGLIGIBLE_ACCELERATION
            if not residual.dot(residual) <= admitted * admitted:
                status, offending = self._check(F, b, qdd, residual, consistency_tolerance)
        return Solution(qdd, residual, status, offending, self, coordinates, nonideal)

    @abstractmethod
    def admissible(self, X: Array) -> Array:
        """N X: what generalized forces X, (nv,) or (nv, k), accelerate within the constraints."""

    @abstractmethod
    def admissible_coordinates(self, X: Array) -> tuple[Array, Array]:
        """K X, (nv − rank, k), fresh, with N = KᵀK: generalized forces X in the admissible motions.

        And the size that each column of X, (nv, k), would have without constraints, (k,).
        """

    @abstractmethod
    def correction(self, r: Array) -> Array:
        """The x of least xᵀ M x, (nv,), with A x = r, (m,), on the independent rows."""

    @abstractmethod
    def ideal_force(self, coordinates: Array) -> Array:
        """Generalized force with these coordinates, as :class:`Solution` keeps them, (nv,)."""

    @abstractmethod
    def nonideal_force(self, force: Array) -> Array:
        """Part of a force that the constraints let through, servo paper (12), (nv,)."""

    def holding(self, force: Array) -> Array:
        """Ideal force, in the basis of the rows, that keeps a force (nv,) from moving them."""
        return self._accelerate(force, np.zeros(self.A.shape[0]), None)[1]

    @abstractmethod
    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        """Acceleration, and the ideal force in coordinates of the form's own choice."""

    @abstractmethod
    def _free_acceleration(self, F: Array) -> Array:
        """Size of the accelerations that F would cause without constraints, (nv,)."""

    def _rows_to_check(self) -> Indices:
        """Rows that may fail to hold, (k,)."""
        return self.dependent

    def _contradicting(self, failed: Indices) -> Flags:
        """Which failed rows contradict others; the remaining ones are nearly dependent."""
        return self.residual_norm[failed] <= EXACTLY_DEPENDENT

    def _check(
        self, F: Array, b: Array, qdd: Array, residual: Array, tolerance: float
    ) -> tuple[Status, Indices]:
        """Classify the dependent rows: holding, nearly dependent, or contradicting."""
        rows = self._rows_to_check()
        size = np.abs(self._free_acceleration(F)) + np.abs(qdd)
        scale = np.abs(b[rows]) + np.abs(self.A[rows]).dot(size) + NEGLIGIBLE_ACCELERATION
        holds = np.abs(residual[rows]) <= tolerance * scale
        if holds.all():
            return Status.OK, _NO_ROWS
        failed = rows[~holds]
        exact = self._contradicting(failed)
        if exact.any():
            return Status.INCONSISTENT, failed[exact]
        return Status.NEAR_SINGULAR, failed


class WhitenedCoordinates(Factorization):
    """What the forms share that divide by M = L Lᵀ: N = L⁻ᵀ P L⁻¹ with a projector P."""

    mass: DenseMass

    def admissible(self, X: Array) -> Array:
        """N X = L⁻ᵀ P L⁻¹ X."""
        return self.mass.unwhiten(self._project(self.mass.whiten(X)))

    def nonideal_force(self, force: Array) -> Array:
        """L P L⁻¹ c."""
        return self.mass.multiply_factor(self._project(self.mass.whiten(force)))

    def _free_acceleration(self, F: Array) -> Array:
        return self.mass.solve(F)

    @abstractmethod
    def _project(self, x: Array) -> Array:
        """P x: what constraints leave of whitened forces, (nv,) or (nv, k)."""
