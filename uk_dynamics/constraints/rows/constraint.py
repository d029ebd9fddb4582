"""One declared constraint, resolved against a robot: frames and joints are indices now."""

from __future__ import annotations

from dataclasses import dataclass

from uk_dynamics.constraints.rows.row import Row


@dataclass(frozen=True)
class Constraint:
    """A constraint of a given robot.

    Attributes:
        name: Unique name.
        kind: Kind as written in the file.
        rows: Rows it removes.
        parent: Index of the parent frame, None for rows without one.
        child: Index of the child frame, None for rows without one.
        frequency: Stabilisation frequency, in Hz.
        damping_ratio: Damping ratio of the stabilisation.
        level: Level in the hierarchy.
        compliance: In m/N; 0 is rigid.
    """

    name: str
    kind: str
    rows: tuple[Row, ...]
    parent: int | None = None
    child: int | None = None
    frequency: float = 0.0
    damping_ratio: float = 1.0
    level: int = 1
    compliance: float = 0.0

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows, ``constraint.label``; one without label has the constraint's name."""
        return tuple(f"{self.name}.{row.label}" if row.label else self.name for row in self.rows)
