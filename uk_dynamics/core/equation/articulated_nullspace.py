# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The null-space form of the fundamental equation for trees with local loops, in linear time.

It is the form of :mod:`uk_dynamics.core.equation.nullspace` with the same rank rule: a sparse A
whose rows each stay in one cluster has Z in blocks, and N = Z (ZᵀMZ)⁻¹ Zᵀ is applied by the
articulated-body elimination instead of being formed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.equation.fundamental_equation import Factorization
from uk_dynamics.core.linalg.mass_factor import coordinate_scale
from uk_dynamics.core.tree.articulated_bodies import Articulated, ArticulatedMass
from uk_dynamics.core.tree.cluster_rows import ClusterRows

Array = NDArray[np.float64]


class ArticulatedNullSpace(Factorization):
    """Factorisation by clusters; the coordinates of an ideal force are q̈ and F, (2 nv,)."""

    method = "nullspace"
    basis: ClusterRows

    def __init__(
        self, mass: ArticulatedMass, A: Array, natural_scale: Array | None, rank_tolerance: float
    ) -> None:
        """Factor; see :func:`uk_dynamics.core.factorization.factorize`.

        A: A ``csr_array`` whose rows each stay in one cluster, (m, nv).
        """
        from scipy.sparse import csr_array  # takes long to import

        self._inertia = mass.inertia
        self._scale = coordinate_scale(self._inertia.diagonal())
        clusters = self._inertia.clusters
        basis = ClusterRows(csr_array(A), clusters, self._scale, natural_scale, rank_tolerance)
        super().__init__(basis, mass, A)
        self._tree = Articulated(self._inertia, basis.bases)

    def admissible(self, X: Array) -> Array:
        """N X = Z (ZᵀMZ)⁻¹ Zᵀ X."""
        return self._tree.outward(self._tree.inward(X))

    def admissible_coordinates(self, X: Array) -> tuple[Array, Array]:
        """K = R⁻¹ Zᵀ, cluster by cluster."""
        sizes = np.linalg.norm(self._scale[:, None] * X, axis=0)
        bases = self._inertia.clusters.in_order(self._tree.bases)
        parts = [part[Z.any(axis=0)] for part, Z in zip(self._tree.inward(X), bases, strict=True)]
        return np.concatenate([np.zeros((0, X.shape[1])), *parts]), sizes

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

    def holding(self, force: Array) -> Array:
        """Ideal force that keeps a given force from moving the rows, as q̈ and F."""
        return self._accelerate(force, np.zeros(self.A.shape[0]), None)[1]

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        particular = self.basis.particular(b)
        qdd = self._tree.outward(self._tree.inward(F, particular), particular)
        coordinates = np.concatenate((qdd, F))
        if nonideal is not None:
            qdd = qdd + self.admissible(nonideal)
        return qdd, coordinates

    def _free_acceleration(self, F: Array) -> Array:
        return self._scale**2 * F
