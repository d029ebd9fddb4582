# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Commands as their texts declare them: what ``--help`` says, and which arguments there are.

A text begins with a summary of one line, then a description, then ``examples:``. What follows
``arguments:`` is written as the help shows it: ``--option VALUE  what it is`` or ``VALUE  what it
is``, further lines indented. ``VALUE`` says how it is read (:data:`_READERS`), ``VALUE:kind`` where
its name does not; other values are text. ``A|B`` is a choice, ``VALUE=10`` has a default, which
the help names, and ``[VALUE]`` may be left out. ``VALUE...`` may be repeated, of ``VALUE+`` there
are several, of ``VALUE*`` any number; without a value an option is a switch, and ``--option!`` is
needed. What is read has the name of the option or value, or the one before it (``file URDF``). A
heading begins a group, as far as the next empty line; ``{name}`` stands for a part of
``shared.txt``.
"""

import argparse
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from uk_dynamics.cli.options import values

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
_Group: TypeAlias = argparse._ActionsContainer

# how a value is read, by what the help calls it or what stands behind it
_READERS: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("S", "HZ", "M", "F", "FACTOR", "STEP", "TOL", "positive"), values.positive),
    **dict.fromkeys(("JOINT=VALUE", "MOTOR=VALUE"), values.assignment),
    **dict.fromkeys(("DELAY", "finite"), values.finite),
    **dict.fromkeys(("N", "PORT"), values.count),
    **dict.fromkeys(("DIR", "path"), Path),
    "NAME=VALUE": values.named,
    "PART": values.part,
    "SEED": int,
    "rate": values.rate,
}
_VALUE = re.compile(r"(\[?)(.+?)(?::(\w+))?(?:=(.*?))?(?:\]|(\.\.\.|[+*])|)")
_EXCLUSIVE = {"at most one of": False, "exactly one of": True}  # whether one is needed


def add_command(
    commands: Commands, name: str, text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Add a command as its text declares it."""
    told, _, arguments = text.partition("\narguments:\n")
    summary, _, told = told.partition("\n\n")
    description, separator, examples = told.partition("examples:")
    parser = commands.add_parser(
        name,
        help=summary,
        description=description.rstrip(),
        epilog=separator + examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, parser=parser)
    for section in _filled(arguments, _shared()).split("\n\n"):
        heading, found, entries = section.partition(":\n")
        group: _Group = parser
        if not found or " " * 2 in heading:
            entries = section
        elif heading in _EXCLUSIVE:
            group = parser.add_mutually_exclusive_group(required=_EXCLUSIVE[heading])
        else:
            group = parser.add_argument_group(heading)
        for entry in re.findall(r"^\S.*(?:\n .*)*", entries, re.MULTILINE):
            _add_argument(group, entry)
    return parser


def text_beside(module: Path) -> str:
    """The text of a command, which stands beside its module."""
    return module.with_suffix(".txt").read_text(encoding="utf-8")


@cache
def _shared() -> dict[str, str]:
    """What several texts say, by name; a part may be made of those before it."""
    found: dict[str, str] = {}
    for part in text_beside(Path(__file__).with_name("shared")).rstrip().split("\n\n"):
        name, _, text = part.partition(":\n")
        found[name] = _filled(text, found)
    return found


def _filled(text: str, parts: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: parts[name[1]], text)


def _add_argument(group: _Group, entry: str) -> None:
    head, _, words = entry.partition("  ")
    said = " ".join(words.split()).replace("%", "%%")
    name, *written = re.findall(r'"[^"]*"\S*|\S+', head)
    how: dict[str, Any] = {"required": True} if name.endswith("!") else {}
    if not written:
        group.add_argument(name, action="store_true", help=said)
        return
    *others, last = written
    parts = _VALUE.fullmatch(last)
    assert parts is not None, entry
    bracket, value, kind, default, many = parts.groups()
    if (pair := f"{value}={default}") in _READERS or (others and default is not None):
        value, default = pair, None
    how["type"] = read = _READERS.get(kind or ("" if others else value), str)
    given = None if default is None else read(default)
    if others:
        how |= {"nargs": len(others) + 1, "metavar": (*others, value)}
    else:
        how |= {"choices": value.split("|")} if "|" in value else {"metavar": value}
    if bracket:
        how |= {"nargs": "?", "const" if name.startswith("-") else "default": given}
    elif default is not None:
        how["default"] = given
        said += f" (default: {default})" * bool(default)
    if many == "...":
        how |= {"action": "append", "default": []}
    elif many:
        how |= {"nargs": many} | ({"default": []} if name.startswith("-") else {})
    group.add_argument(name.rstrip("!"), help=said, **how)
