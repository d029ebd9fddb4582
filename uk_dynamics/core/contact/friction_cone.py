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

    They are r_n − [y_n]₊ and r_t − P(y_t; μ [y_n]₊), with P the projection onto a disc.

    Args:
        r: Forces, normal and two tangential ones, (3, n).
        u: Motions in these directions, (3, n).
        step: ρ of each, above zero, (3, n).
        friction: μ, (n,).

    Returns:
        Both, in forces, (3, n); and minus the derivatives by y, rows by columns, (3, 3, n).
    """
    y = r - step * u
    normal = at_least(y[0], 0.0)
    radius = friction * normal
    closed = where(above(normal, 0.0), 1.0, 0.0 * radius)
    square = y[1] * y[1] + y[2] * y[2]
    outside = above(square, radius * radius)
    length = square_root(where(outside, square, 1.0 + 0.0 * square))
    part = where(above(radius, 0.0), where(outside, radius / length, 1.0), 0.0 * radius)
    x, z = (where(outside, y[i] / length, 0.0 * square) for i in (1, 2))
    left = np.stack((r[0] - normal, r[1] - part * y[1], r[2] - part * y[2]))
    slope = friction * closed
    zero = 0.0 * radius
    rows = (
        (closed, zero, zero),
        (slope * x, part * (1.0 - x * x), -part * x * z),
        (slope * z, -part * x * z, part * (1.0 - z * z)),
    )
    return left, np.stack([np.stack(row) for row in rows])


def steps(response: Reals, floor: Reals) -> Reals:
    """ρ of a contact: the inverse of its own response, no less than a floor, (3, n) or (3,)."""
    normal = at_least(response[0], floor)
    tangential = at_least(0.5 * (response[1] + response[2]), floor)
    return 1.0 / np.stack((normal, tangential, tangential))


def project_on_cones(x: Reals, friction: Reals) -> Reals:
    """The nearest forces with |x_t| ≤ μ x_n, (3, n), as those given."""
    length = square_root(x[1] * x[1] + x[2] * x[2])
    outside = above(length, friction * x[0])
    top = at_least((x[0] + friction * length) / (1.0 + friction * friction), 0.0)
    part = friction * top / where(above(length, 0.0), length, 1.0 + 0.0 * length)
    part = where(outside, part, 1.0 + 0.0 * part)
    return np.stack((where(outside, top, x[0]), part * x[1], part * x[2]))
