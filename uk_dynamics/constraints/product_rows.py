"""Rows of frame pairs as sums of products of numbers that the model keeps: the quick evaluation.

A linear row holds aᵀ(p_c − p_p) with a direction a of the parent and the origins of the frames; an
alignment row holds aᵀy with a direction y of the child. With κ = 1 for a point y = p_c and κ = 0
for a direction, and ẏ_c and ẏ_p its rates when the child's or the parent's body carries it,

    wrench w = (κ a, y × a),    ẏ = κ V_lin + ω × y,
    bias = wᵀ ΔG + aᵀ (ω_c × ẏ_c − ω_p × (2 ẏ_c − ẏ_p)):

what a joint acceleration of zero leaves, the centripetal acceleration as the child has it, and that
of the parent's axes, Coriolis' included. An angular row has w = (0, a) and the bias of a "point"
whose rate is ω_c for both bodies. Symbols, large trees and other rows are evaluated family by
family in :mod:`rows`, from which this differs in rounding only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from uk_dynamics.constraints.angular_residuals import AngularResiduals
from uk_dynamics.constraints.products import (
    Place,
    Product,
    Products,
    Vector,
    cross_products,
    dot_product,
    scaled,
)
from uk_dynamics.constraints.relative_motion import FrameKinematics, FramePairs, Index
from uk_dynamics.constraints.row_family import Rows
from uk_dynamics.constraints.rows import AlignmentRows, AngularRows, LinearRows
from uk_dynamics.constraints.vectors import Array, apply, dot

_FAMILIES = (LinearRows, AngularRows, AlignmentRows)
_Family = LinearRows | AngularRows | AlignmentRows

# The first placement is the world: a matrix of ones and zeros, and an origin of zeros.
_ONE: Place = 0
_ZERO: Place = 1
_NOTHING: Vector = (_ZERO, _ZERO, _ZERO)

# Of the sums of a row: direction, wrench, residual.
_WRENCH = slice(3, 9)
_DIRECTION_AND_WRENCH = slice(0, 9)
_RESIDUAL = 9


class FlatKinematics(FrameKinematics, Protocol):
    """What these rows need to know: the numbers of a robot at one state, in a row."""

    @property
    def placements(self) -> Array:
        """Of the world, then of each frame: the rotation column by column, then the origin."""

    @property
    def velocities(self) -> Array:
        """Spatial velocities of the world and the bodies, at the world's origin, linear first."""

    @property
    def carriers(self) -> Index:
        """The body that carries each frame, (frames,)."""


class ProductRows:
    """All linear, angular and alignment rows of a set, in the order of their families."""

    def __init__(
        self,
        families: Sequence[object],
        pairs: FramePairs,
        kinematics: FlatKinematics,
        order: Index | None = None,
    ) -> None:
        """Find the places.

        Args:
            families: The rows, at least one, as :meth:`express` allows.
            pairs: Frame pairs of all rows.
            kinematics: Of the robot that has them, at any state.
            order: Which row of the families, one after the other, comes first, second …, (m,);
                None: as they are.
        """
        places = _Places(kinematics)
        found = [family for family in families if isinstance(family, _FAMILIES)]
        for family in found:
            places.add(family)
        count = len(places.rows)
        chosen = np.arange(count) if order is None else order
        self._directions = places.appended_directions()
        self._rows = Products([places.rows[row] for row in chosen], 10)
        self._rates = Products(places.rates, 6)
        self._spins = Products(places.spins, 9)
        self._motion_of_row = np.array(places.motion_of_row, dtype=np.intp)[chosen]
        pair_of_motion = np.array(places.pair_of_motion, dtype=np.intp)
        self._motion_sign = pairs.sign[pair_of_motion]
        self._sign = self._motion_sign[self._motion_of_row]
        self._angular: list[tuple[AngularResiduals, Index]] = []
        start = 0
        for family in found:
            end = start + len(family.frames.pair)
            if isinstance(family, AngularRows):
                self._angular.append((AngularResiduals(family), np.argsort(chosen)[start:end]))
            start = end

    @staticmethod
    def express(families: Sequence[object]) -> bool:
        """Whether these rows can be evaluated so."""
        return bool(families) and all(isinstance(family, _FAMILIES) for family in families)

    def second_order(self, kinematics: FlatKinematics, v: Array) -> tuple[Array, Array]:
        """A, (m, nv), and bias, (m,).

        Args:
            kinematics: Arrays of the model at the state.
            v: Velocity, (nv,).
        """
        placements = self._placements(kinematics)
        return self._second_order(self._rows(placements, placements), placements, kinematics, v)

    def evaluate(self, kinematics: FlatKinematics, v: Array) -> Rows:
        """All of the rows; see :meth:`second_order`."""
        placements = self._placements(kinematics)
        sums = self._rows(placements, placements)
        A, bias = self._second_order(sums, placements, kinematics, v)
        residual: Array = sums[:, _RESIDUAL]
        for angular, chosen in self._angular:
            residual[chosen] = angular(kinematics, placements)
        return Rows(A, bias, residual, A.dot(v))

    def _second_order(
        self, sums: Array, placements: Array, kinematics: FlatKinematics, v: Array
    ) -> tuple[Array, Array]:
        A: Array = sums[:, _WRENCH].dot(kinematics.jacobian)
        A *= self._sign
        velocities = kinematics.velocities
        motion = self._spins(velocities, self._rates(velocities, placements))
        spatial = motion[:, 3:]
        spatial += (self._motion_sign * v).dot(kinematics.jacobian_rate.T)
        return A, dot(sums[:, _DIRECTION_AND_WRENCH], motion.take(self._motion_of_row, 0))

    def _placements(self, kinematics: FlatKinematics) -> Array:
        """Placements of all frames, then directions that are no axes of theirs."""
        if self._directions is None:
            return kinematics.placements
        frames, directions = self._directions
        turned = apply(kinematics.rotation.take(frames, 0), directions)
        return np.concatenate((kinematics.placements, turned.reshape(-1)))


