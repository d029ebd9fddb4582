"""One declared constraint, resolved against a robot: frames and joints are indices now."""

from __future__ import annotations

from dataclasses import dataclass

from uk_dynamics.constraints.mass_points import MassPoints
from uk_dynamics.constraints.row_types import JointRow, Row
from uk_dynamics.constraints.vectors import Array


@dataclass(frozen=True)
class JointTerm:
    """One joint of a joint row.

    Attributes:
        position: Index into q.
        velocity: Index into v.
        coefficient: Weight of the joint in the sum.
    """

    position: int
    velocity: int
    coefficient: float


@dataclass(frozen=True)
class Constraint:
    """A constraint of a given robot.

    Attributes:
        name: Unique name.
        kind: Kind as written in the file.
        rows: Rows it removes.
        parent: Index of the parent frame, None for rows without one.
        child: Index of the child frame, None for rows without one.
        joints: Terms of a joint row.
        masses: Whose centre of mass is meant, for rows of one.
        parent_moved: For those, 1 where a velocity coordinate moves the parent, (nv,); None: the
            world is the parent.
        frequency: Stabilisation frequency, in Hz.
        damping_ratio: Damping ratio of the stabilisation.
        level: Level in the hierarchy.
        compliance: How far it gives way, in m/N; 0 is rigid.
    """

    name: str
    kind: str
    rows: tuple[Row, ...]
    parent: int | None = None
    child: int | None = None
    joints: tuple[JointTerm, ...] = ()
    masses: MassPoints | None = None
    parent_moved: Array | None = None
    frequency: float = 0.0
    damping_ratio: float = 1.0
    level: int = 1
    compliance: float = 0.0

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows, ``constraint.label``; a joint row carries the constraint's name."""
        return tuple(
            self.name if isinstance(row, JointRow) or not row.label else f"{self.name}.{row.label}"
            for row in self.rows
        )
