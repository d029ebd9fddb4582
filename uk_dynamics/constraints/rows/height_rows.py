# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of points and spheres with a height field.

Along both axes of a grid its heights are the control points of a quadratic B-spline (de Boor, A
Practical Guide to Splines, 1978): in the middle of four points the surface has their mean height
and slope, and edges between them are rounded by parabolas, so that normals turn without jumps and
nothing overshoots. It goes through the points at the border, and on straight beyond it.

A sphere touches where its centre is on the field of such centres, which is computed beforehand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.arrays import Indices
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.round_rows import Nearest, RoundRow, RoundRows, within
from uk_dynamics.constraints.rows.row import RowFrames
from uk_dynamics.constraints.rows.vectors import Array, apply, dot
from uk_dynamics.core.linalg import Table, looked_up, nearest_integer, square_root
from uk_dynamics.exceptions import InputError

_FINER = 4  # the grid of centres of spheres
_WIDEST = 16.0  # radius of a sphere, in spacings of the grid
_HALVINGS = 24  # of the way to a sphere's point of contact: 1e-7 of it, and 1e-14 of the height


class HeightField:
    """Heights over a rectangle, in the middle of which its frame has its origin."""

    def __init__(self, heights: Array, size: tuple[float, float]) -> None:
        """Heights at the points of a grid, a row for each y, and lengths along x and y, in m."""
        self.heights, self.size = heights, size
        self.count = np.array(heights.shape[::-1])
        self.step: Array = np.array(size) / (self.count - 1)
        # with a row and column around them in line with the outermost ones
        self.table = Table(np.pad(heights, 1, mode="reflect", reflect_type="odd").ravel())
        self.of_centres = cache(self._of_centres)

    def __repr__(self) -> str:
        return f"HeightField({self.table}, {self.count}, {self.size})"

    def height(self, place: Array) -> Array:
        """Heights, (m,), at places in the plane, (m, 2), in m."""
        first = np.zeros(len(place), dtype=np.intp)
        count, step = (np.broadcast_to(x, place.shape) for x in (self.count, self.step))
        return _Patch.of(first, count, step, place).sum(self.table, 0, 0)

    def _of_centres(self, radius: float) -> "HeightField":
        """Where centres of spheres of a radius in m touch, the highest; InputError: too many."""
        if not radius:
            return self
        if radius > _WIDEST * self.step.min():
            problem = f"{self.step.min():g} m between heights are fine for a radius of {radius:g} m"
            raise InputError(
                f"{problem}; give every so many of them, at least {radius / _WIDEST:g} m"
            )
        finer = int(np.clip(256 // (self.count.max() - 1), 1, _FINER))
        count = finer * (self.count - 1) + 1
        sides = (np.linspace(-0.5 * x, 0.5 * x, n) for x, n in zip(self.size, count, strict=True))
        node = np.stack(np.meshgrid(*sides), axis=2).reshape(-1, 2)

        def centre(off: Array) -> Array:
            square = radius**2 - dot(off, off)
            height = self.height(node + off) + np.sqrt(np.maximum(square, 0.0))
            return np.where(square >= 0.0, height, -np.inf)

        apart = np.minimum(self.step, 0.5 * radius)
        most = np.floor(radius / apart).astype(int)
        near, best = np.zeros_like(node), centre(np.zeros_like(node))
        for off in product(*(range(-n, n + 1) for n in most)):
            _improve(near, best, np.broadcast_to(apart * off, node.shape), centre)
        for _ in range(_HALVINGS):
            apart = 0.5 * apart
            for off in product((-1, 0, 1), repeat=2):
                _improve(near, best, near + apart * off, centre)
        along, across = map(_weights_at_nodes, count)
        points = np.linalg.solve(along, np.linalg.solve(across, best.reshape(count[::-1])).T).T
        return HeightField(points, self.size)


def _weights_at_nodes(count: int) -> Array:
    """How much each height counts for the field at each point of a line, (count, count)."""
    weights = np.eye(count)
    for k in range(1, count - 1):
        weights[k, k - 1 : k + 2] = 0.125, 0.75, 0.125
    return weights


def _improve(near: Array, best: Array, other: Array, centre: Any) -> None:
    """Take other places, (m, 2), where centres are higher there."""
    found = centre(other)
    higher = found > best
    near[higher], best[higher] = other[higher], found[higher]


class _Patch(NamedTuple):
    """Where some places are in a field, and how much each of the nine points around them counts."""

    begin: Array  # index of the first of these points, (m,)
    row: Array  # from one row to the next, (m,)
    # of the three columns and rows, (m, 2) each: for the height, its slope, its second derivative
    weights: tuple[tuple[Array, ...], ...]

    @classmethod
    def of(cls, first: Indices, count: Array, step: Array, place: Array) -> "_Patch":
        """Fields with ``count`` points ``step`` apart whose numbers begin at ``first``."""
        half = 0.5 * (count - 1)
        u = place / step
        inside, inner = within(u, half)
        node = nearest_integer(inside + half)
        off, beyond = inside + half - node, u - inside
        slope = off - 0.5, -2.0 * off, off + 0.5
        within_patch = 0.5 * (off - 0.5) ** 2, 0.75 - off**2, 0.5 * (off + 0.5) ** 2
        value = tuple(w + beyond * d for w, d in zip(within_patch, slope, strict=True))
        row = count[:, 0] + 2
        begin = first + row * node[:, 1] + node[:, 0]
        return cls(begin, row, (value, slope, (inner, -2.0 * inner, inner)))

    def sum(self, table: Table, along_x: int, along_y: int) -> Array:
        """Derivatives of these orders along x and y, in spacings of the grid, (m,)."""
        x, y = self.weights[along_x], self.weights[along_y]
        return sum(
            (
                looked_up(table, self.begin + self.row * j + i) * (x[i][:, 0] * y[j][:, 1])
                for j, i in product(range(3), repeat=2)
            ),
            np.zeros(len(self.row)),
        )


@dataclass(frozen=True)
class HeightRow(RoundRow):
    """One direction of a contact with a height field, which is its label: normal, x or y."""

    field: HeightField  # of the centres of the child

    @classmethod
    def stack(cls, rows: Sequence[Any], frames: RowFrames, length: float) -> "HeightRows":
        """See :meth:`FrameRow.stack`."""
        fields = {id(row.field): row.field for row in rows}
        sizes = np.cumsum([0, *(len(field.table) for field in fields.values())])
        first = dict(zip(fields, sizes.tolist(), strict=False))
        return HeightRows(
            **vars(RoundRow.stack(rows, frames, length)),
            table=Table(np.concatenate([field.table.values for field in fields.values()])),
            first=np.array([first[id(row.field)] for row in rows]),
            count=np.array([row.field.count for row in rows]),
            step=np.array([row.field.step for row in rows]),
        )


@dataclass(frozen=True)
class HeightRows(RoundRows, of=HeightRow):
    """Gaps, or velocities of the contact point across the normal.

    The gap is the height over the field by the cosine of its slope: the distance of what touches,
    and of anything from a plane.
    """

    table: Table  # of all fields, one behind the other
    first: Indices  # where that of each row begins, (m,)
    count: Array  # of points along x and y, (m, 2)
    step: Array  # between them, (m, 2), in m

    def _nearest(self, kinematics: FrameKinematics) -> Nearest:
        axes, local = self.frames.in_parent(kinematics)
        patch = _Patch.of(self.first, self.count, self.step, local[:, :2])
        height, *parts = (
            patch.sum(self.table, *orders) / np.prod(self.step**orders, axis=1)
            for orders in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        )
        slope, (xx, xy, yy) = np.stack(parts[:2], axis=1), parts[2:]
        bends = np.stack((xx, xy, xy, yy), axis=1).reshape(-1, 2, 2)
        steepness = square_root(1.0 + dot(slope, slope))
        up = np.stack((*-slope.T, 1.0 + 0.0 * steepness), axis=1) / steepness[:, None]

        def moving(v: Array, omega: Array) -> tuple[Array, Array]:
            """How the normal turns: by the bends of the field, as the child moves over it."""
            over = apply(axes.transpose(0, 2, 1), v)[:, :2]
            return apply(axes[:, :, :2], -apply(bends, over) / steepness[:, None]), v

        return Nearest(
            arm=np.zeros(local.shape),
            distance=(local[:, 2] - height) / steepness + self.radii[:, 1],
            normal=apply(axes, up),
            bend=np.ones(len(local)),  # turns of the normal are what ``moving`` gives
            moving=moving,
        )
