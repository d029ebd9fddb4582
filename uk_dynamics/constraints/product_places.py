"""Where the numbers stand whose products make the rows of frame pairs.

A linear row holds aᵀ(y − o) with a direction a and the origin o of the parent frame and the origin
y of the child's; an alignment row holds aᵀy with a direction y of the child. With twists (V, ω) of
the bodies at the world's origin, and their rates (G, α) at zero joint acceleration, a point y that
a body carries has the acceleration (G + ω × V) + ([α] + [ω][ω]) y there, and it moves by
V + [ω] y. What a joint acceleration of zero leaves of ψ̈, the parent's turning axes included, is

    Σ κ aᵢ dᵢ + Σ aᵢ yⱼ Dᵢⱼ,
    d = G_c − G_p + ω_c × V_c − ω_p × V_p − 2 ω_p × (V_c − V_p),
    D = [α_c] − [α_p] + [ω_c][ω_c] − [ω_p][ω_p] − 2 [ω_p]([ω_c] − [ω_p]),

κ = 1 for points and 0 for directions. So rows need the products aᵢ yⱼ, which also make their
wrenches (κ a, y × a) and residuals, and the d and D of a pair need products of its twists. An
angular row has the wrench (0, a) and leaves aᵀ(α_c − α_p − ω_p × ω_c): the same d with ω_c in the
place of either V.

Stabilisation asks for 2ζω ψ̇ + ω²ψ more. Of the same products, ψ̇ has the d of V_c − V_p and the D of
[ω_c] − [ω_p], and ψ = Σ aᵢ yᵢ − Σ aᵢ oᵢ has constant ones. Only the ψ of angular rows is none of
their sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uk_dynamics.constraints.products import (
    Place,
    Product,
    Vector,
    cross_products,
    dot_product,
    scaled,
)
from uk_dynamics.constraints.relative_motion import Index
from uk_dynamics.constraints.rows import AlignmentRows, AngularRows, LinearRows
from uk_dynamics.constraints.vectors import Array

PRODUCT_FAMILIES = (LinearRows, AngularRows, AlignmentRows)
ProductFamily = LinearRows | AngularRows | AlignmentRows

#: 2ζω and ω² of a row, in 1/s and 1/s².
Gains = tuple[float, float]

# The first placement is the world: a matrix of ones and zeros, and an origin of zeros.
_ONE: Place = 0
_ZERO: Place = 1
_NOTHING: Vector = (_ZERO, _ZERO, _ZERO)

#: Sums of a row: its wrench, then its residual.
ROW_SUMS = 7
#: Sums of a motion: d, then D row by row, then what meets the aᵢ oᵢ.
MOTION_SUMS = 15
#: The sum of a motion that each product of a row meets: κ a, the aᵢ yⱼ row by row, μ a, the aᵢ oᵢ.
MEETING = (*range(12), *range(3), *range(12, 15))


class ProductPlaces:
    """The products of all rows, family by family.

    Attributes:
        rows: Products of each row, from placements.
        motions: Products of each motion that rows follow, from twists and their rates.
        motion_of_row: Which motion that is.
        constants: Numbers that have to stand behind those of the model.
    """

    #: So many products at the end of a motion are there for stabilisation alone.
    STABILIZING = 24

    def __init__(
        self,
        carriers: Index,
        gains: Sequence[Gains],
        velocities: Place,
        rates: Place,
        end: Place,
    ) -> None:
        """Say where in the row of numbers there is what.

        Args:
            carriers: The body that carries each frame, (frames,).
            gains: Of each row that will be added, in that order.
            velocities: Where the twists begin; before them stand the placements.
            rates: Where their rates begin.
            end: Where the constants begin. Behind them stand directions that are no axes of their
                frames.
        """
        self._carriers = carriers.tolist()
        self._gains = gains
        self._velocities, self._rates = velocities, rates
        different = list(dict.fromkeys(gains))
        self._place_of_gains = {pair: end + 2 * k for k, pair in enumerate(different)}
        self.constants = [number for pair in different for number in pair]
        self._extra = end + len(self.constants)
        self._motions: dict[tuple[int, int, type, Gains], int] = {}
        self._frames: list[int] = []
        self._directions: list[Array] = []
        self.rows: list[list[Product]] = []
        self.motions: list[list[Product]] = []
        self.motion_of_row: list[int] = []

    def add(self, family: ProductFamily) -> None:
        """Take the rows of a family."""
        frames = family.frames
        for row, (parent, child) in enumerate(
            zip(frames.parent.tolist(), frames.child.tolist(), strict=True)
        ):
            if isinstance(family, AlignmentRows):
                a = self._direction(parent, family.parent_direction[row])
                y = self._direction(child, family.child_direction[row])
                self.rows.append(_row(a, y, _ZERO, _ZERO, _NOTHING))
            else:
                a = self._direction(parent, family.direction[row])
                if isinstance(family, LinearRows):
                    self.rows.append(_row(a, _origin(child), _ONE, _ZERO, _origin(parent)))
                else:
                    self.rows.append(_row(a, _NOTHING, _ZERO, _ONE, _NOTHING))
            gains = self._gains[len(self.motion_of_row)]
            self.motion_of_row.append(self._motion(parent, child, type(family), gains))

    def turned_directions(self) -> tuple[Index, Array]:
        """Frames of the directions that are no axes of theirs, (k,), and those, (k, 3)."""
        frames = np.array(self._frames, dtype=np.intp)
        return frames, np.array(self._directions, dtype=float).reshape(-1, 3)

    def _direction(self, frame: int, direction: Array) -> Vector:
        """A column of the frame's rotation, or a place behind everything."""
        for axis, unit in enumerate(np.eye(3)):
            if np.array_equal(direction, unit):
                return _vector(12 * (frame + 1) + 3 * axis)
        self._frames.append(frame)
        self._directions.append(direction)
        return _vector(self._extra + 3 * (len(self._frames) - 1))

    def _motion(self, parent: int, child: int, kind: type, gains: Gains) -> int:
        first, second = self._carriers[child], self._carriers[parent]
        key = (first, second, AngularRows if kind is AngularRows else LinearRows, gains)
        if key not in self._motions:
            self._motions[key] = len(self._motions)
            twists = [self._velocities + 6 * body for body in (first, second)]
            rates = [self._rates + 6 * body for body in (first, second)]
            place = self._place_of_gains[gains]
            self.motions.append(_motion(*twists, *rates, gains=place, angular=kind is AngularRows))
        return self._motions[key]


