"""Rows of frame pairs as sums of products of numbers that the model keeps: the quick evaluation.

All numbers are copied into one row, all factors are gathered from there at once, and sums of their
products are matrix products. Where they stand says :mod:`product_places`. Symbols, large trees and
other rows are evaluated family by family in :mod:`rows`, from which this differs in rounding only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from uk_dynamics.constraints.angular_residuals import AngularResiduals
from uk_dynamics.constraints.product_places import (
    MEETING,
    MOTION_SUMS,
    PRODUCT_FAMILIES,
    ROW_SUMS,
    ProductPlaces,
)
from uk_dynamics.constraints.products import Factors, Products
from uk_dynamics.constraints.relative_motion import FrameKinematics, FramePairs, Index
from uk_dynamics.constraints.row_family import ConstraintTerms
from uk_dynamics.constraints.rows import AngularRows
from uk_dynamics.constraints.vectors import Array, apply, dot

_RESIDUAL = 6  # of the sums of a row, behind its wrench


class FlatKinematics(FrameKinematics, Protocol):
    """What these rows need to know: the numbers of a robot at one state, in a row.

    Every array stays where it is and is rewritten in place.
    """

    @property
    def placements(self) -> Array:
        """Of the world, then of each frame: the rotation column by column, then the origin."""

    @property
    def velocities(self) -> Array:
        """Spatial velocities of the world and the bodies, at the world's origin, linear first."""

    @property
    def accelerations(self) -> Array:
        """Their derivatives at zero joint acceleration."""

    @property
    def carriers(self) -> Index:
        """The body that carries each frame, (frames,)."""


class _Frames(NamedTuple):
    """The arrays of a robot alone, so that nothing here keeps the robot's memory alive for it."""

    jacobian: Array
    jacobian_rate: Array
    rotation: Array
    translation: Array


class ProductRows:
    """All linear, angular and alignment rows of a set on one robot's memory.

    It has memory of its own, too: not to be shared between threads.
    """

    def __init__(
        self,
        families: Sequence[object],
        pairs: FramePairs,
        kinematics: FlatKinematics,
        gains: Array,
        order: Index | None = None,
    ) -> None:
        """Find the places.

        Args:
            families: The rows, at least one, as :meth:`express` allows.
            pairs: Frame pairs of all rows.
            kinematics: Of the robot that has them; evaluations read its arrays.
            gains: 2ζω and ω² of each row, family by family, (m, 2), in 1/s and 1/s².
            order: Which row of the families, one after the other, comes first, second …, (m,);
                None: as they are.
        """
        self._frames = _Frames(
            kinematics.jacobian,
            kinematics.jacobian_rate,
            kinematics.rotation,
            kinematics.translation,
        )
        sources = kinematics.placements, kinematics.velocities, kinematics.accelerations
        self._sources = sources
        ends = np.cumsum([len(source) for source in sources])
        found = [family for family in families if isinstance(family, PRODUCT_FAMILIES)]
        pairs_of_gains = [(damping, stiffness) for damping, stiffness in gains.tolist()]
        places = ProductPlaces(kinematics.carriers, pairs_of_gains, *ends.tolist())
        for family in found:
            places.add(family)
        chosen = np.arange(len(places.rows)) if order is None else order
        pair_of_row = np.concatenate([family.frames.pair for family in found])
        self._sign = pairs.sign[pair_of_row[chosen]]
        self._motion_of_row = np.array(places.motion_of_row, dtype=np.intp)[chosen]

        frames, self._directions = places.turned_directions()
        self._turning = frames if len(frames) else None
        ends = np.append(ends, ends[-1] + len(places.constants))
        numbers = np.zeros(ends[-1] + 3 * len(frames))
        self._placements, self._velocities, self._accelerations, constants, turned = np.split(
            numbers, ends
        )
        constants[:] = places.constants
        self._turned = turned.reshape(-1, 3)

        angular: list[tuple[AngularResiduals, Index | slice, Array]] = []
        start = 0
        for family in found:
            end = start + len(family.frames.pair)
            if isinstance(family, AngularRows):
                rows_of_family = _run(np.argsort(chosen)[start:end])
                angular.append((AngularResiduals(family), rows_of_family, gains[start:end, 1]))
            start = end
        rows = Products([places.rows[row] for row in chosen], ROW_SUMS)
        motions = Products(places.motions, MOTION_SUMS)
        self._factors = Factors(numbers, [rows, motions, *(part[0].products for part in angular)])
        self._of_rows, self._of_motions, *of_angles = self._factors.products
        self._angular = [(*part, own) for part, own in zip(angular, of_angles, strict=True)]
        self._turns_back = [part for part in self._angular if part[2].any()]
        self._wrench = rows.signs[:, :_RESIDUAL].copy()
        self._residual = rows.signs[:, _RESIDUAL].copy()
        self._stabilized = -motions.signs[:, MEETING]
        self._unstabilized = self._stabilized[: -places.STABILIZING]
        self._of_motions_alone = self._of_motions[:, : -places.STABILIZING]

    @staticmethod
    def express(families: Sequence[object]) -> bool:
        """Whether these rows can be evaluated so."""
        return bool(families) and all(isinstance(family, PRODUCT_FAMILIES) for family in families)

    def equation(self, *, stabilize: bool = False) -> tuple[Array, Array]:
        """A, (m, nv), and b, (m,), of A q̈ = b at the robot's state.

        Args:
            stabilize: Whether b contains −2ζω ψ̇ − ω²ψ.
        """
        placements, velocities, accelerations = self._sources
        self._placements[...] = placements
        self._velocities[...] = velocities
        self._accelerations[...] = accelerations
        frames = self._frames
        if self._turning is not None:
            self._turned[...] = apply(frames.rotation.take(self._turning, 0), self._directions)
        self._factors.update()
        of_rows = self._of_rows
        A: Array = of_rows.dot(self._wrench).dot(frames.jacobian)
        A *= self._sign
        if not stabilize:
            motion = self._of_motions_alone.dot(self._unstabilized)
            return A, dot(of_rows, motion.take(self._motion_of_row, 0))
        motion = self._of_motions.dot(self._stabilized)
        b = dot(of_rows, motion.take(self._motion_of_row, 0))
        for angular, rows, stiffness, products in self._turns_back:
            b[rows] -= stiffness * angular.evaluate(products, frames)
        return A, b

    def residual(self) -> Array:
        """ψ, (m,), at the state of the last :meth:`equation`."""
        residual: Array = self._of_rows.dot(self._residual)
        for angular, rows, _, products in self._angular:
            residual[rows] = angular.evaluate(products, self._frames)
        return residual

    def evaluate(self, v: Array) -> ConstraintTerms:
        """All of the rows at the robot's state, whose velocity v, (nv,), is."""
        A, b = self.equation()
        return ConstraintTerms(A, -b, self.residual(), A.dot(v))


def _run(rows: Index) -> Index | slice:
    """The same rows as a slice where they follow one another: that is quicker."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if (np.diff(rows) == 1).all() else rows
