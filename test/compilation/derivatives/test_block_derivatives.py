# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the equations with columns side by side in vectors."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import shipped

from uk_dynamics.compilation.derivatives.block_derivatives import BlockRow, block_derivatives
from uk_dynamics.compilation.trace.symbol_values import SymbolValues


class Anything(dict[str, float]):
    """A number for whatever name is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._rng = np.random.default_rng(5)

    def __missing__(self, name: str) -> float:
        self[name] = self._rng.uniform(0.5, 1.5)
        return self[name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["excavator", "five_bar_maximal", "rolling_disc", "skate", "spiral_particle"]
)
def test_columns_side_by_side_are_those_one_by_one(name: str) -> None:
    mechanism, inputs = shipped(name), Anything()
    one, several = (
        np.concatenate(
            [
                dense(row, mechanism.model.nv, inputs)
                for part in block_derivatives(mechanism, width)
                for row in part
            ]
        )
        for width in (1, 8)
    )
    # sums in another order, of numbers that are not those of a motion: some digits cancel
    assert np.abs(several - one).max() < 1e-11 * np.abs(one).max()


def dense(row: BlockRow, nv: int, inputs: Anything) -> np.ndarray:
    whole = np.zeros(2 * nv + 1)
    for part, columns in ((row.by_position, slice(nv)), (row.by_velocity, slice(nv, 2 * nv))):
        values = SymbolValues(list(part), {"row": lambda *x: np.array(x), "lane": lane})(inputs)
        width = 1 if len(part) == nv else 8
        packed = [np.broadcast_to(x, width) for x in values]
        whole[columns] = np.concatenate(packed)[:nv]
    for k, x in row.others.items():
        whole[k] += SymbolValues([x])(inputs)[0]
    return whole


def lane(vector: np.ndarray, place: float) -> float:
    return float(vector[int(place)])
