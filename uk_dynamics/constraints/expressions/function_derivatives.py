# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the smooth functions that an expression may call."""

from collections.abc import Callable, Mapping
from typing import Any

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
