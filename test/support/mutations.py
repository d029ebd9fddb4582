# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Files with mistakes: texts of robots, mechanisms and tasks, changed in one to three places."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])")
WORD = re.compile(r"[A-Za-z_][\w/-]*")
ELEMENT = re.compile(r"<(\w+)\b[^<>]*/>|<(\w+)\b[^<>]*>(?:(?!<\2\b).)*?</\2>", re.DOTALL)
VALUES = (
    *("0", "-1", "1e-320", "1e308", "-1e308", "nan", "inf", "1e-9", "1e6", "2147483648", "", "1 2"),
    *("true", "null", "abc", "[1, 2]", "{a: 1}", "0x10", "1,5", "١", "${1/0}", "1e", "3.14159"),
)
WORDS = ("", "world", "base", "none", "*", "&x", "a\x07b", "ä", "-", "$(arg x)", "%s", "../..", "%")
INSERTED = ("<", ">", "&", '"', "'", ":", "\t", "\x00", "{", "]", "- ", "#", "\ufeff", "\r", "<!--")


def mutated(text: str, chance: random.Random) -> str:
    """The text with one to three mistakes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        text = chance.choice(MISTAKES)(text, chance)
    return text


def _other_number(text: str, chance: random.Random) -> str:
    return _replaced(text, NUMBER, chance, chance.choice(VALUES))


def _scaled_number(text: str, chance: random.Random) -> str:
    factor = chance.choice((-1.0, 0.5, 2.0, 1e3, 1e-3))

    def scaled(found: str) -> str:
        return repr(float(found) * factor)

    return _replaced(text, NUMBER, chance, scaled)


def _other_name(text: str, chance: random.Random) -> str:
    """A name that another thing of the file has: a reference to the wrong one, or a duplicate."""
    return _replaced(text, WORD, chance, chance.choice(WORD.findall(text) or [""]))


def _strange_name(text: str, chance: random.Random) -> str:
    return _replaced(text, WORD, chance, chance.choice(WORDS))


def _slip(text: str, chance: random.Random) -> str:
    """A letter is missing."""
    return _replaced(text, WORD, chance, lambda word: word[:-1])


def _without_part(text: str, chance: random.Random) -> str:
    start, end = _part(text, chance)
    return text[:start] + text[end:]


def _part_twice(text: str, chance: random.Random) -> str:
    start, end = _part(text, chance)
    return text[:end] + text[start:]


def _parts_swapped(text: str, chance: random.Random) -> str:
    a, b = sorted((_part(text, chance), _part(text, chance)))
    if a[1] > b[0]:
        return text
    return text[: a[0]] + text[slice(*b)] + text[a[1] : b[0]] + text[slice(*a)] + text[b[1] :]


def _cut_off(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _with_a_character(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(INSERTED) + text[at:]


Mistake = Callable[[str, random.Random], str]
# numbers, names and parts more often than what no parser gets past
MISTAKES: tuple[Mistake, ...] = (
    *(_other_number, _scaled_number, _other_name, _strange_name) * 3,
    *(_slip, _without_part, _part_twice, _parts_swapped) * 2,
    *(_cut_off, _with_a_character),
)


def _replaced(
    text: str, pattern: re.Pattern[str], chance: random.Random, new: str | Callable[[str], str]
) -> str:
    places = list(pattern.finditer(text))
    if not places:
        return text
    place = chance.choice(places)
    inserted = new if isinstance(new, str) else new(place.group())
    return text[: place.start()] + inserted + text[place.end() :]


def _part(text: str, chance: random.Random) -> tuple[int, int]:
    """An element of XML, or a line with those that are indented below it."""
    places = list(ELEMENT.finditer(text))
    if places:
        return chance.choice(places).span()
    lines = text.splitlines(keepends=True) or [""]
    first = chance.randrange(len(lines))
    indent = len(lines[first]) - len(lines[first].lstrip())
    last = first + 1
    while last < len(lines) and len(lines[last]) - len(lines[last].lstrip()) > indent:
        last += 1
    start = sum(map(len, lines[:first]))
    return start, start + sum(map(len, lines[first:last]))
