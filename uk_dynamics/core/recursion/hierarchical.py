# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fundamental equation level by level: Orsino's recursion behind the common interface.

For positive definite M. Rows may have clearances: they follow A q̈ + Rλ = b instead of A q̈ = b,
(4.17), (4.18). With b stabilised at the frequency ω such a row is in equilibrium at ψ = −Rλ/ω²,
so that a physical compliance C (m/N) is R = ω²C.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.equation.fundamental_equation import WhitenedCoordinates
from uk_dynamics.core.linalg.mass_factor import DenseMass
from uk_dynamics.core.linalg.rank_rule import inverse_row_scale
from uk_dynamics.core.linalg.row_basis import RowBasis
from uk_dynamics.core.recursion.recursion import Recursion


class Hierarchical(WhitenedCoordinates):
    """Factorisation by recursion over levels of rows."""

    method = "hierarchical"

    def __init__(
        self,
        mass: DenseMass,
        A: Array,
        natural_scale: Array | None,
        rank_tolerance: float,
        levels: Sequence[Indices] | None = None,
        clearance: Array | None = None,
    ) -> None:
        """Factor; see :func:`uk_dynamics.core.solver_methods.factorize`."""
        self.mass, self.A = mass, A
        # rows of each level, the first enforced first
        self.levels = tuple(levels) if levels is not None else (np.arange(len(A)),)
        self._natural_scale = natural_scale
        self._tolerance = rank_tolerance
        self._clearance = clearance
        self._rigid = np.arange(len(A)) if clearance is None else np.flatnonzero(clearance == 0.0)
        self._H = mass.whiten(A.T).T
        inverse = inverse_row_scale(np.linalg.norm(self._H, axis=1), natural_scale)
        recursion = Recursion.free(mass.size)
        recursions = []
        for rows in self.levels:
            soft = None if clearance is None else clearance[rows]
            recursion = recursion.enforce(rows, self._H[rows], inverse[rows], rank_tolerance, soft)
            recursions.append(recursion)
        # the recursion after each level; the last one is the whole machine
        self.recursions = tuple(recursions)
        self._whole = recursion

    @property
    def rank(self) -> int:
        """Number of independent rows that hold exactly."""
        return self._whole.rank

    @property
    def independent(self) -> Indices:
        """Independent rows, level by level, (rank,)."""
        return _joined([update.rows[: update.rank] for update in self._whole.updates])

    @property
    def dependent(self) -> Indices:
        """Rows that depend on the independent ones; rows with clearances are neither."""
        return _joined([update.dependent for update in self._whole.updates])

    @property
    def residual_norm(self) -> Array:
        """Norm of what independent rows before it leave of each scaled row, (m,); 1 for others."""
        result = np.ones(len(self.A))
        for update in self._whole.updates:
            if update.rigid:
                result[np.concatenate((update.rows, update.dependent))] = update.residual_norm
        return result

    @cached_property
    def condition(self) -> float:
        """Condition number of the independent rows at unit norm, all levels together."""
        return self._at_once.condition

    @cached_property
    def determined(self) -> Flags:
        """Whether the multiplier of each row is unique, (m,); with a clearance it always is."""
        result = np.ones(len(self.A), dtype=bool)
        result[self._rigid] = self._at_once.determined()
        return result

    def multipliers(self, coordinates: Array) -> Array:
        """Multipliers of an ideal force: those of clearances are unique, the others least, (m,)."""
        nv = self.mass.size
        force, soft = coordinates[:nv], coordinates[nv:]
        result = np.zeros(len(self.A))
        if len(soft):
            loose = self._loose
            result[loose] = soft
            force = force - soft @ self._H[loose]
        basis = self._at_once
        result[self._rigid] = basis.multipliers(basis.rotate(force)[: basis.rank])
        return result

    def accelerate(self, F: Array, b: Array, level: int | None = None) -> Array:
        """Acceleration of the model, (nv,), by F, (nv,), and b, (m,), with so many levels enforced.

        All of them where ``level`` is None.
        """
        count = len(self.recursions) if level is None else level
        a = self.mass.whiten(F)
        if count:
            a = self.recursions[count - 1].advance(a, b)
        return self.mass.unwhiten(a)

    def admissible_coordinates(self, X: Array) -> tuple[Array, Array]:
        """K = WᵀZᵀL⁻¹."""
        whitened = self.mass.whiten(X)
        return self._whole.root().T @ whitened, np.linalg.norm(whitened, axis=0)

    def correction(self, r: Array) -> Array:
        """The recursion from zero acceleration; compliant rows yield."""
        return self.mass.unwhiten(self._whole.advance(np.zeros(self.mass.size), r))

    def ideal_force(self, coordinates: Array) -> Array:
        """L times the whitened force, which the recursion gives at once."""
        return self.mass.multiply_factor(coordinates[: self.mass.size])

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        free = self.mass.whiten(F)
        a = self._whole.advance(free, b)
        coordinates = a - free
        if self._clearance is not None:
            loose = self._loose
            soft = (b[loose] - self._H[loose] @ a) / self._clearance[loose]
            coordinates = np.concatenate((coordinates, soft))
        if nonideal is not None:
            a += self._project(self.mass.whiten(nonideal))
        return self.mass.unwhiten(a), coordinates

    def _project(self, x: Array) -> Array:
        return self._whole.project(x)

    @cached_property
    def _loose(self) -> Indices:
        return np.setdiff1d(np.arange(len(self.A)), self._rigid)

    @cached_property
    def _at_once(self) -> RowBasis:
        """All rigid rows without levels: multipliers of least norm know no hierarchy."""
        scale = None if self._natural_scale is None else self._natural_scale[self._rigid]
        return RowBasis(np.asfortranarray(self._H[self._rigid].T), scale, self._tolerance)


def _joined(parts: Sequence[Indices]) -> Indices:
    return np.concatenate((np.empty(0, dtype=np.intp), *parts))
