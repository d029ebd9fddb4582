# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What an expression may be made of: characters, operators, functions, and how much of them.

Constraints and references are differentiated twice, so only smooth functions may stand in them: a
kink would be a jump of A, or an impulse in b. Forces are not differentiated and may have kinks.
"""

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LONGEST_TEXT = 4000  # characters of one expression
DEEPEST_NESTING = 40  # parentheses, functions, signs and powers inside each other
MOST_OPERATIONS = 20_000  # of one expression with its sums written out
LARGEST_EXPONENT = 64.0  # of a constant power
LARGEST_INDEX_SET = 10_000  # values of one index
MOST_ROWS = 2000  # of one family of expressions
LARGEST_FAMILY = 200_000  # operations of all rows of a constraint with their derivatives

CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_. +-*/()[],<>=!"
)
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
RATES = {"d": 1, "dd": 2}  # order of the derivative


@dataclass(frozen=True)
class Function:
    """A function by name."""

    value: Callable[..., float]  # Its value; raises ValueError or OverflowError where it has none
    arguments: int | None = 1  # How many it takes; None is two or more
    # Whether it has derivatives wherever it has a value (but at the ends of its domain)
    smooth: bool = True


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if x else 0.0


FUNCTIONS = {
    "sin": Function(math.sin),
    "cos": Function(math.cos),
    "tan": Function(math.tan),
    "asin": Function(math.asin),
    "acos": Function(math.acos),
    "atan": Function(math.atan),
    "atan2": Function(math.atan2, arguments=2),
    "sinh": Function(math.sinh),
    "cosh": Function(math.cosh),
    "tanh": Function(math.tanh),
    "exp": Function(math.exp),
    "log": Function(math.log),
    "sqrt": Function(math.sqrt),
    "abs": Function(math.fabs, smooth=False),
    "sign": Function(_sign, smooth=False),
    "min": Function(min, arguments=None, smooth=False),
    "max": Function(max, arguments=None, smooth=False),
}
