# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which Pfaffian constraints can be integrated: the theorem of Frobenius, in numbers.

Lemma 1 of the review says it for one form in three coordinates. In general m forms ω_k (the rows of
A) leave the motions z ∈ ker A, and a constraint is holonomic when no manoeuvre of such motions, one
after the other and back again, leads out of it. Manoeuvres are Lie brackets, and Lemma 1 is their
first step, since dω_k(z_i, z_j) = −ω_k([z_i, z_j]) for z_i, z_j in the kernel of all rows. Brackets
of brackets lead further (a car parks sideways by the second step only), until no new direction
appears: what is then still annihilated by ω_k stays so for ever, and ω_k is the derivative of
something.

Time is a coordinate like any other where forms depend on it: A v + a_t = 0 is [A, a_t] (v, 1) = 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.linalg.rank_rule import DEFAULT_RANK_TOLERANCE
from uk_dynamics.core.linalg.row_basis import RowBasis

Point = TypeVar("Point")
# Vector field, or several: point and step of the differences inside → (n,) or (n, k).
Field = Callable[[Point, float], Array]

# Central differences, extrapolated to fourth order: errors of step⁴ times fifth derivatives and of
# 1e-16/step. Steps are halved until two answers agree: the curvature of a machine is not known.
_FIRST_STEP = 0.04
_HALVINGS = 8
_AGREED = 1e-9
_NESTED_AGREED = 1e-7  # nested differences are noisier, and need not be better than this
# A bracket of unit fields has the size of a curvature, say 1e-3 at least; noise is below 1e-7.
SIGNIFICANT = 1e-6
_SURELY = 10.0  # times the last disagreement: what a nested bracket must be to count
# Brackets nested deeper are noise: each nesting divides rounding by the step once more. Four reach
# what a tractor with three trailers can do.
_DEEPEST = 4


@dataclass(frozen=True)
class PfaffianSystem(Generic[Point]):
    """Forms on a manifold with a frame of n velocity directions E_a."""

    forms: Callable[[Point], Array]  # point → rows, (m, n)
    move: Callable[[Point, Array], Point]  # point and tangent vector (n,) → point reached along it
    # Lie bracket of two constant combinations of the E_a, (n,) each; zero where they belong to
    # coordinates
    bracket: Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Integrability:
    """What the rows are at one point."""

    rank: int  # independent rows
    # largest |ω_k([z_i, z_j])| of each row over unit z in the kernel, |ω_k| being one, (m,): Lemma
    # 1 asks that it vanish
    curvature: Array
    # whether each row can be integrated in company of the others, (m,)
    holonomic: Flags
    # how many independent combinations of rows can be: as many coordinates are bound for good, the
    # other rows bind velocities only
    integrable_combinations: int
    # whether brackets were nested until no new direction appeared; if not, those that are nested
    # deeper could make rows nonholonomic that are called holonomic here
    complete: bool


def integrability(
    system: PfaffianSystem[Point],  # the forms
    point: Point,  # where; on the constraints, if dependent rows depend only there
    # part of its own norm below which a row is dependent
    rank_tolerance: float = DEFAULT_RANK_TOLERANCE,
) -> Integrability:
    """Test the forms at a point in whose neighbourhood their rank does not change."""
    forms = system.forms(point)
    unit = forms / np.maximum(np.linalg.norm(forms, axis=1, keepdims=True), 1e-300)
    basis = RowBasis(np.asfortranarray(unit.T), None, rank_tolerance)
    kernel = _kernel(system, np.sort(basis.independent), basis.complement())
    flag = _Flag(basis.complement())
    motions = [_column(kernel, index) for index in range(flag.directions.shape[1])]
    pairs = list(combinations(range(len(motions)), 2))
    first, error = _settled(_first_brackets(system, kernel, pairs), point, _AGREED)
    curvature = np.abs(unit @ first).max(axis=1, initial=0.0)
    level = [
        _bracket(system, motions[i], motions[j])
        for (i, j), value in zip(pairs, first.T, strict=True)
        if flag.add(value, error)
    ]
    for _ in range(_DEEPEST - 1):
        if not level or flag.is_full():
            break
        brackets = [_bracket(system, motion, field) for motion in motions for field in level]
        level = [
            bracket
            for bracket in brackets
            if not flag.is_full() and flag.add(*_settled(bracket, point, _NESTED_AGREED))
        ]
    return Integrability(
        rank=basis.rank,
        curvature=curvature,
        holonomic=np.abs(unit @ flag.directions).max(axis=1, initial=0.0) <= SIGNIFICANT,
        integrable_combinations=unit.shape[1] - flag.directions.shape[1],
        complete=flag.is_full() or not (level or flag.doubtful),
    )


