"""What a row of A can be: one small record for each type, before arrays evaluate them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from uk_dynamics.constraints.rolling_rows import RollingRow
from uk_dynamics.constraints.velocity_rows import FrameVelocityRow

if TYPE_CHECKING:
    from uk_dynamics.constraints.expression_derivatives import RowDerivatives
    from uk_dynamics.constraints.expressions.compiled import JointPlaces

Direction = tuple[float, float, float]
Order = Literal["position", "velocity", "acceleration"]


@dataclass(frozen=True)
class LinearRow:
    """Child origin along ``direction`` of the parent frame."""

    label: str
    direction: Direction


@dataclass(frozen=True)
class AngularRow:
    """Rotation vector of the child along ``direction`` of the parent frame."""

    label: str
    direction: Direction


@dataclass(frozen=True)
class RotationVectorRow:
    """As :class:`AngularRow` where other directions are free: the vector's own rate counts."""

    label: str
    direction: Direction


@dataclass(frozen=True)
class AlignmentRow:
    """``child`` direction stays perpendicular to ``parent`` direction."""

    label: str
    parent: Direction
    child: Direction


@dataclass(frozen=True)
class DistanceRow:
    """Distance of the two origins, in m."""

    label: str
    distance: float


@dataclass(frozen=True)
class MassCenterRow:
    """Centre of mass along ``direction`` of the parent frame, from its origin."""

    label: str
    direction: Direction


@dataclass(frozen=True)
class JointRow:
    """Weighted sum of joint positions minus ``offset``."""

    label: str
    coefficients: tuple[tuple[str, float], ...]
    offset: float


@dataclass(frozen=True)
class ExpressionRow:
    """A text in joint names, rates and t that shall be zero; empty label: it is the only one."""

    label: str
    text: str
    derivatives: RowDerivatives
    places: JointPlaces

    @property
    def order(self) -> Order:
        """Position, velocity or acceleration."""
        return self.derivatives.order


Row = (
    LinearRow
    | AngularRow
    | RotationVectorRow
    | AlignmentRow
    | DistanceRow
    | RollingRow
    | FrameVelocityRow
    | MassCenterRow
    | JointRow
    | ExpressionRow
)


def order_of(row: Row) -> Order:
    """Level at which a row is declared: what its residual says, and how often it is derived."""
    order: Order = getattr(row, "order", "position")
    return order
