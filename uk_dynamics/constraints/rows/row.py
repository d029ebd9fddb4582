# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a row of A is: a small record that knows which arrays evaluate it with others of its type.

The layout asks only the records, so a kind may define a type of row of its own. The terms are what
rows are at a state.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.expressions.differentiation import Order
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.vectors import apply
from uk_dynamics.core.equation import stabilizing_terms


class ConstraintTerms(NamedTuple):
    """A q̈ = −bias is the derivative of the rows to second order, stabilisation not included.

    A row has an order, the level at which ψ is declared: ψ(q, t), ψ(q, v, t), or an acceleration,
    which has neither residual nor rate. A family leaves the residual of a row of order velocity
    zero; the set of constraints shows ψ there too, so that every violation can be seen in one
    place (it has no stiffness, so b does not change).
    """

    A: Array  # (m, nv)
    # what is left of ψ̈ (of order velocity: ψ̇) at zero joint acceleration, (m,), the reference's
    # share included
    bias: Array
    # ψ, (m,), in m (angular rows: rad times the declared length), of order velocity per s
    residual: Array
    rate: Array  # ψ̇, of order velocity ψ, (m,)

    def right_hand_side(self, damping: Array, stiffness: Array) -> Array:
        """Give b = −bias − 2ζω·rate − ω²·residual; see :func:`stabilizing_terms`."""
        terms: Array = stabilizing_terms(damping, stiffness, self.rate, self.residual)
        return terms - self.bias


class RowFamily(Protocol):
    """Rows of one kind, evaluated together, in declared order; m of them."""

    @property
    def time_dependent(self) -> bool:
        """Whether some row depends on t by itself, references aside; by default none."""
        return False

    @property
    def linear_in_rates(self) -> bool:
        """Whether the rate of every row is affine in v, as by default."""
        return True

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """A, (m, nv), and residual, (m,), of a robot at rest at q; zero rows for other orders."""

    def evaluate(
        self, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> ConstraintTerms:
        """All of the rows at a state, references aside."""

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """The rows as large as they can be when nothing in them cancels, (m, nv)."""


Direction = tuple[float, float, float]


@dataclass(frozen=True)
class Row(ABC):
    """One row of a constraint."""

    label: str  # its name within the constraint; empty where the constraint has no other row
    rotation: ClassVar[bool] = False  # whether its reference is a component of a rotation vector
    exact_rate: ClassVar[bool] = True  # whether its rate is the derivative of its residual
    # label of the only row of positions, where the others of its type are of velocities
    of_positions: ClassVar[str | None] = None

    @property
    def order(self) -> Order:
        """Level at which it is declared: position, velocity or acceleration."""
        return "position" if self.of_positions in (None, self.label) else "velocity"

    @property
    def period(self) -> float:
        """Period of its residual, infinite where it has none."""
        return math.inf

    def reference_scale(self, length: float) -> float:
        """What one unit of reference counts in the row, 1 or the declared length in m.

        Nothing where the reference is a rotation; see ``RotationGroups``.
        """
        return 0.0 if self.rotation else 1.0


class FrameRow(Row):
    """A row that follows from the relative motion of the constraint's two frames."""

    family: ClassVar[Any]  # the sub-class of :class:`FrameRows` that says it is of this type
    of_length: ClassVar[str] = ""  # the field that the declared length scales, of angular rows

    @classmethod
    def stack(cls, rows: Sequence[Any], frames: "RowFrames", length: float) -> "FrameRows":
        """Evaluate rows of this type together: by default each field is an attribute of the rows.

        The declared length, in m, scales angular rows.
        """
        names = [field.name for field in fields(cls.family)[1:]]
        stacked = {name: np.array([getattr(row, name) for row in rows]) for name in names}
        if cls.of_length:
            stacked[cls.of_length] = length * stacked[cls.of_length]
        found: FrameRows = cls.family(frames, **stacked)
        return found


class RobotRow(Row):
    """A row that follows from the coordinates of the robot, not from two frames."""

    @classmethod
    @abstractmethod
    def collect(cls, rows: Sequence[tuple[str, Any]], nq: int, nv: int) -> RowFamily:
        """Evaluate rows of this type, with their names, together."""


@dataclass(frozen=True)
class RowFrames:
    """The frames of m rows."""

    parent: Indices  # Frame index of each row, (m,)
    child: Indices  # Frame index of each row, (m,)
    pair: Indices  # Pair of each row, (m,)

    def origins(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Child origins in the world, and from the parent's to the child's, (m, 3) each, in m."""
        translation = kinematics.translation
        point = translation.take(self.child, 0)
        return point, point - translation.take(self.parent, 0)

    def in_parent(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Rotations of the parents, (m, 3, 3), and child origins in their axes, (m, 3), in m."""
        axes = kinematics.rotation.take(self.parent, 0)
        return axes, apply(axes.transpose(0, 2, 1), self.origins(kinematics)[1])

    def turned(
        self, kinematics: FrameKinematics, reference: Array | None = None
    ) -> tuple[Array, Array]:
        """Rotations of the parents, and of the children in them, (m, 3, 3) each.

        The latter are seen from reference rotations, (m, 3, 3), where there are some.
        """
        parent = kinematics.rotation.take(self.parent, 0)
        turned = parent.transpose(0, 2, 1) @ kinematics.rotation.take(self.child, 0)
        return parent, turned if reference is None else turned @ reference.transpose(0, 2, 1)


class FrameRows(ABC):
    """Rows of one type, evaluated together; m of them."""

    frames: RowFrames  # frames of the rows
    turning: ClassVar[bool] = False  # whether there is an :meth:`extra_bias`

    def __init_subclass__(cls, *, of: type[FrameRow]) -> None:
        """Evaluate rows of a type."""
        of.family = cls

    @abstractmethod
    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (f, n) at the world's origin, (m, 6), and residuals, (m,)."""

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """Part of ψ̈ due to wrenches that turn within the parent frame, (m,)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Constraint:
    """A constraint of a given robot."""

    name: str  # unique name
    kind: str  # kind as written in the file
    rows: tuple[Row, ...]  # rows it removes
    parent: int | None = None  # index of the parent frame, None for rows without one
    child: int | None = None  # index of the child frame, None for rows without one
    frequency: float = 0.0  # stabilisation frequency, in Hz
    damping_ratio: float = 1.0  # damping ratio of the stabilisation
    level: int = 1  # level in the hierarchy
    compliance: float = 0.0  # in m/N; 0 is rigid

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows, ``constraint.label``; one without label has the constraint's name."""
        return tuple(f"{self.name}.{row.label}" if row.label else self.name for row in self.rows)
