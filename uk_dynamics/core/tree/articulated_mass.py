"""The mass factor of a tree that is never written out: M = L Lᵀ by articulated bodies."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.linalg.mass_factor import DenseMass, SingularMass, mass_factor
from uk_dynamics.core.tree.articulated_bodies import Articulated, whole
from uk_dynamics.core.tree.tree_inertia import TreeInertia

Array = NDArray[np.float64]


class ArticulatedMass:
    """L⁻¹ is the way inward and L⁻ᵀ the way outward; each costs time linear in nv.

    Attributes:
        inertia: The tree.
        size: Number of velocity coordinates nv.
    """

    def __init__(self, inertia: TreeInertia) -> None:
        """Hold a tree; it is eliminated when first needed."""
        self.inertia = inertia
        self.size = len(inertia)

    @cached_property
    def _tree(self) -> Articulated:
        return Articulated(self.inertia, [whole(group) for group in self.inertia.clusters.groups])

    def whiten(self, x: Array) -> Array:
        """L⁻¹ x."""
        result = np.empty(x.shape, order="F")
        parts = self._tree.inward(x)
        for joints, part in zip(self.inertia.clusters.members, parts, strict=True):
            result[joints] = part
        return result

    def unwhiten(self, x: Array) -> Array:
        """L⁻ᵀ x."""
        return self._tree.outward([x[joints] for joints in self.inertia.clusters.members])

    def multiply_factor(self, x: Array) -> Array:
        """L x."""
        return self._tree.multiply_factor([x[joints] for joints in self.inertia.clusters.members])

    def solve(self, x: Array) -> Array:
        """M⁻¹ x."""
        return self._tree.outward(self._tree.inward(x))

    def dense(self) -> Array:
        """M itself, (nv, nv)."""
        return self.inertia.dense()


def factor_inertia(M: Array | TreeInertia) -> DenseMass | SingularMass | ArticulatedMass:
    """The mass factor of a matrix, or that of a tree whose matrix would be large.

    Raises:
        InputError: The matrix has entries that are not finite, or a clearly negative eigenvalue.
    """
    return ArticulatedMass(M) if isinstance(M, TreeInertia) else mass_factor(M)
