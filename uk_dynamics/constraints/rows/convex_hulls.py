# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where two convex bodies with flat faces touch: corners on faces, edges on edges, face on face.

The axis that separates both most, or along which they are least inside, is the normal of a face or
square to an edge of each (Gottschalk, Lin and Manocha, SIGGRAPH 1996; which pairs of edges count
says Gregorius, GDC 2013). Where it is that of a face, the face of the other body that looks at it
most is laid over it: corners of either within the other, and crossings of their edges, touch at the
corners of what they have in common. Each of these pairs is a distance of its own, of a corner from
a plane or of two lines, with the derivative that its row has.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.constraints.rows.vectors import cross, dot

#: Points at which a pair may touch: the corners that two rectangles have in common.
POINTS = 8
_EDGE_FIRST = 1e-4  # of the size: edges are separated by so much more than faces, or faces count
# Of the size, or of a direction: points that are nearer are one, and edges cross where their lines
# do so near to their ends. Corners are over a face a little inside of its edges, where crossings of
# these are known: what slides over a rim passes to them, and does not seem to strike the face.
_SAME, _INSIDE = 1e-6, 1e-9
_ACROSS = 1e-3  # sine of edges that cross, and cosine of faces that look at each other
_TIE = 1e-12  # of the size, or of a cosine: what differs by less does by rounding
_SPARE = 1e3  # m: how far away those points are that there are none of
#: The same for C.
HULL_CONSTANTS = {
    "HULL_POINTS": POINTS,
    "HULL_EDGE_FIRST": _EDGE_FIRST,
    "HULL_SAME": _SAME,
    "HULL_INSIDE": _INSIDE,
    "HULL_ACROSS": _ACROSS,
    "HULL_TIE": _TIE,
    "HULL_SPARE": _SPARE,
}


class Hull:
    """A convex body, about the origin of its frame."""

    def __init__(self, points: Array) -> None:
        """The convex hull of points, (n, 3), in m; ValueError: they lie in a plane."""
        from scipy.spatial import ConvexHull, QhullError  # takes long to import

        try:
            hull = ConvexHull(points)
        except QhullError:
            raise ValueError("its corners lie in a plane") from None
        self.corners: Array = points[hull.vertices]  # (n, 3), in m
        self.normals, loops = np.zeros((0, 3)), []  # of the faces, outward, (f, 3)
        size = float(np.ptp(points, axis=0).max())
        for plane in hull.equations:
            if (self.normals @ plane[:3] > 1.0 - 1e-9).any():
                continue  # a triangle of a face that is known
            at = np.flatnonzero(self.corners @ plane[:3] + plane[3] > -_SAME * size)
            x = self.corners[at] - self.corners[at].mean(axis=0)
            turn = np.arctan2(np.cross(plane[:3], x[0]) @ x.T, x @ x[0])
            self.normals = np.vstack((self.normals, plane[:3]))
            loops.append(at[np.argsort(turn)])
        self.loops: tuple[Indices, ...] = tuple(loops)  # corners of each face, in turn
        sides: dict[tuple[int, int], list[int]] = {}
        for face, loop in enumerate(loops):
            for one, other in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True):
                sides.setdefault((min(one, other), max(one, other)), []).append(face)
        self.edges: Indices = np.array(list(sides), dtype=np.intp)  # corners of each edge, (e, 2)
        # both faces of each edge, (e, 2)
        self.edge_faces: Indices = np.array(
            [(2 * own)[:2] for own in sides.values()], dtype=np.intp
        )
        self.size = float(np.ptp(self.corners, axis=0).max())  # largest extent, in m
        # a direction along each face, (f, 3): of an axis of its frame that is as square as others
        axis = np.eye(3)[[_largest(-np.abs(normal)) for normal in self.normals]]
        along = axis - dot(axis, self.normals)[:, None] * self.normals
        self.along: Array = along / _length(along)[:, None]
        digest = hashlib.sha256(self.corners.tobytes()).hexdigest()
        self.name = f"uk_hull_{digest[:16]}"  # in C, by what it is

    def __repr__(self) -> str:
        return self.name


