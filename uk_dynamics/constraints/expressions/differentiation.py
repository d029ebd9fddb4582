"""Symbolic derivatives along a direction, with hard bounds on how large they grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from uk_dynamics.constraints.expressions.algebra import (
    ONE,
    ZERO,
    add,
    call,
    divide,
    multiply,
    negate,
    number,
    power,
    subtract,
)
from uk_dynamics.constraints.expressions.nodes import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
    children,
    topological,
)
from uk_dynamics.exceptions import ExpressionError

LARGEST_DERIVATIVE = 100_000  # operations written down while one text is differentiated


class Differentiator:
    """Derivatives of expressions, which share one bound on their size."""

    def __init__(self, limit: int = LARGEST_DERIVATIVE) -> None:
        self._left = self._limit = limit

    def along(self, expression: Expression, direction: Mapping[Variable, Expression]) -> Expression:
        """Σ ∂expression/∂x · direction[x] over the variables x of the direction.

        A partial derivative is the one along {x: 1}, a derivative in time the one along
        {t: 1, q: d(q), ...}.
        """
        known: dict[Expression, Expression] = {}
        for node in topological([expression]):
            known[node] = self._rule(node, known, direction)
        return known[expression]

    def partial(self, expression: Expression, variable: Variable) -> Expression:
        """∂expression/∂variable; see :meth:`along`."""
        return self.along(expression, {variable: ONE})

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
        inner = [known[child] for child in children(node)]
        if all(d is ZERO for d in inner):
            return ZERO
        self._spend(len(inner))
        match node:
            case Sum():
                return add(*inner)
            case Product(factors):
                return self._product(factors, inner)
            case Power(base, exponent):
                return _power(base, exponent, *inner)
            case Call(function, arguments):
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
                f"its derivatives take more than {self._limit} operations; "
                "write it shorter, or as several constraints"
            )


def _power(base: Expression, exponent: Expression, db: Expression, de: Expression) -> Expression:
    terms = []
    if db is not ZERO:
        lower = power(base, subtract(exponent, ONE))
        terms.append(multiply(exponent, lower, db))
    if de is not ZERO:
        terms.append(multiply(power(base, exponent), call("log", base), de))
    return add(*terms)


def _chain(function: str, arguments: tuple[Expression, ...], inner: list[Expression]) -> Expression:
    if function not in _PARTIALS:
        raise ExpressionError(_kink(function))
    partials = _PARTIALS[function](*arguments)
    return add(*(multiply(p, d) for p, d in zip(partials, inner, strict=True) if d is not ZERO))


def _kink(function: str) -> str:
    remedy = "; sqrt(x**2 + 1e-6) is a smooth abs(x)" if function == "abs" else ""
    return f"{function} has a kink or jump, and a derivative is needed{remedy}"


def _square(x: Expression) -> Expression:
    return power(x, number(2.0))


def _inverse_root(x: Expression) -> Expression:
    """1/√(1 − x²)."""
    return power(subtract(ONE, _square(x)), number(-0.5))


def _atan2(y: Expression, x: Expression) -> tuple[Expression, ...]:
    square = add(_square(x), _square(y))
    return divide(x, square), negate(divide(y, square))


# Partial derivatives of each smooth function, by its arguments.
_PARTIALS: dict[str, Callable[..., tuple[Expression, ...]]] = {
    "sin": lambda x: (call("cos", x),),
    "cos": lambda x: (negate(call("sin", x)),),
    "tan": lambda x: (add(ONE, _square(call("tan", x))),),
    "asin": lambda x: (_inverse_root(x),),
    "acos": lambda x: (negate(_inverse_root(x)),),
    "atan": lambda x: (divide(ONE, add(ONE, _square(x))),),
    "atan2": _atan2,
    "sinh": lambda x: (call("cosh", x),),
    "cosh": lambda x: (call("sinh", x),),
    "tanh": lambda x: (subtract(ONE, _square(call("tanh", x))),),
    "exp": lambda x: (call("exp", x),),
    "log": lambda x: (divide(ONE, x),),
}
