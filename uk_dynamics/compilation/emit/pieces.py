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

from uk_dynamics.compilation.emit.c_source import SCALAR, VECTOR, Dialect, Statement, Writer
from uk_dynamics.compilation.trace.symbols import WIDTH

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
    lasting: Sequence[str] = (),
) -> Pieces:
    """Cut blocks of statements.

    Args:
        name: What the names of their functions begin with.
        parameters: Of all of them, with their types.
        blocks: Each needs those before it.
        dialect: Of the statements.
        reserved: Places at the beginning of ``shared`` that statements name.
        lasting: Arrays whose entries nothing else changes as long as blocks behind the one that
            stores them may be called.
    """
    pieces: list[Sequence[Statement]] = []
    block_of: list[int] = []  # of each piece
    calls = []
    types = {**parameters, SHARED: f"{dialect.real} *restrict"}
    for number, block in enumerate(blocks):
        first = len(pieces)
        count = max(1, -(-len(block) // LONGEST))
        size = max(1, -(-len(block) // count))
        pieces += [block[at : at + size] for at in range(0, len(block), size)]
        numbers = range(first, len(pieces))
        block_of += [number for _ in numbers]
        calls.append("".join(f"  {name}_{k}({', '.join(types)});\n" for k in numbers))
    places, shared = _crossing(pieces, block_of, reserved, lasting)
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
    return Pieces("".join(functions), tuple(calls), shared)


def _crossing(
    pieces: Sequence[Sequence[Statement]],
    block_of: Sequence[int],
    reserved: int,
    lasting: Sequence[str],
) -> tuple[dict[str, tuple[str, str]], int]:
    """Places and types of names that a later piece reads, and the size of the array for them.

    The nearest cache should hold it, with a vector in each place. Therefore names that are an
    answer are read where that is, and what only pieces of the same block read leaves its place to
    later names when the last one has. What other blocks read has a place of its own, whichever of
    them are called again.
    """
    made: dict[str, int] = {}  # the piece that makes a name
    kind: dict[str, str] = {}
    first: dict[str, int] = {}  # of the pieces that read a name of an earlier one
    last: dict[str, int] = {}
    elsewhere: set[str] = set()  # names that other blocks read
    answers: dict[str, tuple[int, str]] = {}  # the piece that stores a name, and where
    for k, piece in enumerate(pieces):
        for statement in piece:
            made |= dict.fromkeys(statement.makes, k)
            kind |= dict.fromkeys(statement.makes, statement.kind)
            for x in statement.reads:
                if statement.place:
                    answers.setdefault(x, (k, statement.place))
                if made[x] != k:
                    first.setdefault(x, k)
                    last[x] = k
                if block_of[made[x]] != block_of[k]:
                    elsewhere.add(x)
    places: dict[str, tuple[str, str]] = {}
    ending: dict[int, list[tuple[int, int]]] = {}  # sizes and places that a piece reads last
    free: dict[int, list[int]] = {1: [], WIDTH: []}
    size, behind = reserved, 0  # behind: pieces that have ended
    for x in sorted(last, key=made.__getitem__):
        stored, place = answers.get(x, (len(pieces), ""))
        if stored < first[x] and (x not in elsewhere or place.partition("[")[0] in lasting):
            places[x] = place, kind[x]
            continue
        while behind < made[x]:
            for count, at in ending.pop(behind, []):
                free[count].append(at)
            behind += 1
        count = WIDTH if kind[x] == VECTOR else 1
        if x in elsewhere or not free[count]:
            at, size = size, size + count
        else:
            at = free[count].pop()
        if x not in elsewhere:
            ending.setdefault(last[x], []).append((count, at))
        places[x] = f"{SHARED}[{at}]", kind[x]
    return places, max(1, size)


def _body(
    piece: Sequence[Statement], places: Mapping[str, tuple[str, str]], dialect: Dialect
) -> str:
    lines = []
    known: set[str] = set()
    for statement in piece:
        for x in statement.reads:
            if x not in known:  # of an earlier piece
                known.add(x)
                place, kind = places[x]
                lines.append(f"  const {kind} {x} = {_as(kind, place, dialect)};")
        lines.append(statement.text)
        known.update(statement.makes)
        for x in statement.makes:
            place, kind = places.get(x, ("", ""))
            if place.startswith(f"{SHARED}["):
                if kind == VECTOR:
                    lines.append(f"  {_as(kind, place, dialect)} = {x};")
                    continue
                same = "" if kind == dialect.real else f"({dialect.real})"
                lines.append(f"  {place} = {same}{x};")
    return "\n".join(lines) + "\n"


def _as(kind: str, place: str, dialect: Dialect) -> str:
    """A place of the array as what it holds."""
    if kind == VECTOR:
        return f"*({VECTOR} *)&{place}"
    return place if kind == dialect.real else f"({kind}){place}"


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