class Placed(NamedTuple):
    """A hull in the world."""

    corners: Array
    normals: Array
    along: Array
    of: Hull

    @classmethod
    def at(cls, place: Array, hull: Hull) -> "Placed":
        """Where its frame has a rotation, row by row, and an origin, (12,)."""
        R, p = place[:9].reshape(3, 3), place[9:]
        return cls(hull.corners @ R.T + p, hull.normals @ R.T, hull.along @ R.T, hull)

    def ends(self, edges: Any) -> tuple[Array, Array]:
        """Begin and direction of edges, (..., 3) each."""
        begin, end = (self.corners[self.of.edges[edges][..., k]] for k in (0, 1))
        return begin, end - begin


#: What a distance is of. A corner and a face: whether the face is the child's, its number, and that
#: of the corner. Two edges: the corners of the parent's, those of the child's, each the lower one
#: first, and the side of their cross product that the child is on, ±1.
Feature = tuple[int, ...]


class Touch(NamedTuple):
    """A corner and a plane, or two lines, that are near; directions in the world."""

    gap: float  # in m, negative inside
    point: Array  # in m
    x: Array  # along the face, or along the parent's edge
    normal: Array  # from the parent to the child
    of_parent: float  # 1: a corner of the parent, so that the directions turn with the child
    edge: Array  # along that of the child, x × edge along the normal; zero: a corner touches
    of: Feature

    def repeats(self, other: "Touch", size: float) -> bool:
        """Whether it is another one once more, of bodies of a size in m."""
        near = np.abs(self.point - other.point).max() <= _SAME * size
        return bool(near and np.abs(self.normal - other.normal).max() <= _SAME)


#: Numbers of a point.
TOUCH = 14


class HullPair:
    """Two hulls that may touch."""

    def __init__(self, parent: Hull, child: Hull) -> None:
        self.hulls = parent, child

    def __repr__(self) -> str:
        return f"HullPair{self.hulls}"

    def __call__(self, place: Array, held: "Features" = ()) -> Array:
        """What is known of each point, (POINTS, TOUCH), where the frames are, (24,).

        Of held features, or of those that are nearest there. Points that there are none of are far
        away, and have no directions.
        """
        if place.dtype == object:
            symbols = [x for x in place if hasattr(x, "touching")]
            if symbols:
                found: Array = symbols[0].touching(self, place)
                return found
            place = place.astype(float)
        parent, child = map(Placed.at, place.reshape(2, 12), self.hulls)
        known: list[Touch | None] = [*touches(parent, child)] if not held else []
        known += [None if of is None else _touch(parent, child, of) for of in held]
        none = np.zeros(3)
        lowest = min((one for one in known if one is not None), key=lambda one: one.gap)
        spare = lowest._replace(gap=_SPARE, x=none, normal=none, edge=none)
        every = known + [None] * (POINTS - len(known))
        return np.array([np.hstack((one or spare)[:-1]) for one in every])

    def features(self, place: Array, before: "Features" = ()) -> "Features":
        """Those that are nearest where the frames are, (24,); those of before keep their points."""
        found = [one.of for one in touches(*map(Placed.at, place.reshape(2, 12), self.hulls))]
        points = [of if of in found else None for of in before] or [None] * POINTS
        for of in found:
            if of not in points:
                points[points.index(None)] = of
        return tuple(points)


_EDGES = 5  # numbers of a feature of two edges

#: Of each point of a pair; None: it has none, and is far away.
Features = tuple[Feature | None, ...]
#: Of each pair: what its points stay with between events.
HeldFeatures = Mapping[HullPair, Features]


