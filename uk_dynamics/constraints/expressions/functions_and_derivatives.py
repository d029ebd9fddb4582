# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The functions that an expression may call, and what they are in floating point.

Constraints and references are differentiated twice, so only smooth functions may stand in them: a
kink would be a jump of A, or an impulse in b. Forces are not differentiated and may have kinks.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


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
