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
    """What the estimation knows of a mechanism, apart from its rows.

    Attributes:
        split: Measured and other velocity coordinates.
        held: Places of the constraint rows that determine positions, (h,).
        scale: Residual of each of these per m or rad, (h,).
        turning: Which measured joints are continuous, (d,).
        homes: Configurations with closed loops, from the nearest of which a start begins, (k, nq).
        moving: Whether rows depend on time.
    """

    split: Split
    held: NDArray[np.intp]
    scale: Array
    turning: NDArray[np.bool_]
    homes: Array
    moving: bool

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
