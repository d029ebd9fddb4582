# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the joint-state estimation knows of a mechanism, for C and for its callers."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.emit.layout.block import Block
from uk_dynamics.core.servo import Split
from uk_dynamics.mechanism.resolution import Array


@dataclass(frozen=True)
class LoopTables:
    """What the estimation knows of a mechanism, apart from its rows."""

    split: Split  # measured and other velocity coordinates
    held: NDArray[np.intp]  # places of the constraint rows that determine positions, (h,)
    scale: Array  # residual of each of these per m or rad, (h,)
    turning: NDArray[np.bool_]  # which measured joints are continuous, (d,)
    # configurations with closed loops, from the nearest of which a start begins, (k, nq)
    homes: Array
    moving: bool  # whether rows depend on time

    @property
    def digest(self) -> str:
        """What tells them from others of the same mechanism."""
        split = self.split
        numbers = *(split.measured, split.others, split.scale, split.deviation), self.held
        more = self.scale, self.turning, self.homes
        text = repr([np.asarray(x).tolist() for x in (*numbers, *more)] + [split.conditions])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class EncoderLayout(Block):
    """What encoders told last, of ``measured`` joints among ``velocities``."""

    def __init__(self, measured: int, velocities: int) -> None:
        super().__init__(
            ("known", (), "whether there was a reading"),
            ("t", (), "when, in s"),
            ("used", (), "rows of noise"),
            ("in_c", (), "whether C made the last one"),
            ("positions", measured, "that were told, rad or m"),
            ("velocities", measured, ""),
            ("q", velocities, "with them the loops are closed"),
        )
