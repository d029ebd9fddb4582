"""What an expression is as a constraint: its order, its row of A, its rate and its bias."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from uk_dynamics.constraints.expressions.algebra import ONE, TIME, ZERO, substitute, variable
from uk_dynamics.constraints.expressions.differentiation import Differentiator
from uk_dynamics.constraints.expressions.nodes import Expression, Variable, topological, variables
from uk_dynamics.constraints.expressions.printing import to_text
from uk_dynamics.exceptions import ExpressionError

Order = Literal["position", "velocity", "acceleration"]
ORDERS: tuple[Order, ...] = ("position", "velocity", "acceleration")
_RATES = ("no rate d(...)", "a rate d(...)", "an acceleration dd(...)")


@dataclass(frozen=True)
class RowDerivatives:
    """The derivatives of ψ that its row needs (review (22)–(28))."""

    order: Order
    # Row of A by joint name, entries that vanish left out: ∂ψ/∂q, of order velocity ∂ψ/∂q̇, of
    # order acceleration ∂ψ/∂q̈
    gradient: Mapping[str, Expression]
    # What is left of ψ̈ (of order velocity: ψ̇; of order acceleration: ψ) at q̈ = 0
    bias: Expression
    rate: Expression  # ψ̇ of order position, ψ of order velocity, else zero
    residual: Expression  # ψ of order position, else zero

    @property
    def operations(self) -> int:
        """How many nodes it all has, shared ones counted once."""
        return len(topological([*self.gradient.values(), self.bias, self.rate, self.residual]))


def order_of_expression(expression: Expression) -> Order:
    """Position, velocity or acceleration: what the highest rate that occurs says."""
    return ORDERS[max((x.order for x in variables([expression])), default=0)]


def differentiate(expression: Expression, declared: Order | None = None) -> RowDerivatives:
    """Derive an expression once and for all."""
    order = order_of_expression(expression)
    if declared is not None and declared != order:
        found = _RATES[ORDERS.index(order)]
        raise ExpressionError(
            f"declared to be of order {declared}, and {found} occurs, which makes it {order}"
        )
    level = ORDERS.index(order)
    differentiator = Differentiator()
    gradient: dict[str, Expression] = {}
    for x in variables([expression]):
        if x.order == level and x is not TIME:
            partial = differentiator.partial(expression, x)
            if partial is not ZERO:
                gradient[x.name] = partial
    if not gradient:
        raise ExpressionError(
            "no joint occurs in it, so nothing can make it zero; name a joint of the URDF"
        )
    if order == "acceleration":
        return RowDerivatives(order, gradient, _affine_rest(expression, gradient), ZERO, ZERO)
    in_time = _motion([expression])
    rate = differentiator.along(expression, in_time) if order == "position" else expression
    bias = differentiator.along(rate, _motion([rate]))
    residual = expression if order == "position" else ZERO
    return RowDerivatives(order, gradient, bias, rate, residual)


def _motion(expressions: list[Expression]) -> dict[Variable, Expression]:
    """How the variables change in time where no joint accelerates."""
    direction: dict[Variable, Expression] = {TIME: ONE}
    for x in variables(expressions):
        if x.order == 0 and x is not TIME:
            direction[x] = variable(x.name, 1)
    return direction


def _affine_rest(expression: Expression, gradient: Mapping[str, Expression]) -> Expression:
    """ψ at q̈ = 0."""
    for name, entry in gradient.items():
        bent = [to_text(x) for x in variables([entry]) if x.order == 2]
        if bent:
            raise ExpressionError(
                f"not affine in the accelerations: the factor of dd({name}) contains {bent[0]}; "
                "write it as a sum in which every dd(...) has a factor without any"
            )
    accelerations = [x for x in variables([expression]) if x.order == 2]
    return substitute(expression, dict.fromkeys(accelerations, ZERO))
