# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Straight-line code as functions of limited length.

Compilers take most of their time for the registers of long functions, more than in proportion to
the length, and the code gets no better. What one piece computes and later ones need stands in an
array between them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from uk_dynamics.compilation.emit.c_source import VECTOR, Dialect, Statement
from uk_dynamics.compilation.trace.symbols import WIDTH

LONGEST = 800  # statements
SHARED = "shared"  # the array
_LONG, _WORTH_A_BRANCH = 8, 16  # statements that others take as long as; that a branch does

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
    name: str,  # what the names of their functions begin with
    parameters: Mapping[str, str],  # of all of them, with their types
    blocks: Sequence[Sequence[Statement]],  # each needs those before it
    dialect: Dialect,  # of the statements
    reserved: int = 0,  # places at the beginning of ``shared`` that statements name
    # arrays whose entries nothing else changes as long as blocks behind the one that stores them
    # may be called
    lasting: Sequence[str] = (),
) -> Pieces:
    """Cut blocks of statements."""
    blocks = _branching(blocks)
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


_Side = tuple[str, int]  # of choices: their condition, and 1 where it holds, else 2
_Place = tuple[int, int]  # of a statement: its block, and where in it


def _branching(blocks: Sequence[Sequence[Statement]]) -> Sequence[Sequence[Statement]]:
    """What only one side of choices by lanes needs is computed where some lane takes it."""
    # The logarithm of a rotation has another formula near half a turn, for example. Compilers
    # branch by themselves for single states.
    sides = _sides(blocks)
    costs: dict[_Side, int] = {}
    for (number, k), side in sides.items():
        costs[side] = costs.get(side, 0) + (_LONG if _is_long(blocks[number][k]) else 1)
    sides = {place: x for place, x in sides.items() if costs[x] >= _WORTH_A_BRANCH}
    read_by = _readers(blocks)
    found = []
    for number, block in enumerate(blocks):
        maker = {x: k for k, statement in enumerate(block) for x in statement.makes}
        left = {k: sides[number, k] for k in range(len(block)) if (number, k) in sides}
        lines: list[Statement] = []
        for k, statement in enumerate(block):
            if (number, k) in sides:
                continue
            choice = statement.choice
            for side in ((choice[0], 1), (choice[0], 2)) if choice else ():
                # all of that side that what was computed before is enough for
                now: list[int] = []
                for other in [other for other, of in left.items() if of == side]:
                    needs = [maker[x] for x in block[other].reads if x in maker]
                    if all(one in now if left.get(one) == side else one < k for one in needs):
                        now.append(other)
                if now:
                    within = {(number, one) for one in now}
                    lines.append(_branch([block[one] for one in now], side, read_by, within))
                    left = {one: of for one, of in left.items() if one not in now}
            lines.append(statement)
        found.append(lines)
    return found


def _readers(blocks: Sequence[Sequence[Statement]]) -> dict[str, list[_Place]]:
    """Statements that need a name."""
    found: dict[str, list[_Place]] = {}
    for number, block in enumerate(blocks):
        for k, statement in enumerate(block):
            for x in dict.fromkeys(statement.reads):
                found.setdefault(x, []).append((number, k))
    return found


def _sides(blocks: Sequence[Sequence[Statement]]) -> dict[_Place, _Side]:
    """Statements that only one side of choices needs, one of them in the same block."""
    read_by = _readers(blocks)
    found: dict[_Place, _Side] = {}
    for number in reversed(range(len(blocks))):
        for k in reversed(range(len(blocks[number]))):
            statement = blocks[number][k]
            needed: set[_Side | None] = set()
            near = False
            for x in statement.makes:
                for place in read_by.get(x, ()):
                    reader = blocks[place[0]][place[1]]
                    near |= place[0] == number
                    own = reader.choice.index(x) if reader.choice.count(x) == 1 else 0
                    needed.add(found.get(place) or ((reader.choice[0], own) if own else None))
            if near and len(needed) == 1:
                (side,) = needed
                if side is not None:
                    found[number, k] = side
    return found


def _is_long(statement: Statement) -> bool:
    return any(x in statement.text for x in (" / ", "sqrt(", "sincos(", "atan2("))


def _branch(
    statements: Sequence[Statement],
    side: _Side,
    read_by: Mapping[str, Sequence[_Place]],
    within: set[_Place],
) -> Statement:
    """Statements that are left out, and their results zero, where no lane takes a side."""
    condition, number = side
    lines: list[str] = []
    makes: list[str] = []
    for statement in statements:
        text = statement.text
        if not all(within.issuperset(read_by.get(x, ())) for x in statement.makes):
            makes += statement.makes
            text = text.replace(f"const {statement.kind} ", "", 1)
            text = text.replace(f"{statement.kind} {', '.join(statement.makes)};", "", 1)
        lines.append(text)
    kinds = {x: s.kind for s in statements for x in s.makes}
    reads = dict.fromkeys([condition, *(x for s in statements for x in s.reads if x not in kinds)])
    declared = [f"  {kinds[x]} {x} = {{0}};" for x in makes]
    test = condition if number == 1 else f"uk_not({condition})"
    text = "\n".join([*declared, f"  if (uk_any({test})) {{", *lines, "  }"])
    kind = tuple(kinds[x] for x in makes)
    return Statement(text, tuple(makes), tuple(reads), kind[0], kinds=kind)


def _crossing(
    pieces: Sequence[Sequence[Statement]],
    block_of: Sequence[int],
    reserved: int,
    lasting: Sequence[str],
) -> tuple[dict[str, tuple[str, str]], int]:
    """Places and types of names that a later piece reads, and the size of the array for them."""
    # The nearest cache should hold it, with a vector in each place. Therefore names that are an
    # answer are read where that is, and what only pieces of the same block read leaves its place to
    # later names when the last one has. What other blocks read has a place of its own, whichever of
    # them are called again.
    made: dict[str, int] = {}  # the piece that makes a name
    kind: dict[str, str] = {}
    first: dict[str, int] = {}  # of the pieces that read a name of an earlier one
    last: dict[str, int] = {}
    elsewhere: set[str] = set()  # names that other blocks read
    answers: dict[str, tuple[int, str]] = {}  # the piece that stores a name, and where
    for k, piece in enumerate(pieces):
        for statement in piece:
            made |= dict.fromkeys(statement.makes, k)
            same = (statement.kind,) * len(statement.makes)
            kind |= dict(zip(statement.makes, statement.kinds or same, strict=True))
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
