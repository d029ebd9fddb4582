# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Symbolic derivatives, of bounded size, and what they make of an expression: a row of A."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from uk_dynamics.constraints.expressions import nodes
from uk_dynamics.constraints.expressions.nodes import (
    ONE,
    TIME,
    ZERO,
    Expression,
    Number,
    Variable,
    add,
    call,
    multiply,
    power,
)
from uk_dynamics.constraints.expressions.whitelist import FUNCTIONS
from uk_dynamics.exceptions import ExpressionError

#: Partial derivatives of each smooth function by its arguments, in any algebra with + − * / **:
#: ``DERIVATIVES[name](f, tiny, y, *x)``, where f has the functions by name, y is the value at the
#: arguments x, and tiny keeps corners finite where that is wanted, else zero.
DERIVATIVES: Mapping[str, Callable[..., tuple[Any, ...]]] = {
    "sin": lambda f, tiny, y, x: (f["cos"](x),),
    "cos": lambda f, tiny, y, x: (-f["sin"](x),),
    "tan": lambda f, tiny, y, x: (1.0 + y * y,),
    "asin": lambda f, tiny, y, x: (1.0 / ((1.0 - x * x) ** 0.5 + tiny),),
    "acos": lambda f, tiny, y, x: (-1.0 / ((1.0 - x * x) ** 0.5 + tiny),),
    "atan": lambda f, tiny, y, x: (1.0 / (1.0 + x * x),),
    "atan2": lambda f, tiny, y, s, c: (c / (s * s + c * c + tiny), -(s / (s * s + c * c + tiny))),
    "sinh": lambda f, tiny, y, x: (f["cosh"](x),),
    "cosh": lambda f, tiny, y, x: (f["sinh"](x),),
    "tanh": lambda f, tiny, y, x: (1.0 - y * y,),
    "exp": lambda f, tiny, y, x: (y,),
    "log": lambda f, tiny, y, x: (1.0 / x,),
    "sqrt": lambda f, tiny, y, x: (0.5 / (y + tiny),),
}


Order = Literal["position", "velocity", "acceleration"]
ORDERS: tuple[Order, ...] = ("position", "velocity", "acceleration")
_RATES = ("no rate d(...)", "a rate d(...)", "an acceleration dd(...)")

LARGEST_DERIVATIVE = 100_000  # operations written down while one text is differentiated


class Differentiator:
    """Derivatives of expressions, which share one bound on their size."""

    def __init__(self) -> None:
        self._left = LARGEST_DERIVATIVE

    def along(self, expression: Expression, direction: Mapping[Variable, Expression]) -> Expression:
        """Σ ∂expression/∂x · direction[x] over the variables x of the direction.

        A partial derivative is the one along {x: 1}, a derivative in time the one along
        {t: 1, q: d(q), ...}.
        """
        known: dict[Expression, Expression] = {}
        for node in nodes.topological([expression]):
            known[node] = self._rule(node, known, direction)
        return known[expression]

    def partial(self, expression: Expression, x: Variable) -> Expression:
        """∂expression/∂x; see :meth:`along`."""
        return self.along(expression, {x: ONE})

    def _rule(
        self,
        node: Expression,
        known: Mapping[Expression, Expression],
        direction: Mapping[Variable, Expression],
    ) -> Expression:
        if isinstance(node, Number):
            return ZERO
        if isinstance(node, Variable):
            return direction.get(node, ZERO)
        inner = [known[child] for child in nodes.children(node)]
        if all(d is ZERO for d in inner):
            return ZERO
        self._spend(len(inner))
        match node:
            case nodes.Sum():
                return add(*inner)
            case nodes.Product(factors):
                return self._product(factors, inner)
            case nodes.Power(base, exponent):
                return _power(base, exponent, *inner)
            case nodes.Call(function, arguments):
                return _chain(function, arguments, inner)
        raise TypeError(f"no derivative of {type(node).__name__}")

    def _product(self, factors: tuple[Expression, ...], inner: list[Expression]) -> Expression:
        terms = []
        for index, derivative in enumerate(inner):
            if derivative is not ZERO:
                self._spend(len(factors))
                terms.append(multiply(*factors[:index], derivative, *factors[index + 1 :]))
        return add(*terms)

    def _spend(self, operations: int) -> None:
        self._left -= operations
        if self._left < 0:
            raise ExpressionError(
                f"its derivatives take more than {LARGEST_DERIVATIVE} operations; "
                "write it shorter, or as several constraints"
            )


def _power(base: Expression, exponent: Expression, db: Expression, de: Expression) -> Expression:
    terms = []
    if db is not ZERO:
        terms.append(multiply(exponent, base ** (exponent - ONE), db))
    if de is not ZERO:
        terms.append(multiply(base**exponent, call("log", base), de))
    return add(*terms)


def _chain(function: str, arguments: tuple[Expression, ...], inner: list[Expression]) -> Expression:
    if function not in DERIVATIVES:
        remedy = "; sqrt(x**2 + 1e-6) is a smooth abs(x)" if function == "abs" else ""
        problem = f"{function} has a kink or jump, and a derivative is needed{remedy}"
        raise ExpressionError(problem)
    partials = DERIVATIVES[function](_CALLS, 0.0, call(function, *arguments), *arguments)
    return add(*(p * d for p, d in zip(partials, inner, strict=True) if d is not ZERO))


_CALLS = {name: functools.partial(call, name) for name in FUNCTIONS}


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
        return len(
            nodes.topological([*self.gradient.values(), self.bias, self.rate, self.residual])
        )


def order_of_expression(expression: Expression) -> Order:
    """Position, velocity or acceleration: what the highest rate that occurs says."""
    return ORDERS[max((x.order for x in nodes.variables([expression])), default=0)]


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
    for x in nodes.variables([expression]):
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
    return RowDerivatives(order, gradient, bias, rate, expression if order == "position" else ZERO)


def _motion(expressions: list[Expression]) -> dict[Variable, Expression]:
    """How the variables change in time where no joint accelerates."""
    direction: dict[Variable, Expression] = {TIME: ONE}
    for x in nodes.variables(expressions):
        if x.order == 0 and x is not TIME:
            direction[x] = nodes.variable(x.name, 1)
    return direction


def _affine_rest(expression: Expression, gradient: Mapping[str, Expression]) -> Expression:
    """ψ at q̈ = 0."""
    for name, entry in gradient.items():
        bent = [nodes.to_text(x) for x in nodes.variables([entry]) if x.order == 2]
        if bent:
            raise ExpressionError(
                f"not affine in the accelerations: the factor of dd({name}) contains {bent[0]}; "
                "write it as a sum in which every dd(...) has a factor without any"
            )
    accelerations = [x for x in nodes.variables([expression]) if x.order == 2]
    return _substitute(expression, dict.fromkeys(accelerations, ZERO))


def _substitute(expression: Expression, values: Mapping[Variable, Expression]) -> Expression:
    """The expression with variables replaced."""
    known: dict[Expression, Expression] = {}
    for node in nodes.topological([expression]):
        match node:
            case Variable():
                known[node] = values.get(node, node)
            case nodes.Sum(terms):
                known[node] = add(*(known[t] for t in terms))
            case nodes.Product(factors):
                known[node] = multiply(*(known[f] for f in factors))
            case nodes.Power(base, exponent):
                known[node] = power(known[base], known[exponent])
            case nodes.Call(function, arguments):
                known[node] = call(function, *(known[a] for a in arguments))
            case _:
                known[node] = node
    return known[expression]
