# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Symbols as a tape for devices that run one instruction on many states at a time.

Straight-line code of some thousand operations takes such compilers minutes, a loop over
instructions a second. Operations that do not need each other's results stand side by side in a row
of the tape; functions, which cost more than arithmetic, are calls between rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.trace.symbols import Objects, Symbol

Places = NDArray[np.int32]

#: Operations of rows; a place in this tuple is what rows say. All others are calls.
ARITHMETIC = ("+", "-", "*", "negate", "<", "<=", "choose")
_WIDTH = 64  # operations in a row


@dataclass(frozen=True)
class Rows:
    """Rows of arithmetic, one after the other."""

    operations: Places  # places in ``ARITHMETIC``, (rows, width)
    operands: Places  # places of up to three values, (3, rows, width)
    results: Places  # place of each row's first result, (rows,); the others follow

    def has(self, operation: str) -> bool:
        """Whether an operation is among them."""
        return bool((self.operations == ARITHMETIC.index(operation)).any())


@dataclass(frozen=True)
class Call:
    """A function of many values at once."""

    function: str  # name of the operation, that of <math.h> or ``/``
    operands: Places  # places of each operand, (operands, count)
    result: int  # place of the first result; the others follow


@dataclass(frozen=True)
class Tape:
    """What computes arrays of symbols."""

    inputs: tuple[str, ...]  # names in the order of the first values
    constants: NDArray[np.float64]  # values behind the inputs, (c,)
    parts: tuple[Rows | Call, ...]  # what is run, in this order
    size: int  # number of values; the last row may write up to this place
    outputs: Mapping[str, Places]  # places of the wanted arrays, by name
    count: int  # number of operations

    @property
    def traffic(self) -> int:
        """Bytes that it reads and writes for one state in float64, if nothing stays in a cache."""
        values = 0
        for part in self.parts:
            if isinstance(part, Call):
                values += part.operands.size + part.operands.shape[1]
            else:
                values += (3 + part.has("choose")) * part.operations.size
        return 8 * values


def record(inputs: Sequence[str], outputs: Mapping[str, Objects]) -> Tape:
    """Put all that arrays need on a tape."""
    wanted = {name: list(array.reshape(-1)) for name, array in outputs.items()}
    nodes = in_order(x for values in wanted.values() for x in values)
    places = _Places(inputs, nodes, (x for values in wanted.values() for x in values))
    stages = _stages(nodes)
    parts: list[Rows | Call] = []
    for calls, levels in stages:
        for function, called in calls.items():
            operands = places.operands(called, len(called[0].operands))
            parts.append(Call(function, operands, places.give(called)))
        if levels:
            parts.append(_rows(levels, places))
    found = {
        name: np.array([places[x] for x in values], np.int32).reshape(outputs[name].shape)
        for name, values in wanted.items()
    }
    constants = np.array(places.constants)
    return Tape(tuple(inputs), constants, tuple(parts), places.count + _WIDTH, found, len(nodes))


class _Places:
    """Where values stand: inputs, then constants, then results as they come."""

    def __init__(
        self, inputs: Sequence[str], nodes: Iterable[Symbol], wanted: Iterable[Any]
    ) -> None:
        self._inputs = {name: place for place, name in enumerate(inputs)}
        operands = (x for node in nodes for x in node.operands)
        found = {float(x) for values in (operands, wanted) for x in values if _is_constant(x)}
        self.constants = sorted(found)
        self._constants = {x: len(inputs) + k for k, x in enumerate(self.constants)}
        self._results: dict[Symbol, int] = {}
        self.count = len(inputs) + len(self.constants)

    def __getitem__(self, x: Any) -> int:
        if not isinstance(x, Symbol):
            return self._constants[float(x)]
        return self._inputs[x.operands[0]] if x.operation == "input" else self._results[x]

    def give(self, nodes: list[Symbol]) -> int:
        """Places for the results of nodes, one after the other; the first."""
        first = self.count
        self._results |= {node: first + k for k, node in enumerate(nodes)}
        self.count += len(nodes)
        return first

    def operands(self, nodes: list[Symbol], count: int) -> Places:
        """Places of operands, (count, nodes); zero for those that a node does not have."""
        found = np.zeros((count, len(nodes)), np.int32)
        for k, node in enumerate(nodes):
            found[: len(node.operands), k] = [self[x] for x in node.operands]
        return found


def _is_constant(x: Any) -> bool:
    return not isinstance(x, Symbol | str)


def in_order(roots: Iterable[Any]) -> list[Symbol]:
    """All operations below some roots, operands first."""
    found: dict[Symbol, None] = {}
    stack = [x for x in roots if isinstance(x, Symbol)]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node.operation != "input":
            found[node] = None
            fresh = [x for x in node.operands if isinstance(x, Symbol) and x not in seen]
            seen.update(fresh)
            stack += fresh
    return sorted(found, key=lambda node: node.number)


Stage = tuple[dict[str, list[Symbol]], dict[int, list[Symbol]]]


def _stages(nodes: list[Symbol]) -> list[Stage]:
    """Calls by function, then arithmetic by level; a stage needs those before it only."""
    at: dict[Symbol, tuple[int, int]] = {}
    stages: list[Stage] = []
    for node in nodes:
        before = [at.get(x, (0, 0)) for x in node.operands if isinstance(x, Symbol)]
        stage, level = max(before, default=(0, 0))
        if node.operation in ARITHMETIC:
            at[node] = stage, level + 1
        else:
            at[node] = stage + 1, 0
        while len(stages) <= at[node][0]:
            stages.append((defaultdict(list), defaultdict(list)))
        calls, levels = stages[at[node][0]]
        if node.operation in ARITHMETIC:
            levels[at[node][1]].append(node)
        else:
            calls[node.operation].append(node)
    return stages


def _rows(levels: Mapping[int, list[Symbol]], places: _Places) -> Rows:
    """Levels in rows of one width; what a row is too long writes nothing that anybody reads."""
    operations, operands, results = [], [], []
    for level in sorted(levels):
        nodes = levels[level]
        for first in range(0, len(nodes), _WIDTH):
            row = nodes[first : first + _WIDTH]
            spare = (0, _WIDTH - len(row))
            codes = np.array([ARITHMETIC.index(node.operation) for node in row], np.int32)
            operations.append(np.pad(codes, spare))
            operands.append(np.pad(places.operands(row, 3), ((0, 0), spare)))
            results.append(places.give(row))
    return Rows(np.array(operations), np.stack(operands, axis=1), np.array(results, np.int32))
