# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where each row stands: families are evaluated one after the other, then put in declared order."""

from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.rows.frame_rows import AlignmentRow, AngularRow
from uk_dynamics.constraints.rows.relative_motion import AncestorMask, FrameKinematics, FramePairs
from uk_dynamics.constraints.rows.rotation_vector_rows import RotationGroups, RotationVectorRow
from uk_dynamics.constraints.rows.row import (
    Constraint,
    FrameRow,
    FrameRows,
    RobotRow,
    Row,
    RowFamily,
    RowFrames,
)


@dataclass(frozen=True)
class _Entry:
    constraint: int
    pair: int
    declared: int
    row: Row
    name: str


@dataclass(frozen=True)
class RowLayout:
    """Indices that connect declared rows, families and frame pairs."""

    pairs: FramePairs  # Frame pairs of all constraints that have frames
    # Rows of frame pairs with the slice they take in evaluation order
    families: tuple[tuple[FrameRows, slice], ...]
    # Families of rows that two frames do not determine, in evaluation order after those
    others: tuple[RowFamily, ...]
    pair_of_row: Indices  # Pair of each frame row in evaluation order
    order: Indices  # Evaluation position of each declared row
    declared_order: bool  # Whether evaluation order is declared order already
    # Declared positions of the rows whose reference is a rotation: those of angular velocity, then
    # those of rotation vectors
    angular_rows: Indices
    angular_count: int  # How many of them are rows of angular velocity
    # Reference rotations of these rows, None when there are none
    rotation_groups: RotationGroups | None
    # Factor of a reference value per declared row: 1, the declared length for alignment rows and
    # angular velocities, 0 where the reference is a rotation
    direct_scale: Array
    period: Array  # Of the residual of each declared row, infinite where it has none
    _axis_checks: tuple[tuple[str, int, Array], ...]

    @classmethod
    def of(
        cls,
        constraints: tuple[Constraint, ...],
        ancestor_mask: AncestorMask,
        nq: int,
        length: float,
    ) -> "RowLayout":
        """Lay out the rows of the constraints; see :class:`ConstraintSet` for the arguments."""
        ends = [(c.name, c.parent, c.child) for c in constraints]
        framed = [(x, p, c) for x, p, c in ends if p is not None and c is not None]
        pair_of = {name: index for index, (name, _, _) in enumerate(framed)}
        pairs = FramePairs([p for _, p, _ in framed], [c for _, _, c in framed], ancestor_mask)

        entries: list[_Entry] = []
        for index, constraint in enumerate(constraints):
            pair = pair_of.get(constraint.name, -1)
            for row, name in zip(constraint.rows, constraint.row_names, strict=True):
                entries.append(_Entry(index, pair, len(entries), row, name))
        types = tuple(dict.fromkeys(type(e.row) for e in entries))
        frame_types = [t for t in types if issubclass(t, FrameRow)]
        robot_types = [t for t in types if issubclass(t, RobotRow)]
        members = {t: [e for e in entries if type(e.row) is t] for t in types}
        sorted_entries = [e for t in (*frame_types, *robot_types) for e in members[t]]
        order = np.empty(len(entries), dtype=np.intp)
        for position, entry in enumerate(sorted_entries):
            order[entry.declared] = position

        families: list[tuple[FrameRows, slice]] = []
        start = 0
        for frame_type in frame_types:
            found = members[frame_type]
            of_row = np.array([e.pair for e in found], dtype=np.intp)
            frames = RowFrames(pairs.parent[of_row], pairs.child[of_row], of_row)
            family = frame_type.stack([e.row for e in found], frames, length)
            families.append((family, slice(start, start + len(found))))
            start += len(found)

        angular = members.get(AngularRow, []) + members.get(RotationVectorRow, [])
        return cls(
            pairs=pairs,
            families=tuple(families),
            others=tuple(
                t.collect([(e.name, e.row) for e in members[t]], nq, ancestor_mask.shape[1])
                for t in robot_types
            ),
            pair_of_row=np.array([e.pair for e in sorted_entries[:start]], dtype=np.intp),
            order=order,
            declared_order=bool(np.all(order == np.arange(len(order)))),
            angular_rows=np.array([e.declared for e in angular], dtype=np.intp),
            angular_count=len(members.get(AngularRow, [])),
            rotation_groups=_rotation_groups(angular, length) if angular else None,
            direct_scale=np.array([e.row.reference_scale(length) for e in entries]),
            period=np.array([e.row.period for e in entries]),
            _axis_checks=_axis_checks(constraints, pair_of),
        )

    def reversed_axes(self, kinematics: FrameKinematics) -> tuple[str, ...]:
        """Names of constraints whose child axis points against the parent's."""
        names = []
        for name, pair, axis in self._axis_checks:
            parent = kinematics.rotation[self.pairs.parent[pair]] @ axis
            if parent @ (kinematics.rotation[self.pairs.child[pair]] @ axis) < 0.0:
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