def _vector(start: Place) -> Vector:
    return (start, start + 1, start + 2)


def _origin(frame: int) -> Vector:
    return _vector(12 * (frame + 1) + 9)


def _row(a: Vector, y: Vector, kappa: Place, mu: Place, origin: Vector) -> list[Product]:
    """κ a, the aᵢ yⱼ, μ a and the aᵢ oᵢ, with what they count in wrench and residual."""
    # y × a has a product of two directions twice, and those of one direction not at all.
    moment = {(x, y): (r, s) for x, y, r, s in cross_products((0, 1, 2), (0, 1, 2), 3)}
    products = scaled(a, kappa, 0)
    for i in range(3):
        for j in range(3):
            result, sign = moment.get((j, i), (6, 1.0))  # i = j: the residual
            products.append((a[i], y[j], result, sign))
    return products + scaled(a, mu, 3) + dot_product(a, origin, 6, -1.0)


def _motion(
    child: Place,
    parent: Place,
    child_rate: Place,
    parent_rate: Place,
    *,
    gains: Place,
    angular: bool,
) -> list[Product]:
    """Both of a pair of bodies, d and D; the D of angular rows meets zeros alone."""
    damping, stiffness = gains, gains + 1
    of_child, of_parent = _vector(child + 3), _vector(parent + 3)
    linear = [of_child, of_child] if angular else [_vector(child), _vector(parent)]
    start = 3 if angular else 0
    return [
        *scaled(_vector(child_rate + start), _ONE, 0),
        *scaled(_vector(parent_rate + start), _ONE, 0, -1.0),
        *cross_products(of_child, linear[0], 0),
        *cross_products(of_parent, linear[1], 0),
        *cross_products(of_parent, linear[0], 0, -2.0),
        *_skew(_vector(child_rate + 3), _ONE, 1.0),
        *_skew(_vector(parent_rate + 3), _ONE, -1.0),
        *_twice_across(of_child, of_child, 1.0),
        *_twice_across(of_parent, of_parent, 1.0),
        *_twice_across(of_parent, of_child, -2.0),
        # The stabilising ones:
        *scaled(_vector(child + start), damping, 0),
        *scaled(_vector(parent + start), damping, 0, -1.0),
        *_skew(of_child, damping, 1.0),
        *_skew(of_parent, damping, -1.0),
        *((stiffness, _ONE, 3 + 4 * i, 1.0) for i in range(3)),
        *((stiffness, _ONE, 12 + i, -1.0) for i in range(3)),
    ]


def _skew(x: Vector, multiple: Place, factor: float) -> list[Product]:
    """[x] times a number, row by row."""
    return [
        (x[k], multiple, 3 + 3 * i + j, factor * sign)
        for i, j, k, sign in (
            (0, 1, 2, -1.0),
            (0, 2, 1, 1.0),
            (1, 0, 2, 1.0),
            (1, 2, 0, -1.0),
            (2, 0, 1, -1.0),
            (2, 1, 0, 1.0),
        )
    ]


def _twice_across(x: Vector, y: Vector, factor: float) -> list[Product]:
    """[x][y] = y xᵀ − xᵀy, row by row."""
    found = []
    for i in range(3):
        for j in range(3):
            if i != j:
                found.append((y[i], x[j], 3 + 3 * i + j, factor))
                found.append((y[j], x[j], 3 + 4 * i, -factor))
    return found
