# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Symbols side by side in vectors of the processor."""

from collections.abc import Callable, Iterable, Sequence
from typing import cast

import numpy as np

from uk_dynamics.compilation.trace.sparse_vectors import Scalar, is_zero
from uk_dynamics.compilation.trace.symbolic_joints import zeros
from uk_dynamics.compilation.trace.symbols import Graph, Objects, Symbol, as_objects


class Columns:
    """A number per velocity, or per body, in the lanes of vectors; of width one, one by one.

    What is zero in all lanes is no vector.
    """

    def __init__(self, graph: Graph, count: int, width: int) -> None:
        """Begin; ``width`` is 1 or that of the graph's vectors."""
        self._graph, self.count, self._width = graph, count, width
        self.blocks = -(-count // width)  # vectors for them

    def pack(self, values: Iterable[Scalar]) -> Objects:
        """Pack a value per velocity into vectors, (blocks,)."""
        given = [*values]
        given += [0.0] * (self.blocks * self._width - len(given))
        packed = zeros(self.blocks)
        for b in range(self.blocks):
            lanes = given[b * self._width : (b + 1) * self._width]
            if self._width == 1:
                packed[b] = lanes[0]
            elif not all(map(is_zero, lanes)):
                packed[b] = self._graph.node("row", *lanes)
        return packed

    def pack_all(self, values: Sequence[Objects]) -> Objects:
        """Pack a vector or matrix per velocity, (…, blocks)."""
        stacked = np.stack(values, axis=-1)
        packed = [self.pack(x) for x in stacked.reshape(-1, len(values))]
        return as_objects(packed).reshape(*stacked.shape[:-1], self.blocks)

    def weights(self, one: Iterable[int], less: Iterable[int] = ()) -> Objects:
        """Make vectors of 1 for some velocities, −1 for others; floats where all agree."""
        found = np.zeros(self.blocks * self._width)
        found[list(one)] += 1.0
        found[list(less)] -= 1.0
        packed = self.pack(found.tolist())
        for b in range(self.blocks):
            lanes = found[b * self._width : min((b + 1) * self._width, self.count)]
            if np.all(lanes == lanes[0]):
                packed[b] = float(lanes[0])
        return packed

    def at(self, packed: Objects, k: int) -> Objects:
        """Pick what belongs to one velocity of a packed array (…, blocks)."""
        b, lane = divmod(k, self._width)
        chosen = packed[..., b]
        return as_objects([self._lane(x, lane) for x in chosen.reshape(-1)]).reshape(chosen.shape)

    def _lane(self, x: Scalar, lane: int) -> Scalar:
        if not isinstance(x, Symbol) or self._width == 1:
            return x
        if x.operation == "row":
            return x.operands[lane]
        return self._graph.node("lane", x, float(lane))


def product(factors: Objects, rows: Objects, weights: Objects) -> Objects:
    """Sum factor · row, each column with its weight, (blocks,)."""
    found = zeros(len(weights))
    for b, weight in enumerate(weights):
        if not is_zero(weight):
            total: Scalar = 0.0
            for factor, row in zip(factors, rows[:, b], strict=True):
                total = total + factor * row
            found[b] = total * weight
    return found


def by_blocks(function: Callable[..., Objects], *packed: Objects) -> Objects:
    """Apply a function of vectors or matrices to each block, (…, blocks)."""
    blocks = packed[0].shape[-1]
    return cast(
        Objects, np.stack([function(*(x[..., b] for x in packed)) for b in range(blocks)], -1)
    )
