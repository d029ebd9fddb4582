"""Numbers of traced symbols."""

from __future__ import annotations

import math

import numpy as np

from uk_dynamics.compilation.trace.symbols import Symbol

OPERATIONS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "negate": lambda x: -x,
    "choose": lambda condition, yes, no: yes if condition else no,
    "fabs": abs,
}


def value(x, inputs, known=None):
    """What a symbol is for given inputs."""
    known = {} if known is None else known
    if not isinstance(x, Symbol):
        return float(x)
    if x not in known:
        if x.operation == "input":
            known[x] = inputs[x.operands[0]]
        else:
            function = OPERATIONS.get(x.operation) or getattr(math, x.operation)
            known[x] = function(*(value(y, inputs, known) for y in x.operands))
    return known[x]


def values(array, **inputs):
    named = {
        f"{name}[{i}]": float(x) for name, xs in inputs.items() for i, x in enumerate(np.ravel(xs))
    }
    known = {}
    flat = [value(x, named, known) for x in np.ravel(array)]
    return np.array(flat).reshape(np.shape(array))
