"""Symbols as one function of C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uk_dynamics.compilation.c_source import SCALAR, Dialect, Writer
from uk_dynamics.compilation.pieces import in_pieces

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
) -> str:
    """A function of the time t, which computes symbols into arrays.

    Args:
        name: Of the function.
        given: Arrays that it reads, in this order behind t.
        wanted: Arrays that it writes, behind those.
        targets: Pairs of an lvalue, such as ``F[2]``, and what goes there.
        dialect: For one state or for several.
    """
    parameters: Mapping[str, str] = {
        "t": dialect.real,
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
