# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Straight-line code as functions of limited length.

Compilers take most of their time for the registers of long functions, more than in proportion to
the length, and the code gets no better. What one piece computes and later ones need stands in an
array between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.c_source import SCALAR, Dialect, Statement, Writer

LONGEST = 800  # statements
SHARED = "shared"  # the array

_PIECE = """
static void {name}({parameters}) {{
  {unused}
{body}}}
"""

# one that is called from one place would be put there again
_APART = """
UK_PIECE void {name}({parameters});
#if UK_IN_UNIT({number})
UK_PIECE void {name}({parameters}) {{
  {unused}
{body}}}
#endif
"""


@dataclass(frozen=True)
class Pieces:
    """Blocks of statements as functions."""

    functions: str  # C text of all pieces
    calls: tuple[str, ...]  # C statements that do what each block says
    shared: int  # size of the array ``shared``, which the caller has to declare


def in_pieces(
    name: str,
    parameters: Mapping[str, str],
    blocks: Sequence[Sequence[Statement]],
    dialect: Dialect,
    reserved: int = 0,
) -> Pieces:
    """Cut blocks of statements."""
    pieces: list[Sequence[Statement]] = []
    calls = []
    types = {**parameters, SHARED: f"{dialect.real} *restrict"}
    for block in blocks:
        first = len(pieces)
        count = max(1, -(-len(block) // LONGEST))
        size = max(1, -(-len(block) // count))
        pieces += [block[at : at + size] for at in range(0, len(block), size)]
        numbers = range(first, len(pieces))
        calls.append("".join(f"  {name}_{k}({', '.join(types)});\n" for k in numbers))
    places = _crossing(pieces, reserved)
    form = _APART if len(pieces) > len(blocks) else _PIECE
    functions = [
        form.format(
            number=k,
            name=f"{name}_{k}",
            parameters=", ".join(f"{kind} {x}" for x, kind in types.items()),
            unused=" ".join(f"(void){x};" for x in types),
            body=_body(piece, places, dialect),
        )
        for k, piece in enumerate(pieces)
    ]
    return Pieces("".join(functions), tuple(calls), max(1, reserved + len(places)))


def _crossing(pieces: Sequence[Sequence[Statement]], reserved: int) -> dict[str, tuple[int, str]]:
    """Names that a later piece reads, each with its place in the array and its type."""
    made: dict[str, tuple[int, str]] = {}
    places: dict[str, tuple[int, str]] = {}
    for k, piece in enumerate(pieces):
        for statement in piece:
            made |= dict.fromkeys(statement.makes, (k, statement.kind))
            for x in statement.reads:
                where, kind = made[x]
                if where != k and x not in places:
                    places[x] = (reserved + len(places), kind)
    return places


def _body(
    piece: Sequence[Statement], places: Mapping[str, tuple[int, str]], dialect: Dialect
) -> str:
    lines = []
    known: set[str] = set()
    for statement in piece:
        for x in statement.reads:
            if x not in known:  # of an earlier piece
                known.add(x)
                place, kind = places[x]
                same = "" if kind == dialect.real else f"({kind})"
                lines.append(f"  const {kind} {x} = {same}{SHARED}[{place}];")
        lines.append(statement.text)
        known.update(statement.makes)
        for x in statement.makes:
            if x in places:
                place, kind = places[x]
                same = "" if kind == dialect.real else f"({dialect.real})"
                lines.append(f"  {SHARED}[{place}] = {same}{x};")
    return "\n".join(lines) + "\n"


Targets = list[tuple[str, Any]]  # an lvalue, such as ``F[2]``, and what goes there


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
