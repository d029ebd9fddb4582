# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows of large trees: A is sparse, since a loop involves only the joints along it."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from uk_dynamics.constraints.rows.constraint_set import ConstraintSet
from uk_dynamics.constraints.rows.relative_motion import (
    FrameKinematics,
    RelativeTwist,
    relative_twist,
)
from uk_dynamics.constraints.rows.row import Constraint
from uk_dynamics.constraints.rows.vectors import Array, dot
from uk_dynamics.model.kinematics import Ancestry, TreeWorkspace


class SparseConstraintSet(ConstraintSet):
    """A constraint set that gives A as a ``csr_array``; rows of frame pairs only."""

    def __init__(
        self, constraints: tuple[Constraint, ...], ancestry: Ancestry, nq: int, length: float = 1.0
    ) -> None:
        """Lay out the rows; see :class:`ConstraintSet`."""
        super().__init__(constraints, ancestry, nq, length)
        pairs = self.layout.pairs
        between = [
            ancestry.between(int(p), int(c)) for p, c in zip(pairs.parent, pairs.child, strict=True)
        ]
        # velocities that can move each row, by frame pair
        self.supports: Sequence[Sequence[int]] = [moving for moving, _ in between]
        of_row = self.layout.pair_of_row
        counts = np.array([len(self.supports[pair]) for pair in of_row], dtype=np.intp)
        self._starts = np.concatenate(([0], np.cumsum(counts)))
        self._row = np.repeat(np.arange(len(of_row)), counts)
        self._velocity = np.array([j for pair in of_row for j in between[pair][0]], dtype=np.intp)
        self._signs = np.array([s for pair in of_row for s in between[pair][1]], dtype=float)
        self._nv = ancestry.shape[1]
        self._parent, self._child = ancestry.carriers[pairs.parent], ancestry.carriers[pairs.child]

    @staticmethod
    def expresses(constraints: ConstraintSet) -> bool:
        """Whether all rows are of frame pairs and of order position."""
        return not constraints.layout.others and bool(constraints.position_rows.all())

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Rows with nothing cancelled between their frames, sparse (m, nv)."""
        wrench, _ = self._wrenches(kinematics, None)
        return self._sparse(np.abs(self._entries(wrench, kinematics)))[self.layout.order]

    def _declared(self, parts: list[Array]) -> Array:
        (rows,) = parts
        return rows[self.layout.order]

    def _frame_jacobian(self, wrench: Array, kinematics: FrameKinematics) -> Array:
        return self._sparse(self._signs * self._entries(wrench, kinematics))

    def _entries(self, wrench: Array, kinematics: FrameKinematics) -> Array:
        return dot(wrench[self._row], kinematics.jacobian.T[self._velocity])

    def _sparse(self, entries: Array) -> Array:
        shape = (len(self._starts) - 1, self._nv)
        # Every user of A treats it as a matrix; no result depends on its being sparse.
        from scipy.sparse import csr_array  # takes long to import

        return csr_array((entries, self._velocity, self._starts), shape=shape)  # type: ignore[return-value]

    def _relative_twist(self, kinematics: FrameKinematics, v: Array) -> RelativeTwist:
        """Motion of the frame pairs, see :meth:`FramePairs.twist`, from the twists of bodies."""
        tree = cast(TreeWorkspace, kinematics)
        parent, child = tree.twist[self._parent], tree.twist[self._child]
        delta = child - parent
        rate = tree.twist_rate[self._child] - tree.twist_rate[self._parent]
        origin = kinematics.translation.take(self.layout.pairs.child, 0)
        return relative_twist(parent, delta, rate, origin)