def touches(parent: Placed, child: Placed) -> list[Touch]:
    """Where two hulls are nearest, at most POINTS pairs."""
    size = min(parent.of.size, child.of.size)
    best, face, swapped = -np.inf, 0, False
    for exchange, (one, other) in enumerate(((parent, child), (child, parent))):
        first = np.array([loop[0] for loop in one.of.loops])
        heights = one.normals @ other.corners.T - dot(one.normals, one.corners[first])[:, None]
        depth = heights.min(axis=1)
        if depth.max() > best + exchange * _SAME * size:
            best, face, swapped = float(depth.max()), _largest(depth, size), bool(exchange)
    edge = _edge_on_edge(parent, child, size)
    if edge is not None and edge.gap > best + _EDGE_FIRST * size:
        return [edge]
    found = list(_over_face(*((child, parent) if swapped else (parent, child)), face, swapped))
    found = [one for one in found if one.gap >= best - _SAME * size]
    if not found:  # no corner of either is over the other
        one, other = (child, parent) if swapped else (parent, child)
        found = [_corner_on_face(one, face, other, _lowest(one, face, other), swapped)]
    return _chosen(found, size)


def _edge_on_edge(parent: Placed, child: Placed, size: float) -> Touch | None:
    """The pair of edges that separates most, among those whose faces allow it."""
    normals = parent.normals[parent.of.edge_faces], -child.normals[child.of.edge_faces]
    (a, b), (c, d) = (x.transpose(1, 0, 2) for x in normals)
    over, under = cross(b, a), cross(d, c)
    cba, dba, adc, bdc = over @ c.T, over @ d.T, a @ under.T, b @ under.T
    one, other = np.nonzero((cba * dba < 0.0) & (adc * bdc < 0.0) & (cba * bdc > 0.0))
    if not len(one):
        return None
    (p, along), (q, across) = parent.ends(one), child.ends(other)
    normal = cross(along, across)
    normal *= np.sign(dot(normal, a[one] + b[one]))[:, None]
    length = _length(normal)
    gap = dot(normal, q - p) / np.where(length > 0.0, length, 1.0)
    gap[length <= _ACROSS * _length(along) * _length(across)] = -np.inf
    k = _largest(gap, size)
    edges = parent.of.edges[one[k]], child.of.edges[other[k]]
    return _crossing(parent, edges[0], child, edges[1], normal[k])


def _crossing(
    parent: Placed, along: Indices, child: Placed, across: Indices, towards: Array
) -> Touch | None:
    """Edges by their corners, the child's that way from the parent's; None: they do not cross."""
    a, b = np.diff(parent.corners[along], axis=0)[0], np.diff(child.corners[across], axis=0)[0]
    n = cross(a, b)
    if np.sqrt(n @ n) <= _ACROSS * np.sqrt((a @ a) * (b @ b)):
        return None
    return _lines(parent, along, child, across, float(np.sign(n @ towards)))


def _lines(parent: Placed, along: Indices, child: Placed, across: Indices, side: float) -> Touch:
    """Lines along edges, of which the child's is on a side of their cross product, ±1."""
    (p, p_end), (q, q_end) = parent.corners[along], child.corners[across]
    a, b = p_end - p, q_end - q
    a, b = a / np.sqrt(a @ a), b / np.sqrt(b @ b)
    n = cross(a, b)
    sine = float(np.sqrt(n @ n))
    n *= side / sine
    w, c = q - p, a @ b
    t = (c * (a @ w) - b @ w) / sine**2
    turned = side if (along[0] < along[1]) == (across[0] < across[1]) else -side
    of = *np.sort(along).tolist(), *np.sort(across).tolist(), int(turned)
    return Touch(float(n @ w), q + t * b, a, n, 0.0, side * b, of)


def _touch(parent: Placed, child: Placed, of: Feature) -> Touch:
    """What a feature is."""
    if len(of) == _EDGES:
        return _lines(parent, np.array(of[:2]), child, np.array(of[2:4]), of[4])
    swapped, face, corner = of
    one, other = (child, parent) if swapped else (parent, child)
    return _corner_on_face(one, face, other, corner, bool(swapped))