class _Places:
    """Where the numbers stand whose products make the rows.

    Attributes:
        rows: Products of each row.
        rates: Products of each motion: what a pair of bodies does to one point or direction.
        spins: More products of each motion.
        motion_of_row: Which motion each row follows.
        pair_of_motion: Frame pair of each motion.
    """

    def __init__(self, kinematics: FlatKinematics) -> None:
        self._carriers = kinematics.carriers.tolist()
        self._motions: dict[tuple[int, Vector | None], int] = {}
        self._frames: list[int] = []
        self._directions: list[Array] = []
        self.rows: list[list[Product]] = []
        self.rates: list[list[Product]] = []
        self.spins: list[list[Product]] = []
        self.motion_of_row: list[int] = []
        self.pair_of_motion: list[int] = []

    def add(self, family: _Family) -> None:
        """Take the rows of a family."""
        frames = family.frames
        for row, pair in enumerate(frames.pair.tolist()):
            parent, child = int(frames.parent[row]), int(frames.child[row])
            kappa, origin = _ZERO, _NOTHING
            point: Vector | None = None
            if isinstance(family, AlignmentRows):
                a = self._direction(parent, family.parent_direction[row])
                point = self._direction(child, family.child_direction[row])
            else:
                a = self._direction(parent, family.direction[row])
            if isinstance(family, LinearRows):
                kappa, origin, point = _ONE, _origin(parent), _origin(child)
            self.rows.append(_row(a, point, kappa, origin))
            if (pair, point) not in self._motions:
                self._motions[pair, point] = count = len(self._motions)
                bodies = 6 * self._carriers[parent], 6 * self._carriers[child]
                self.rates.append(_rates(*bodies, point, kappa))
                self.spins.append(_spins(*bodies, 6 * count))
                self.pair_of_motion.append(pair)
            self.motion_of_row.append(self._motions[pair, point])

    def appended_directions(self) -> tuple[Index, Array] | None:
        """Frames of the directions that are no axes of theirs, and those directions, (k, 3)."""
        if not self._frames:
            return None
        return np.array(self._frames[::-1], dtype=np.intp), np.array(self._directions[::-1])

    def _direction(self, frame: int, direction: Array) -> Vector:
        """A column of the frame's rotation, or a place behind all placements.

        The latter counts from the end: another time there may be further frames.
        """
        for axis, unit in enumerate(np.eye(3)):
            if np.array_equal(direction, unit):
                return _vector(12 * (frame + 1) + 3 * axis)
        self._frames.append(frame)
        self._directions.append(direction)
        return _vector(-3 * len(self._frames))


def _vector(start: Place) -> Vector:
    return (start, start + 1, start + 2)


def _origin(frame: int) -> Vector:
    return _vector(12 * (frame + 1) + 9)


def _row(a: Vector, point: Vector | None, kappa: Place, origin: Vector) -> list[Product]:
    """Direction, wrench and residual; both factors are placements."""
    if point is None:
        moment = [*scaled(a, _ONE, 6), *scaled(_NOTHING, _ZERO, 6, -1.0)]
    else:
        moment = cross_products(point, a, 6)
    return [
        *scaled(a, _ONE, 0),
        *scaled(a, kappa, 3),
        *moment,
        *dot_product(a, point or _NOTHING, _RESIDUAL),
        *dot_product(a, origin, _RESIDUAL, -1.0),
    ]


def _rates(parent: Place, child: Place, point: Vector | None, kappa: Place) -> list[Product]:
    """ẏ_c and ẏ_p; factors are velocities and placements."""
    found = []
    for body, result in ((child, 0), (parent, 3)):
        if point is None:  # ω_c for both
            linear, factor, arm = _vector(child + 3), _ONE, _NOTHING
        else:
            linear, factor, arm = _vector(body), kappa, point
        found += scaled(linear, factor, result)
        found += cross_products(_vector(body + 3), arm, result)
    return found


def _spins(parent: Place, child: Place, start: Place) -> list[Product]:
    """ω_c × ẏ_c − ω_p × (2 ẏ_c − ẏ_p); factors are velocities and the rates from ``start``."""
    of_child, of_parent = _vector(start), _vector(start + 3)
    spin = _vector(parent + 3)
    return [
        *cross_products(_vector(child + 3), of_child, 0),
        *cross_products(spin, of_child, 0, -2.0),
        *cross_products(spin, of_parent, 0),
    ]
