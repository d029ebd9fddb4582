"""Where each row stands: families are evaluated one after the other, then put in declared order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.constraint import Constraint
from uk_dynamics.constraints.expression_rows import ExpressionRows
from uk_dynamics.constraints.frame_families import (
    FRAME_ROWS,
    FrameRows,
    frame_family,
    reference_scale,
)
from uk_dynamics.constraints.joint_rows import JointRows
from uk_dynamics.constraints.mass_center_rows import MassCenterRows
from uk_dynamics.constraints.relative_motion import AncestorMask, FrameKinematics, FramePairs
from uk_dynamics.constraints.rotation_reference import RotationGroups
from uk_dynamics.constraints.row_family import RowFamily
from uk_dynamics.constraints.row_types import (
    AlignmentRow,
    AngularRow,
    ExpressionRow,
    JointRow,
    MassCenterRow,
    RotationVectorRow,
    Row,
)
from uk_dynamics.constraints.rows import RowFrames
from uk_dynamics.constraints.vectors import Array

# Families beside the two-frame primitive: a row type, and what collects its rows.
_OTHER_ROWS: tuple[tuple[type, Callable[[tuple[Constraint, ...], int, int], RowFamily]], ...] = (
    (JointRow, JointRows.of),
    (MassCenterRow, MassCenterRows.of),
    (ExpressionRow, ExpressionRows.of),
)
_FAMILY_ORDER = (*FRAME_ROWS, *(row_type for row_type, _ in _OTHER_ROWS))


@dataclass(frozen=True)
class _Entry:
    constraint: int
    pair: int
    declared: int
    row: Row


@dataclass(frozen=True)
class RowLayout:
    """Indices that connect declared rows, families and frame pairs.

    Attributes:
        pairs: Frame pairs of all constraints that have frames.
        families: Rows of frame pairs with the slice they take in evaluation order.
        others: Families beside the two-frame primitive, in evaluation order after those.
        pair_of_row: Pair of each frame row in evaluation order.
        order: Evaluation position of each declared row.
        declared_order: Whether evaluation order is declared order already.
        angular_rows: Declared positions of the rows whose reference is a rotation, in evaluation
            order: those of angular velocity, then those of rotation vectors.
        angular_count: How many of them are rows of angular velocity.
        rotation_groups: Reference rotations of these rows, None when there are none.
        direct_scale: Factor of a reference value per declared row: 1, the declared length for
            alignment rows and angular velocities, 0 where the reference is a rotation.
    """

    pairs: FramePairs
    families: tuple[tuple[FrameRows, slice], ...]
    others: tuple[RowFamily, ...]
    pair_of_row: NDArray[np.intp]
    order: NDArray[np.intp]
    declared_order: bool
    angular_rows: NDArray[np.intp]
    angular_count: int
    rotation_groups: RotationGroups | None
    direct_scale: Array
    _axis_checks: tuple[tuple[str, int, Array], ...]

    @classmethod
    def of(
        cls,
        constraints: tuple[Constraint, ...],
        ancestor_mask: AncestorMask,
        nq: int,
        length: float,
    ) -> RowLayout:
        """Lay out the rows of the constraints; see :class:`ConstraintSet` for the arguments."""
        framed = [c for c in constraints if c.parent is not None and c.child is not None]
        pair_of = {c.name: index for index, c in enumerate(framed)}
        parent = np.array([c.parent for c in framed], dtype=np.intp)
        child = np.array([c.child for c in framed], dtype=np.intp)
        pairs = FramePairs(parent, child, ancestor_mask)

        entries: list[_Entry] = []
        for index, constraint in enumerate(constraints):
            for row in constraint.rows:
                pair = pair_of.get(constraint.name, -1)
                entries.append(_Entry(index, pair, len(entries), row))
        sorted_entries = sorted(entries, key=lambda e: _FAMILY_ORDER.index(type(e.row)))
        order = np.empty(len(entries), dtype=np.intp)
        for position, entry in enumerate(sorted_entries):
            order[entry.declared] = position

        families: list[tuple[FrameRows, slice]] = []
        start = 0
        for family_type in FRAME_ROWS:
            members = [e for e in sorted_entries if isinstance(e.row, family_type)]
            if members:
                of_row = np.array([e.pair for e in members], dtype=np.intp)
                frames = RowFrames(parent[of_row], child[of_row], of_row)
                family = frame_family([e.row for e in members], frames, length)
                families.append((family, slice(start, start + len(members))))
            start += len(members)

        angular = [e for e in sorted_entries if isinstance(e.row, AngularRow | RotationVectorRow)]
        return cls(
            pairs=pairs,
            families=tuple(families),
            others=tuple(
                collect(constraints, nq, ancestor_mask.shape[1])
                for row_type, collect in _OTHER_ROWS
                if any(isinstance(e.row, row_type) for e in entries)
            ),
            pair_of_row=np.array([e.pair for e in sorted_entries[:start]], dtype=np.intp),
            order=order,
            declared_order=bool(np.all(order == np.arange(len(order)))),
            angular_rows=np.array([e.declared for e in angular], dtype=np.intp),
            angular_count=sum(isinstance(e.row, AngularRow) for e in angular),
            rotation_groups=_rotation_groups(angular, length) if angular else None,
            direct_scale=np.array([reference_scale(e.row, length) for e in entries]),
            _axis_checks=_axis_checks(constraints, pair_of),
        )

    def reversed_axes(self, kinematics: FrameKinematics) -> tuple[str, ...]:
        """Names of constraints whose child axis points against the parent's."""
        names = []
        for name, pair, axis in self._axis_checks:
            parent = kinematics.rotation[self.pairs.parent[pair]] @ axis
            child = kinematics.rotation[self.pairs.child[pair]] @ axis
            if parent @ child < 0.0:
                names.append(name)
        return tuple(names)


def _rotation_groups(angular: list[_Entry], length: float) -> RotationGroups:
    owners = sorted({e.constraint for e in angular})
    group = np.array([owners.index(e.constraint) for e in angular], dtype=np.intp)
    rows = [e.row for e in angular]
    directions = np.array(
        [row.direction for row in rows if isinstance(row, AngularRow | RotationVectorRow)]
    )
    return RotationGroups(group, length * directions, length)


def _axis_checks(
    constraints: tuple[Constraint, ...], pair_of: dict[str, int]
) -> tuple[tuple[str, int, Array], ...]:
    """Kinds that align one common axis: both tilt rows share the child direction."""
    checks = []
    for constraint in constraints:
        axes = {row.child for row in constraint.rows if isinstance(row, AlignmentRow)}
        tilts = sum(isinstance(row, AlignmentRow) for row in constraint.rows)
        if tilts == 2 and len(axes) == 1:
            checks.append((constraint.name, pair_of[constraint.name], np.array(axes.pop())))
    return tuple(checks)
