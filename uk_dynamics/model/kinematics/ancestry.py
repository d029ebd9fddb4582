# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which velocities move which frames, kept as a tree instead of a matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.model.urdf.description import Array

Indices = NDArray[np.intp]


class Ancestry:
    """The rows of an ancestor mask, made when they are asked for."""

    def __init__(self, parents: Sequence[int], carriers: Sequence[int]) -> None:
        # for each velocity the one before it towards the root, or −1, (nv,)
        self.parents: Indices = np.array(parents, dtype=np.intp)
        # the last velocity that moves each frame, or −1, (nframes,)
        self.carriers: Indices = np.array(carriers, dtype=np.intp)

    @property
    def shape(self) -> tuple[int, int]:
        """Frames and velocities."""
        return len(self.carriers), len(self.parents)

    def __getitem__(self, frames: Indices) -> Array:
        """1 where a velocity moves a frame, else 0, (frames, nv)."""
        mask = np.zeros((len(frames), len(self.parents)))
        for row, frame in zip(mask, frames, strict=True):
            row[self.path(int(frame))] = 1.0
        return mask

    def path(self, frame: int) -> list[int]:
        """Velocities that move a frame, the last first."""
        found = []
        velocity = int(self.carriers[frame])
        while velocity >= 0:
            found.append(velocity)
            velocity = int(self.parents[velocity])
        return found

    def between(self, parent: int, child: int) -> tuple[list[int], list[int]]:
        """Velocities that move a frame relative to another, ascending, and their signs.

        child: Frame that is seen; what moves it alone has sign 1.
        """
        one, other = int(self.carriers[child]), int(self.carriers[parent])
        sign: dict[int, int] = {}
        while one != other:  # numbers grow away from the root
            if one > other:
                sign[one] = 1
                one = int(self.parents[one])
            else:
                sign[other] = -1
                other = int(self.parents[other])
        moving = sorted(sign)
        return moving, [sign[velocity] for velocity in moving]
