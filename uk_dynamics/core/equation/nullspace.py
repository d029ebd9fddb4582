# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The null-space form of the fundamental equation, which needs no inverse of M.

With an orthonormal basis Q₁ of the rows of A and Z of everything orthogonal to them,

    q̈ = x₀ + N (F + c − M x₀),    N = Z (ZᵀMZ)⁻¹ Zᵀ,    x₀ = Q₁ y,  A Q₁ y = b,

the same motion as de Falco's (41) and (43). It exists when ZᵀMZ is positive definite, that is
when [M; A] has full column rank.
"""

from abc import abstractmethod
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrs, dtrtrs

from uk_dynamics.arrays import Array
from uk_dynamics.core.equation.fundamental_equation import Factorization
from uk_dynamics.core.linalg.mass_factor import Mass, coordinate_scale, inertia_factor
from uk_dynamics.core.linalg.row_basis import RowBasis, RowSpace
from uk_dynamics.core.tree.articulated_bodies import Articulated
from uk_dynamics.core.tree.cluster_rows import ClusterRows
from uk_dynamics.core.tree.clusters import TreeInertia


class ScaledCoordinates(Factorization):
    """What the forms share that need no inverse of M; it may be singular.

    Rows are A C and the mass matrix is C M C with C = diag(1/√M_jj), so that neither units nor very
    different masses decide what counts as small.
    """

    def __init__(
        self, mass: Mass, A: Array, natural_scale: Array | None, rank_tolerance: float | Array
    ) -> None:
        """Factor; see :func:`uk_dynamics.core.solver_methods.factorize`."""
        self._M = mass.dense()
        self._scale = coordinate_scale(self._M.diagonal())
        columns: Array = (A * self._scale).T
        super().__init__(self._row_space(columns, natural_scale, rank_tolerance), mass, A)
        self._factorize(columns)

    def admissible_coordinates(self, X: Array) -> tuple[Array, Array]:
        """K = R⁻¹ Zᵀ with R Rᵀ = ZᵀMZ."""
        sizes = np.linalg.norm(self._scale[:, None] * X, axis=0)
        Z, lower = self._reduced
        if Z.shape[1] == 0:
            return np.zeros((0, X.shape[1])), sizes
        return dtrtrs(lower, Z.T @ X, 1)[0], sizes

    def nonideal_force(self, force: Array) -> Array:
        """M N c."""
        return self._M @ self.admissible(force)

    def _free_acceleration(self, F: Array) -> Array:
        return self._scale**2 * F

    def _row_space(
        self, columns: Array, natural_scale: Array | None, rank_tolerance: float | Array
    ) -> RowSpace:
        """The rows A C, given as columns, (nv, m)."""
        return RowBasis(columns, natural_scale, rank_tolerance)

    @abstractmethod
    def _factorize(self, columns: Array) -> None:
        """What a form computes once; ``basis`` is known."""

    @abstractmethod
    def _null_basis(self) -> Array:
        """Orthonormal basis of everything orthogonal to the rows A C, (nv, nv − rank)."""

    @cached_property
    def _reduced(self) -> tuple[Array, Array]:
        """Z = C times the null basis, and the lower factor of ZᵀMZ.

        Raises UndeterminedCoordinatesError: [M; A] lacks full column rank.
        """
        Z = self._scale[:, None] * self._null_basis()
        return Z, inertia_factor(Z, self._M)


class OnRowBasis(ScaledCoordinates):
    """Coordinates of an ideal force are those in an orthonormal basis Q₁ of the rows."""

    basis: RowBasis

    def ideal_force(self, coordinates: Array) -> Array:
        """Q₁ z, back in the units of the coordinates."""
        return self.basis.basis_product(coordinates) / self._scale

    def _null_basis(self) -> Array:
        return self.basis.complement()


class NullSpace(OnRowBasis):
    """Factorisation on the null space of A; M may be singular."""

    method = "nullspace"

    def _factorize(self, columns: Array) -> None:
        self._Z, self._lower = self._reduced

    def admissible(self, X: Array) -> Array:
        """N X = Z (ZᵀMZ)⁻¹ Zᵀ X."""
        if self._Z.shape[1] == 0:
            return np.zeros(X.shape)
        result: Array = self._Z @ dpotrs(self._lower, self._Z.T @ X, 1)[0]
        return result

    def correction(self, r: Array) -> Array:
        """(I − N M) Q₁ y with A Q₁ y = r."""
        x = self._particular(self.basis.coordinates(r))
        return x - self.admissible(self._M @ x)

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        x = self._particular(self.basis.coordinates(b))
        qdd = x + self.admissible(F - self._M @ x)
        ideal = self._scale * (self._M @ qdd - F)
        coordinates = self.basis.rotate(ideal)[: self.basis.rank]
        if nonideal is not None:
            qdd += self.admissible(nonideal)
        return qdd, coordinates

    def _particular(self, y: Array) -> Array:
        return self._scale * self.basis.basis_product(y)


class ArticulatedNullSpace(Factorization):
    """Factorisation by clusters; the coordinates of an ideal force are q̈ and F, (2 nv,)."""

    method = "nullspace"
    basis: ClusterRows

    def __init__(
        self, mass: TreeInertia, A: Array, natural_scale: Array | None, rank_tolerance: float
    ) -> None:
        """Factor; see :func:`uk_dynamics.core.solver_methods.factorize`.

        A: A ``csr_array`` whose rows each stay in one cluster, (m, nv).
        """
        from scipy.sparse import csr_array  # takes long to import

        self._inertia = mass
        self._scale = coordinate_scale(self._inertia.diagonal())
        basis = ClusterRows(csr_array(A), mass.clusters, self._scale, natural_scale, rank_tolerance)
        super().__init__(basis, mass, A)
        self._tree = Articulated(self._inertia, basis.bases)

    def admissible(self, X: Array) -> Array:
        """N X = Z (ZᵀMZ)⁻¹ Zᵀ X."""
        return self._tree.outward(self._tree.inward(X))

    def admissible_coordinates(self, X: Array) -> tuple[Array, Array]:
        """K = R⁻¹ Zᵀ, cluster by cluster."""
        sizes = np.linalg.norm(self._scale[:, None] * X, axis=0)
        return np.concatenate([np.zeros((0, X.shape[1])), *self._tree.inward(X)]), sizes

    def correction(self, r: Array) -> Array:
        """(I − N M) x with A x = r on the independent rows."""
        return self._accelerate(np.zeros(self.A.shape[1]), r, None)[0]

    def ideal_force(self, coordinates: Array) -> Array:
        """M q̈ − F."""
        qdd, F = np.split(coordinates, 2)
        return self._inertia.multiply(qdd) - F

    def nonideal_force(self, force: Array) -> Array:
        """M N c."""
        return self._inertia.multiply(self.admissible(force))

    def multipliers(self, coordinates: Array) -> Array:
        """Multipliers of minimum norm of an ideal force given in coordinates, (m,)."""
        return self.basis.multipliers(self.ideal_force(coordinates))

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        particular = self.basis.particular(b)
        qdd = self._tree.outward(self._tree.inward(F, particular), particular)
        coordinates = np.concatenate((qdd, F))
        if nonideal is not None:
            qdd = qdd + self.admissible(nonideal)
        return qdd, coordinates

    def _free_acceleration(self, F: Array) -> Array:
        return self._scale**2 * F
