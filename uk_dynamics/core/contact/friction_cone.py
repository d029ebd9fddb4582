# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A contact's friction cone: its conditions as zeros of a function, and projection onto it.

The conditions are Signorini's and Coulomb's, written over arrays of floats or of symbols: what
NumPy evaluates for all contacts at once is also traced into C for one.
"""

import numpy as np

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg import above, at_least, square_root, where


def conditions(r: Reals, u: Reals, step: Reals, friction: Reals) -> tuple[Reals, Reals]:
    """What is left of the conditions (Alart and Curnier 1991), and how it depends on y = r − ρ u.

    They are r_n − [y_n]₊ and r_t − P(y_t; μ [y_n]₊), with P the projection onto a ball.

    Args:
        r: Forces, normal and d − 1 tangential ones, (d, n).
        u: Motions in these directions, (d, n).
        step: ρ of each, above zero, (d, n).
        friction: μ, (n,).

    Returns:
        Both, in forces, (d, n); and minus the derivatives by y, rows by columns, (d, d, n).
    """
    y = r - step * u
    normal = at_least(y[0], 0.0)
    radius = friction * normal
    closed = where(above(normal, 0.0), 1.0, 0.0 * radius)
    square = _square(y[1:])
    outside = above(square, radius * radius)
    length = square_root(where(outside, square, 1.0 + 0.0 * square))
    part = where(above(radius, 0.0), where(outside, radius / length, 1.0), 0.0 * radius)
    along = [where(outside, t / length, 0.0 * square) for t in y[1:]]
    left = np.stack((r[0] - normal, *(f - part * t for f, t in zip(r[1:], y[1:], strict=True))))
    slope = friction * closed
    zero = 0.0 * radius
    rows = (
        (closed, *(zero for _ in along)),
        *(
            (slope * x, *(part * (1.0 - x * x) if z is x else -(part * (x * z)) for z in along))
            for x in along
        ),
    )
    return left, np.stack([np.stack(row) for row in rows])


def steps(response: Reals, floor: Reals) -> Reals:
    """ρ of a contact: the inverse of its own response, no less than a floor, (d, n) or (d,)."""
    normal = at_least(response[0], floor)
    tangents = response[1:]
    tangential = at_least(1.0 / len(tangents) * sum(tangents[1:], tangents[0]), floor)
    return 1.0 / np.stack((normal, *(tangential for _ in tangents)))


def project_on_cones(x: Reals, friction: Reals) -> Reals:
    """The nearest forces with |x_t| ≤ μ x_n, (d, n), as those given."""
    length = square_root(_square(x[1:]))
    outside = above(length, friction * x[0])
    top = at_least((x[0] + friction * length) / (1.0 + friction * friction), 0.0)
    part = friction * top / where(above(length, 0.0), length, 1.0 + 0.0 * length)
    part = where(outside, part, 1.0 + 0.0 * part)
    return np.stack((where(outside, top, x[0]), *(part * t for t in x[1:])))


def _square(x: Reals) -> Reals:
    found: Reals = sum((t * t for t in x[1:]), x[0] * x[0])
    return found
