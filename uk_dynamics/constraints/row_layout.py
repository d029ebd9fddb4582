"""Where each row stands: families are evaluated one after the other, then put in declared order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.constraint import Constraint
from uk_dynamics.constraints.joint_rows import JointRows
from uk_dynamics.constraints.kinds import (
    AlignmentRow,
    AngularRow,
    DistanceRow,
    JointRow,
    LinearRow,
    Row,
)
from uk_dynamics.constraints.relative_motion import FrameKinematics, FramePairs
from uk_dynamics.constraints.rotation_reference import RotationGroups
from uk_dynamics.constraints.row_family import RowFamily
from uk_dynamics.constraints.rows import (
    AlignmentRows,
    AngularRows,
    DistanceRows,
    FrameRows,
    LinearRows,
    RowFrames,
)
from uk_dynamics.constraints.vectors import Array

_FRAME_ROWS = (LinearRow, AngularRow, AlignmentRow, DistanceRow)
# Families beside the two-frame primitive: a row type, and what collects its rows.
_OTHER_ROWS: tuple[tuple[type, Callable[[tuple[Constraint, ...], int, int], RowFamily]], ...] = (
    (JointRow, JointRows.of),
)
_FAMILY_ORDER = (*_FRAME_ROWS, *(row_type for row_type, _ in _OTHER_ROWS))


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
        angular_rows: Declared positions of the angular rows, in evaluation order.
        rotation_groups: Reference rotations of the angular rows, None when there are none.
        direct_scale: Factor of a reference value per declared row: 1, the declared length for
            alignment rows, 0 for angular rows, whose reference is a rotation.
    """

    pairs: FramePairs
    families: tuple[tuple[FrameRows, slice], ...]
    others: tuple[RowFamily, ...]
    pair_of_row: NDArray[np.intp]
    order: NDArray[np.intp]
    declared_order: bool
    angular_rows: NDArray[np.intp]
    rotation_groups: RotationGroups | None
    direct_scale: Array
    _axis_checks: tuple[tuple[str, int, Array], ...]

    @classmethod
    def of(
        cls, constraints: tuple[Constraint, ...], ancestor_mask: Array, nq: int, length: float
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
        for family_type in _FRAME_ROWS:
            members = [e for e in sorted_entries if isinstance(e.row, family_type)]
            if members:
                families.append(
                    (_family(members, pairs, length), slice(start, start + len(members)))
                )
            start += len(members)

        angular = [e for e in sorted_entries if isinstance(e.row, AngularRow)]
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
            rotation_groups=_rotation_groups(angular, length) if angular else None,
            direct_scale=np.array([_direct_scale(e.row, length) for e in entries]),
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


def _family(members: list[_Entry], pairs: FramePairs, length: float) -> FrameRows:
    pair = np.array([e.pair for e in members], dtype=np.intp)
    frames = RowFrames(pairs.parent[pair], pairs.child[pair], pair)
    rows = [e.row for e in members]
    first = rows[0]
    if isinstance(first, LinearRow):
        return LinearRows(frames, np.array([r.direction for r in rows if isinstance(r, LinearRow)]))
    if isinstance(first, AngularRow):
        directions = np.array([r.direction for r in rows if isinstance(r, AngularRow)])
        return AngularRows(frames, length * directions)
    if isinstance(first, AlignmentRow):
        parents = np.array([r.parent for r in rows if isinstance(r, AlignmentRow)])
        children = np.array([r.child for r in rows if isinstance(r, AlignmentRow)])
        return AlignmentRows(frames, length * parents, children)
    return DistanceRows(frames, np.array([r.distance for r in rows if isinstance(r, DistanceRow)]))


def _rotation_groups(angular: list[_Entry], length: float) -> RotationGroups:
    owners = sorted({e.constraint for e in angular})
    group = np.array([owners.index(e.constraint) for e in angular], dtype=np.intp)
    directions = np.array([e.row.direction for e in angular if isinstance(e.row, AngularRow)])
    return RotationGroups(group, length * directions, length)


def _direct_scale(row: Row, length: float) -> float:
    if isinstance(row, AngularRow):
        return 0.0
    return length if isinstance(row, AlignmentRow) else 1.0


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