def _corner_on_face(on: Placed, face: int, over: Placed, corner: int, swapped: bool) -> Touch:
    """A corner of the other body over a face, of the child where they are exchanged."""
    n, point = on.normals[face], over.corners[corner]
    gap = float(n @ (point - on.corners[on.of.loops[face][0]]))
    n = -n if swapped else n
    of = int(swapped), int(face), int(corner)
    return Touch(gap, point, on.along[face], n, float(swapped), np.zeros(3), of)


def _over_face(one: Placed, other: Placed, face: int, swapped: bool) -> Iterator[Touch]:
    """Pairs of a face and of that which looks at it most, of those at the other's lowest corner."""
    n, lowest = one.normals[face], _lowest(one, face, other)
    facing = np.where([lowest in loop for loop in other.of.loops], other.normals @ n, np.inf)
    against = _largest(-facing)
    own, others = one.of.loops[face], other.of.loops[against]
    near, far = one.corners[own], other.corners[others]
    size = min(one.of.size, other.of.size)
    for corner in others[_within(far, near, n, _INSIDE * size)].tolist():
        yield _corner_on_face(one, face, other, corner, swapped)
    if -facing[against] <= _ACROSS:
        return
    for corner in own[_within(near, far, n, _INSIDE * size, -1.0)].tolist():
        yield _corner_on_face(other, against, one, corner, not swapped)
    a, b = np.roll(near, -1, axis=0) - near, np.roll(far, -1, axis=0) - far
    off_near, off_far = -cross(a, n), cross(b, n)
    area = off_near @ b.T
    area[np.abs(area) <= _ACROSS * np.outer(_length(a), _length(b))] = np.nan
    s = (dot(off_far, far) - near @ off_far.T) / area
    t = (dot(off_near, near)[:, None] - off_near @ far.T) / area
    beyond_s = np.abs(s - 0.5) > 0.5 + _SAME * size / _length(a)[:, None]
    beyond_t = np.abs(t - 0.5) > 0.5 + _SAME * size / _length(b)
    for i, j in np.argwhere(~(np.isnan(area) | beyond_s | beyond_t)).tolist():
        edges = own.take((i, i + 1), mode="wrap"), others.take((j, j + 1), mode="wrap")
        lines = (
            (other, edges[1], one, edges[0], -n) if swapped else (one, edges[0], other, edges[1], n)
        )
        if (found := _crossing(*lines)) is not None:
            yield found


def _lowest(on: Placed, face: int, over: Placed) -> int:
    """The other body's corner that is nearest to a face's plane, or deepest behind it."""
    return _largest(-over.corners @ on.normals[face], min(on.of.size, over.of.size))


def _length(vectors: Array) -> Array:
    return np.sqrt(dot(vectors, vectors))


def _within(points: Array, loop: Array, normal: Array, margin: float, turn: float = 1.0) -> Flags:
    """Which points lie in a face, at least a margin from its edges, seen along a normal, (n,)."""
    sides = np.roll(loop, -1, axis=0) - loop
    inward = -turn * cross(sides, normal)
    inward /= _length(inward)[:, None] + 1e-300
    found: Flags = np.all(points @ inward.T - dot(inward, loop) >= margin, axis=1)
    return found


def _largest(values: Array, size: float = 1.0) -> int:
    """Where the largest is, and of several that differ by rounding the first."""
    return int(np.argmax(values >= values.max() - _TIE * size))


def _chosen(found: list[Touch], size: float) -> list[Touch]:
    """Those that are no others, and of too many the lowest and what is farthest from them."""
    kept: list[Touch] = []
    for one in found:
        if not any(one.repeats(other, size) for other in kept):
            kept.append(one)
    if len(kept) <= POINTS:
        return kept
    points = np.array([one.point for one in kept])
    chosen = [_largest(-np.array([one.gap for one in kept]), size)]
    distance = _length(points - points[chosen[0]])
    while len(chosen) < POINTS:
        chosen.append(_largest(distance, size))
        distance = np.minimum(distance, _length(points - points[chosen[-1]]))
    return [kept[k] for k in sorted(chosen)]
