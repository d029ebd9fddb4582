"""Residuals of angular rows, cᵀ log(R) with R the rotation of the child in the parent frame.

Small angles, the usual ones of a closed loop, are their own sines, which are sums of products. Of
large ones there are few, and plain floats are quicker than arrays of one or two rotations.
"""

from __future__ import annotations

import math

import numpy as np

from uk_dynamics.constraints.products import (
    Place,
    Product,
    Products,
    Vector,
    dot_product,
)
from uk_dynamics.constraints.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows import AngularRows
from uk_dynamics.constraints.vectors import Array

_TINY = 1e-300  # keeps 0/0 from happening where nothing turned: the quotient is then one
_FAR = -0.5  # cosine of 120°: beyond, the antisymmetric part of R says less and less
# θ² of angles θ that differ from their sines by θ³/6 < 2e-16.
_SMALL = 1e-10


class AngularResiduals:
    """ψ of the rows of a family, from the numbers of the model in a row.

    Attributes:
        products: What to multiply for :meth:`evaluate`.
    """

    def __init__(self, family: AngularRows) -> None:
        """Find the places of the rotations."""
        self._family = family
        frames = family.frames
        pairs = list(dict.fromkeys(zip(frames.parent.tolist(), frames.child.tolist(), strict=True)))
        self.products = Products([_sine_and_trace(*pair) for pair in pairs], 4)
        self._rows = [
            (pairs.index((parent, child)), (float(a), float(b), float(c)))
            for parent, child, (a, b, c) in zip(
                frames.parent.tolist(), frames.child.tolist(), family.direction, strict=True
            )
        ]
        # Of all products in one row: the sine in each row's direction, then the sum of the traces.
        count, signs = self.products.first.shape[1], self.products.signs
        sums = np.zeros((count * len(pairs), len(self._rows) + 1))
        for row, (pair, direction) in enumerate(self._rows):
            sums[count * pair : count * (pair + 1), row] = signs[:, :3].dot(direction)
        sums[:, -1] = np.tile(signs[:, 3], len(pairs))
        self._sines_and_trace = sums
        self._trace_of_small = 3.0 * len(pairs) - _SMALL  # 3 − θ² of each pair at small angles

    def evaluate(self, found: Array, kinematics: FrameKinematics) -> Array | list[float]:
        """In rad times the declared length, (m,).

        Args:
            found: The products.
            kinematics: The rotations behind them.
        """
        sines = found.reshape(-1).dot(self._sines_and_trace)
        if sines[-1] > self._trace_of_small:
            small: Array = sines[:-1]
            return small
        turned = []
        for x, y, z, trace in found.dot(self.products.signs).tolist():
            cosine = 0.5 * (trace - 1.0)
            if not cosine > _FAR:
                return self._family.position(kinematics)[1]
            sine = math.sqrt(x * x + y * y + z * z)
            factor = math.atan2(sine + _TINY, cosine) / (sine + _TINY)
            turned.append((factor * x, factor * y, factor * z))
        residuals = []
        for pair, (a, b, c) in self._rows:
            x, y, z = turned[pair]
            residuals.append(a * x + b * y + c * z)
        return residuals


def _sine_and_trace(parent: int, child: int) -> list[Product]:
    """Axis times sine of PᵀC, and its trace: products of columns."""
    products: list[Product] = []
    for result, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
        products += dot_product(_column(parent, i), _column(child, j), result, 0.5)
        products += dot_product(_column(parent, j), _column(child, i), result, -0.5)
    for i in range(3):
        products += dot_product(_column(parent, i), _column(child, i), 3)
    return products


def _column(frame: int, axis: int) -> Vector:
    start: Place = 12 * (frame + 1) + 3 * axis
    return (start, start + 1, start + 2)
