# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The numbers that tell rows of one type apart, where C has one function for all of them."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, cast

import numpy as np

from uk_dynamics.constraints.rows import ConstraintSet, FrameRows
from uk_dynamics.mechanism.resolution import Array


def families(constraints: ConstraintSet) -> Iterator[FrameRows]:
    """The families of rows of frame pairs, in the order of their names."""
    found = {type(family).__name__: family for family, _ in constraints.layout.families}
    return (found[name] for name in sorted(found))


def numbers(family: FrameRows) -> Array:
    """What tells the rows of a family apart, (m, k)."""
    m = len(family.frames.parent)
    parts = [np.reshape(getattr(family, name), (m, -1)) for name in arrays(family)]
    return np.concatenate(parts, axis=1)


def width(constraints: ConstraintSet) -> int:
    """The most numbers of a row, at least one."""
    return max((numbers(family).shape[1] for family in families(constraints)), default=1)


def arrays(family: FrameRows) -> list[str]:
    """Names of the arrays of a family that hold them."""
    return [field.name for field in fields(cast(Any, family)) if field.name != "frames"]