class _Flag:
    """Directions that manoeuvres reach: an orthonormal basis that grows, (n, reached)."""

    def __init__(self, directions: Array) -> None:
        self.directions = directions
        self.doubtful = False  # something may have been new, but drowned in its error

    def is_full(self) -> bool:
        n, reached = self.directions.shape
        return bool(n == reached)

    def add(self, value: Array, error: float) -> bool:
        """Add a bracket's value; whether it leads in a new direction by more than its error."""
        rest = value - self.directions @ (self.directions.T @ value)
        rest = rest - self.directions @ (self.directions.T @ rest)
        size = float(np.linalg.norm(rest))
        if size <= SIGNIFICANT or self.is_full():
            return False
        if size <= _SURELY * error:
            self.doubtful = True
            return False
        self.directions = np.column_stack((self.directions, rest / size))
        return True


def _kernel(system: PfaffianSystem[Point], independent: Indices, start: Array) -> Field[Point]:
    """What the forms leave of constant vectors, (n, k): smooth where their rank is constant."""

    def field(point: Point, step: float) -> Array:
        basis, _ = np.linalg.qr(system.forms(point)[independent].T)
        return start - basis @ (basis.T @ start)

    return field


def _column(matrix: Field[Point], index: int) -> Field[Point]:
    def field(point: Point, step: float) -> Array:
        return matrix(point, step)[:, index]

    return field


def _first_brackets(
    system: PfaffianSystem[Point], kernel: Field[Point], pairs: Sequence[tuple[int, int]]
) -> Field[Point]:
    """[z_i, z_j] of all pairs at once, (n, pairs): the derivatives along each z serve them all."""

    def field(point: Point, step: float) -> Array:
        z = kernel(point, step)
        along = [_derivative(system, kernel, point, motion, step) for motion in z.T]
        brackets = np.zeros((len(z), len(pairs)))
        for column, (i, j) in enumerate(pairs):
            brackets[:, column] = along[i][:, j] - along[j][:, i] + system.bracket(z[:, i], z[:, j])
        return brackets

    return field


def _bracket(
    system: PfaffianSystem[Point], first: Field[Point], second: Field[Point]
) -> Field[Point]:
    """[X, Y] = X(Y) − Y(X) + bracket of the frame, with derivatives along the fields."""

    def field(point: Point, step: float) -> Array:
        x, y = first(point, step), second(point, step)
        along_x = _derivative(system, second, point, x, step)
        return along_x - _derivative(system, first, point, y, step) + system.bracket(x, y)

    return field


def _derivative(
    system: PfaffianSystem[Point], field: Field[Point], point: Point, direction: Array, step: float
) -> Array:
    """Central difference of a field's components along a direction."""
    ahead, behind = system.move(point, step * direction), system.move(point, -step * direction)
    return (field(ahead, step) - field(behind, step)) / (2.0 * step)


def _settled(field: Field[Point], point: Point, agreed: float) -> tuple[Array, float]:
    """The field at a point, of steps halved until that changes nothing, and the last change."""
    step = _FIRST_STEP
    coarse = field(point, step)
    best, smallest = coarse, np.inf
    previous = None
    for _ in range(_HALVINGS):
        step *= 0.5
        fine = field(point, step)
        extrapolated = (4.0 * fine - coarse) / 3.0  # all errors are even in the step
        if previous is not None:
            change = float(np.linalg.norm(extrapolated - previous))
            if change < smallest:
                best, smallest = extrapolated, change
            if change <= agreed * (1.0 + float(np.linalg.norm(extrapolated))):
                break
        previous, coarse = extrapolated, fine
    return best, float(smallest)
