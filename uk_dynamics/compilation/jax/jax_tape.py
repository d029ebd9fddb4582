# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Running a tape in JAX, on many states at once."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from uk_dynamics.compilation.emit.tape import ARITHMETIC, Call, Rows, Tape
from uk_dynamics.exceptions import InputError

Arrays = Any  # of JAX, which need not be installed where mypy runs

_JAX_NAMES = {
    "/": "divide",
    "fabs": "abs",
    "pow": "power",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
}


def jax_modules() -> tuple[Any, Any]:
    """``jax`` and ``jax.numpy``.

    Raises:
        InputError: JAX is not installed.
    """
    if importlib.util.find_spec("jax") is None:
        raise InputError("JAX is not installed: pip install jax", place="backend")
    return importlib.import_module("jax"), importlib.import_module("jax.numpy")


def double_precision() -> AbstractContextManager[object]:
    """Where JAX computes in float64, whatever the program around it has chosen."""
    jax, _ = jax_modules()
    home = jax if hasattr(jax, "enable_x64") else importlib.import_module("jax.experimental")
    context: AbstractContextManager[object] = home.enable_x64(True)
    return context


def run(tape: Tape, inputs: Arrays) -> dict[str, Arrays]:
    """Outputs of a tape by name, K behind their shapes, for inputs (inputs, K)."""
    _, jnp = jax_modules()
    given = len(inputs) + len(tape.constants)
    values = jnp.zeros((tape.size, inputs.shape[1]), inputs.dtype)
    constants = jnp.broadcast_to(tape.constants[:, None], (len(tape.constants), inputs.shape[1]))
    values = values.at[:given].set(jnp.concatenate((inputs, constants)))
    for part in tape.parts:
        values = _call(part, values) if isinstance(part, Call) else _rows(part, values)
    return {name: jnp.take(values, places, axis=0) for name, places in tape.outputs.items()}


def _call(part: Call, values: Arrays) -> Arrays:
    jax, jnp = jax_modules()
    function = getattr(jnp, _JAX_NAMES.get(part.function, part.function))
    found = function(*(values[operand] for operand in part.operands))
    return jax.lax.dynamic_update_slice_in_dim(values, found, part.result, 0)


def _rows(part: Rows, values: Arrays) -> Arrays:
    """A loop over rows, in which every operation that occurs is computed and one selected."""
    jax, jnp = jax_modules()

    def step(values: Arrays, row: Arrays) -> tuple[Arrays, None]:
        operations, (first, second, third), result = row
        x, y = values[first], values[second]
        found = x + y
        others: dict[str, Callable[[], Arrays]] = {
            "-": lambda: x - y,
            "*": lambda: x * y,
            "negate": lambda: -x,
            "<": lambda: jnp.asarray(x < y, x.dtype),
            "<=": lambda: jnp.asarray(x <= y, x.dtype),
            "choose": lambda: jnp.where(x != 0.0, y, values[third]),
        }
        for operation, compute in others.items():
            if part.has(operation):
                chosen = operations[:, None] == ARITHMETIC.index(operation)
                found = jnp.where(chosen, compute(), found)
        return jax.lax.dynamic_update_slice_in_dim(values, found, result, 0), None

    operands = part.operands.swapaxes(0, 1)
    rows = tuple(jnp.asarray(x) for x in (part.operations, operands, part.results))
    moved, _ = jax.lax.scan(step, values, rows)
    return moved
