# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a row of each type is, traced over two frames: C code that no mechanism is written into.

One function serves all rows of a type, which numbers tell apart.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple, cast

import numpy as np

from uk_dynamics.compilation.trace.symbols import Graph, Objects
from uk_dynamics.constraints.rows import (
    ConstraintSet,
    FrameKinematics,
    FrameRows,
    RelativeTwist,
    RotationVectorRows,
    RowFrames,
    relative_twist,
)
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


class TracedRow(NamedTuple):
    """Symbols in what :data:`INPUTS` names: two frames and the numbers of a row."""

    wrench: Objects  # at the point from which origins count, (6,)
    more: Objects  # residual, and what the wrench leaves out of rate and bias, (3,)


#: Arrays of a traced row: rotations and origins of both frames, velocities of the child as seen
#: from the parent, and the numbers that tell rows of one type apart.
INPUTS = ("parent", "from", "child", "to", "angular", "linear", "own")


def traced_row(family: FrameRows) -> TracedRow:
    """A row of a family."""
    graph = Graph()
    own = graph.variables("own", numbers(family).shape[1])
    given: dict[str, Any] = {"frames": RowFrames(*(np.array([k]) for k in (0, 1, 0)))}
    at = 0
    for name in arrays(family):
        shape = getattr(family, name).shape[1:]
        size = int(np.prod(shape))
        given[name] = own[at : at + size].reshape(1, *shape)
        at += size
    row = replace(cast(Any, family), **given)
    rotations = [graph.variables(name, 9).reshape(3, 3) for name in ("parent", "child")]
    origins = [graph.variables(name, 3) for name in ("from", "to")]
    frames = cast(FrameKinematics, _Frames(np.stack(rotations), np.stack(origins)))
    wrench, residual = row.position(frames)
    angular, linear = (graph.variables(name, 3)[None] for name in ("angular", "linear"))
    twist = RelativeTwist(cast(Array, angular), cast(Array, linear), np.zeros((1, 6)))
    rate, bias = np.zeros(1), np.zeros(1)
    if row.turning:
        bias = row.extra_bias(frames, twist)
    elif isinstance(row, RotationVectorRows):
        rate, bias = row.motion(frames, twist)
    return TracedRow(wrench[0], np.array([residual[0], rate[0], bias[0]], dtype=object))


def traced_pair() -> tuple[RelativeTwist, tuple[str, ...]]:
    """Relative motion of two frames, and the names of its inputs; see :func:`relative_twist`."""
    graph, names = Graph(), ("base", "delta", "rate", "origin")
    sizes = (6, 6, 6, 3)
    given = [graph.variables(name, size)[None] for name, size in zip(names, sizes, strict=True)]
    return relative_twist(*cast("list[Array]", given)), names


class _Frames(NamedTuple):
    """As much of ``FrameKinematics`` as rows of two frames need."""

    rotation: Objects
    translation: Objects
