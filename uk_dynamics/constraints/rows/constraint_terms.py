# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What rows are at a state, and what a family of rows answers that two frames do not determine."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.vectors import Array


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
        """Give b = −bias − 2ζω·rate − ω²·residual (review (18), de Falco (32)).

        Args:
            damping: 2ζω per row, of order velocity ω, (m,), in 1/s.
            stiffness: ω² per row, (m,), in 1/s².
        """
        return -(self.bias + damping * self.rate + stiffness * self.residual)


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
