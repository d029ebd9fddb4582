# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Memory on which C and Python both work, as a list of fields."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType

import numpy as np

from uk_dynamics.mechanism.resolution import Array

#: Name of a field, how many numbers or its shape in C (none of a single number), what it is.
Declared = tuple[str, int | tuple[int, ...], str]


@dataclass(frozen=True)
class Field:
    """Some doubles of the memory."""

    shape: tuple[int, ...]  # in C; (): a number that is no array
    start: int  # index of the first
    comment: str  # for the reader of the C header

    @property
    def count(self) -> int:
        """How many there are."""
        return prod(self.shape)


class Block:
    """Some fields of doubles, one behind the other, on which C and Python both work."""

    def __init__(self, *fields: Declared) -> None:
        self.size = 0  # all doubles so far
        self.fields: dict[str, Field] = {}
        self._add(*fields)

    def memory(self) -> Array:
        """Fresh memory."""
        return np.zeros(self.size)

    def views(self, memory: Array) -> dict[str, Array]:
        """All fields of a memory, by name."""
        return {name: memory[self[name]] for name in self.fields}

    def _add(self, *fields: Declared) -> slice:
        """Add fields; where they are together."""
        first = self.size
        for name, size, comment in fields:
            shape = size if isinstance(size, tuple) else (size,)
            field = self.fields[name] = Field(shape, self.size, comment)
            self.size += field.count
        return slice(first, self.size)

    def __getitem__(self, name: str) -> slice:
        """Where a field is."""
        field = self.fields[name]
        return slice(field.start, field.start + field.count)

    def c_struct(
        self,
        name: str = "uk_memory",  # of the structure
        kind: str = "double",  # the type
        fields: Iterable[str] | None = None,  # some of them; None: all
        kinds: Mapping[str, str] = MappingProxyType({}),  # types of fields that have others
    ) -> str:
        """The same, or some fields of it, as a C structure of numbers of a type."""
        lines, structure = [], name
        for name in self.fields if fields is None else fields:
            field = self.fields[name]
            array = "".join(f"[{size}]" for size in field.shape)
            comment = f" /* {field.comment} */" if field.comment else ""
            lines.append(f"  {kinds.get(name, kind)} {name}{array};{comment}")
        return "typedef struct {\n" + "\n".join(lines) + f"\n}} {structure};\n"
