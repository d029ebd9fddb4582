# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Functions of C that compute symbols into arrays, and those made of a rule that Python has."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.c_source import LANES, SCALAR, Dialect, Writer
from uk_dynamics.compilation.emit.pieces import in_pieces
from uk_dynamics.compilation.trace.symbols import Graph

Targets = list[tuple[str, Any]]  # an lvalue, such as ``F[2]``, and what goes there
Shapes = dict[str, int | tuple[int, ...]]  # of arrays, by name


def places(**arrays: Iterable[Any]) -> Targets:
    """Entries of vectors, or of matrices row by row, where C has arrays of the same names."""
    return [
        (f"{name}[{i}]", x)
        for name, array in arrays.items()
        for i, x in enumerate(np.reshape(np.asarray(array, dtype=object), -1))
    ]


_FUNCTION = """
static void {name}({parameters}) {{
  {real} shared[{shared}];
{calls}}}
"""


def function(
    name: str,
    given: Sequence[str],
    wanted: Sequence[str],
    targets: Sequence[tuple[str, Any]],
    dialect: Dialect = SCALAR,
    scalars: Sequence[str] = ("t",),
) -> str:
    """A function of single numbers and of arrays, which computes symbols into arrays."""
    parameters: Mapping[str, str] = {
        **dict.fromkeys(scalars, dialect.real),
        **dict.fromkeys(given, f"const {dialect.real} *restrict"),
        **dict.fromkeys(wanted, f"{dialect.real} *restrict"),
    }
    pieces = in_pieces(name, parameters, [Writer(dialect).statements(targets)], dialect)
    return pieces.functions + _FUNCTION.format(
        name=name,
        parameters=", ".join(f"{kind} {x}" for x, kind in parameters.items()),
        real=dialect.real,
        shared=pieces.shared,
        calls="".join(pieces.calls),
    )


def rule(
    name: str,  # of the function
    given: Shapes,  # shapes of its arguments, in their order, under the names that C has for them
    wanted: str | Sequence[str],  # what it answers; several names where it answers several arrays
    step: Callable[..., Any],  # the function of Python
    dialect: Dialect = LANES,  # for one state, or for several at once
) -> str:
    """A function of C that does what one of Python does, which is written over arrays."""
    graph = Graph()
    sizes = {x: (size,) if isinstance(size, int) else size for x, size in given.items()}
    found = step(*(graph.variables(x, prod(size)).reshape(size) for x, size in sizes.items()))
    several = (wanted, found) if not isinstance(wanted, str) else ((wanted,), (found,))
    answers = dict(zip(*several, strict=True))
    return function(name, tuple(given), tuple(answers), places(**answers), dialect, ())


def ones(*names: str) -> Shapes:
    """Shapes of arguments that are single numbers."""
    return dict.fromkeys(names, 1)
