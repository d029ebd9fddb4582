# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Text of C: files that are not generated, constants, tables, and structures they declare."""

import ctypes
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.c_source import number
from uk_dynamics.compilation.emit.layout import answer_lists
from uk_dynamics.constraints.rows import Hull

_C = Path(__file__).resolve().parent.parent / "c"
_ASIDE = re.compile(r"/\*.*?\*/|^#[^\n]*", re.DOTALL | re.MULTILINE)  # comments, preprocessor


_BEGIN, _END = "#pragma uk_header", "#pragma uk_end"
_INCLUDE = re.compile(r'\s*#\s*include ([<"])(.+)[>"]')


def part(name: str) -> str:
    """A line that includes a file of C that is not generated; see :func:`assemble`."""
    return f'#include "{name}"\n'


def header(name: str, *texts: str) -> str:
    """A generated header, which files of C include by its name."""
    return "\n".join([f"{_BEGIN} {name}", *texts, _END, ""])


def joined(*parts: str) -> str:
    """Parts of a source, one below the other."""
    return "\n".join(parts)


def assemble(text: str, before: str = "") -> str:
    """One file of C: each file that is included stands once, where it is included first.

    It has lines of :func:`part` and :func:`header`; so has ``before``, which the result includes.
    """
    done: set[str] = set()
    _assembled(before, done)
    return "\n".join(_assembled(text, done)) + "\n"


def _assembled(text: str, done: set[str]) -> list[str]:
    lines: list[str] = []
    again = False  # in a generated header that stands there already
    for line in text.splitlines():
        if line.startswith(_BEGIN):
            name = line.removeprefix(_BEGIN).strip()
            again = name in done
            done.add(name)
        elif line.startswith(_END):
            again = False
        elif again:
            continue
        elif (found := _INCLUDE.match(line)) and (found[1] == "<" or _is_ours(found[2], done)):
            if found[2] in done:
                continue
            done.add(found[2])
            if found[1] == "<":
                lines.append(line)
            else:
                lines += _assembled(file_text(found[2]), done)
        elif lists := _LISTED.findall(line):  # members of a structure, for who reads it
            fields = [field for name in lists for field in _fields(text, name)]
            lines += [f"  {kind} *{name}; /* {size} */" for kind, name, size in fields]
        elif not line.startswith("#pragma once"):
            lines.append(line)
    return lines


def _is_ours(name: str, done: set[str]) -> bool:
    return name in done or name in answer_lists() or (_C / name).is_file()


@cache
def file_text(name: str) -> str:
    """A file of C without its copyright statement; or the lists of answers, which are generated."""
    if name in answer_lists():
        return answer_lists()[name]
    return (_C / name).read_text(encoding="utf-8").partition("\n")[2]


def headers(text: str) -> dict[str, str]:
    """The generated headers in a text that is not assembled, to compile a file of C alone."""
    found = re.findall(rf"^{_BEGIN} (\S+)\n(.*?)^{_END}$", text, re.DOTALL | re.MULTILINE)
    found += answer_lists().items()
    return {name: f"#pragma once\n{body}" for name, body in reversed(found)}  # the first counts


def defines(values: Mapping[str, float]) -> list[str]:
    """Constants of Python under the same names in C, ``UK_`` before them."""
    return [
        f"#define UK_{name} {value if isinstance(value, int) else number(value)}"
        for name, value in values.items()
    ]


def table(kind: str, name: str, values: Iterable[Any]) -> str:
    """Constant numbers as an array of C; a zero where there are none."""
    texts = [number(x) if kind == "double" else str(int(x)) for x in values] or ["0"]
    return f"static const {kind} {name}[] = {{{', '.join(texts)}}};"


def hull(body: Hull) -> list[str]:
    """A convex body, as convex_hulls.c has it."""
    vectors = {"corner": body.corners, "normal": body.normals, "along": body.along}
    pairs = {"edge": body.edges, "edge_face": body.edge_faces}
    own = f"{body.name}_"
    arrays = [*vectors, "loop_start", "loop", *pairs]
    counts = ", ".join(str(len(x)) for x in (body.corners, body.normals, body.edges))
    members = ", ".join(own + name for name in arrays)
    return [
        *(table("double", own + name, np.ravel(x)) for name, x in vectors.items()),
        *lists(f"{own}loop", [loop.tolist() for loop in body.loops]),
        *(table("int", own + name, np.ravel(x)) for name, x in pairs.items()),
        f"static const uk_hull {body.name} = {{{counts}, {number(body.size)}, {members}}};",
    ]


def lists(name: str, values: Sequence[Sequence[int]]) -> list[str]:
    """Lists of numbers one behind the other, and where each of them starts."""
    return [
        table("int", f"{name}_start", accumulate(map(len, values), initial=0)),
        table("int", name, [x for row in values for x in row]),
    ]


@cache
def structure(name: str) -> type[ctypes.Structure]:
    """The numbers and pointers of a structure that a file of C declares, for calls from Python."""
    for path in sorted(_C.iterdir(), key=lambda path: path.suffix != ".h"):
        whole = path.read_text(encoding="utf-8")
        if found := re.search(rf"typedef struct \{{([^{{}}]*)\}} {name};", _ASIDE.sub("", whole)):
            body = _LISTED.sub(partial(_pointers, whole), found[1])
            members = [m for line in body.split(";") if line.strip() for m in _members(line)]
            return type(name, (ctypes.Structure,), {"_fields_": members})
    raise KeyError(name)


_PLAIN = {"double": ctypes.c_double, "long long": ctypes.c_longlong, "int": ctypes.c_int}
_LISTED = re.compile(r"(\w+)\(UK_POINTER\)")
_MEMBER = re.compile(r"\s*(\**)(?:\s*const\b)?\s*(\**)(\w+)(?:\[(\d+)\])?\s*")


def _pointers(text: str, use: re.Match[str]) -> str:
    """Declarations of the pointers that a list of fields in the same file is expanded to."""
    return "".join(f"{kind} *{name};" for kind, name, _ in _fields(text, use[1]))


def _fields(text: str, name: str) -> list[tuple[str, str, str]]:
    listed = re.search(
        rf"#define {name}\(F\)(.*?)(?<!\\)\n", "".join([text, *answer_lists().values()]), re.DOTALL
    )
    assert listed is not None, name
    return re.findall(r"\bF\((\w+), (\w+), ([^)]*)", listed[1])


def _members(declaration: str) -> list[tuple[str, Any]]:
    """Names and types of ctypes that one declaration has."""
    if pointer := re.match(r"\s*\w+ \(\*(\w+)\)", declaration):  # to a function
        return [(pointer[1], ctypes.c_void_p)]
    words = re.match(r"\s*(?:const\s+)?(long long|\w+)", declaration)
    assert words is not None, declaration
    members: list[tuple[str, Any]] = []
    for text in declaration[words.end() :].split(","):
        found = _MEMBER.fullmatch(text)
        assert found is not None, declaration
        *stars, name, count = found.groups()
        kind: Any = ctypes.c_void_p
        if not any(stars):
            kind = _PLAIN[words[1]] if words[1] in _PLAIN else structure(words[1])
        members.append((name, kind if count is None else kind * int(count)))
    return members
