# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Writing mechanism files that people read: flow style, a comment where one is needed."""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from uk_dynamics.escaping import one_line, yaml_string

_WIDTH = 110
_PLAIN = re.compile(r"(\.{0,2}/)*([A-Za-z_][A-Za-z0-9_./:-]*[A-Za-z0-9_]|[A-Za-z_])")
_WORDS = ("true", "false", "null")  # not text in YAML 1.2


def flow(value: object) -> str:
    """A value on one line; numbers keep all their digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value + 0.0)  # no minus zero
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS and ": " not in value
        return value if plain else yaml_string(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(flow, value)) + "]"
    raise TypeError(f"{type(value).__name__} has no place in a mechanism file")


def comment(text: str, indent: int = 0) -> list[str]:
    """Lines of a comment, wrapped."""
    start = f"{'':{indent}}# "
    return [start + line for line in textwrap.wrap(one_line(text), _WIDTH - len(start))]


def entry(
    name: str, data: Mapping[str, object], *, comments: Iterable[str] = (), active: bool = True
) -> list[str]:
    """A named entry of a section, a key per line; one that is not active is commented out."""
    lines = [f"  {flow(name)}:", *(f"    {key}: {flow(item)}" for key, item in data.items())]
    if not active:
        lines = [f"  # {line[2:]}" for line in lines]
    return [*[line for text in comments for line in comment(text, 2)], *lines]


def short_entry(name: str, data: object, *, remark: str = "", active: bool = True) -> str:
    """An entry on one line, with a remark behind it."""
    line = f"  {'' if active else '# '}{flow(name)}: {flow(data)}"
    return f"{line}  # {one_line(remark)}" if remark else line


def identifier(name: str, taken: Iterable[str] = ()) -> str:
    """A name as mechanism files demand it: letters, digits and _, and not taken."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if not plain or not plain[0].isalpha():
        plain = f"n_{plain}" if plain else "n"
    taken = set(taken)
    chosen, number = plain, 2
    while chosen in taken:
        chosen, number = f"{plain}_{number}", number + 1
    return chosen
