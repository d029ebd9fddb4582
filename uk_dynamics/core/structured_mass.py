"""Mass factors that use the structure of M: decoupled blocks, sparsity of a kinematic tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from uk_dynamics.core.mass_factor import DenseMass, mass_factor
from uk_dynamics.exceptions import InputError

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class BlockDiagonalMass:
    """Cholesky factors of the decoupled blocks of M, such as the branches at a fixed root."""

    def __init__(self, M: Array, blocks: Sequence[Indices]) -> None:
        """Factor every block.

        Args:
            M: Mass matrix, (nv, nv); entries outside the blocks are taken for zero.
            blocks: Velocity indices of each block; together they are all of 0 … nv − 1.

        Raises:
            InputError: A block is not positive definite, or the blocks are not a partition.
        """
        self.size = len(M)
        if sorted(np.concatenate(blocks)) != list(range(self.size)):
            raise InputError("every velocity coordinate must be in exactly one block")
        self._blocks: list[tuple[Indices, DenseMass]] = []
        for indices in blocks:
            factor = mass_factor(M[np.ix_(indices, indices)])
            if not isinstance(factor, DenseMass):
                raise _not_definite(int(indices[0]))
            self._blocks.append((np.asarray(indices), factor))

    def whiten(self, x: Array) -> Array:
        """L⁻¹ x."""
        return self._each(x, lambda factor, part: factor.whiten(part))

    def unwhiten(self, x: Array) -> Array:
        """L⁻ᵀ x."""
        return self._each(x, lambda factor, part: factor.unwhiten(part))

    def color(self, x: Array) -> Array:
        """L x."""
        return self._each(x, lambda factor, part: factor.color(part))

    def solve(self, x: Array) -> Array:
        """M⁻¹ x."""
        return self._each(x, lambda factor, part: factor.solve(part))

    def dense(self) -> Array:
        """M itself, (nv, nv)."""
        matrix = np.zeros((self.size, self.size))
        for indices, factor in self._blocks:
            matrix[np.ix_(indices, indices)] = factor.dense()
        return matrix

    def _each(self, x: Array, operation: Callable[[DenseMass, Array], Array]) -> Array:
        result = np.empty(x.shape, order="F")
        for indices, factor in self._blocks:
            result[indices] = operation(factor, x[indices])
        return result


class TreeSparseMass:
    """The factor M = HᵀH of a kinematic tree, leaves eliminated first, so that nothing fills in.

    Row k of H is nonzero only at k and its ancestors (Featherstone, *Rigid Body Dynamics
    Algorithms*, section 6.5). Ancestors of ancestors are ancestors, so H⁻¹ has the same
    sparsity; it is formed once, and whitening is then a sparse product. Worth it from some
    hundred coordinates in many branches on.
    """

    def __init__(self, M: Array, parents: Sequence[int] | Indices) -> None:
        """Factor M.

        Args:
            M: Mass matrix, (nv, nv), with M_ij = 0 unless one is an ancestor of the other.
            parents: Parent of each velocity coordinate, smaller than itself, −1 at the root.

        Raises:
            InputError: M is not positive definite, or the parents are not a tree.
        """
        self.size = len(M)
        paths = _paths(parents, self.size)
        rows = _eliminate(M, paths)
        inverse = _invert(rows, paths)
        columns = np.concatenate(paths) if paths else np.empty(0, dtype=np.intp)
        starts = np.cumsum([0, *(len(path) for path in paths)])
        shape = (self.size, self.size)
        self._factor = csr_array((np.concatenate(rows), columns, starts), shape=shape)
        self._inverse = csr_array((np.concatenate(inverse), columns, starts), shape=shape)
        self._factor_transposed = self._factor.T.tocsr()
        self._inverse_transposed = self._inverse.T.tocsr()

    def whiten(self, x: Array) -> Array:
        """L⁻¹ x with L = Hᵀ."""
        result: Array = self._inverse_transposed @ x
        return result

    def unwhiten(self, x: Array) -> Array:
        """L⁻ᵀ x with L = Hᵀ."""
        result: Array = self._inverse @ x
        return result

    def color(self, x: Array) -> Array:
        """L x with L = Hᵀ."""
        result: Array = self._factor_transposed @ x
        return result

    def solve(self, x: Array) -> Array:
        """M⁻¹ x."""
        return self.unwhiten(self.whiten(x))

    def dense(self) -> Array:
        """M itself, (nv, nv)."""
        matrix: Array = (self._factor_transposed @ self._factor).toarray()
        return matrix


def _paths(parents: Sequence[int] | Indices, size: int) -> list[Indices]:
    """Ancestors of each coordinate from the root on, the coordinate itself last."""
    paths: list[Indices] = []
    for k, parent in enumerate(parents):
        if not -1 <= parent < k:
            raise InputError(f"coordinate {k} comes before its parent {parent} in the tree")
        above = paths[parent] if parent >= 0 else np.empty(0, dtype=np.intp)
        paths.append(np.append(above, k))
    if len(paths) != size:
        raise InputError(f"{len(paths)} parents were given for {size} velocity coordinates")
    return paths


def _eliminate(M: Array, paths: list[Indices]) -> list[Array]:
    """Rows of H on their paths: from the leaves, each takes its part off its ancestors' block."""
    work = np.array(M, dtype=float)
    rows: list[Array] = []
    for path in reversed(paths):
        k = int(path[-1])
        pivot = work[k, k]
        # NaN fails this comparison as well
        if not pivot > 1e-13 * M[k, k] or not np.isfinite(pivot):
            raise _not_definite(k)
        row = work[k, path] / np.sqrt(pivot)
        above = path[:-1]
        work[np.ix_(above, above)] -= np.outer(row[:-1], row[:-1])
        rows.append(row)
    rows.reverse()
    return rows


def _invert(rows: list[Array], paths: list[Indices]) -> list[Array]:
    """Rows of H⁻¹ on the same paths, from the root on."""
    inverse: list[Array] = []
    for row, path in zip(rows, paths, strict=True):
        full = np.zeros(len(path))
        for depth, ancestor in enumerate(path[:-1]):
            full[: depth + 1] -= row[depth] * inverse[ancestor]
        full[-1] = 1.0
        inverse.append(full / row[-1])
    return inverse


def _not_definite(coordinate: int) -> InputError:
    return InputError(
        f"the mass matrix is not positive definite at velocity coordinate {coordinate}; "
        "a structured factor needs inertia in every coordinate"
    )
