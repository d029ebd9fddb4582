# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows that a user wrote as expressions, all of them evaluated by one generated function."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.expressions.compiled import CompiledExpressions, JointPlaces, Source
from uk_dynamics.constraints.expressions.differentiation import Order, RowDerivatives
from uk_dynamics.constraints.expressions.nodes import TIME, Expression, Number, variables
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.row import ConstraintTerms, RobotRow
from uk_dynamics.core.linalg import is_symbolic
from uk_dynamics.exceptions import ExpressionValueError

_LARGEST = 1e100  # an entry far from the motion may be larger than squares can be


@dataclass(frozen=True)
class ExpressionRow(RobotRow):
    """A text in joint names, their rates and t, which is zero."""

    text: str
    derivatives: RowDerivatives
    places: JointPlaces

    @property
    def order(self) -> Order:
        """What the rates that occur in the text say."""
        return self.derivatives.order

    @classmethod
    def collect(
        cls, rows: "Sequence[tuple[str, ExpressionRow]]", nq: int, nv: int
    ) -> "ExpressionRows":
        """See :meth:`RobotRow.collect`."""
        return ExpressionRows([row for _, row in rows], [name for name, _ in rows], nv)


class ExpressionRows:
    """ψ(q, q̇, q̈, t) = 0 with A, bias and rate from symbolic derivatives; see :class:`RowFamily`."""

    def __init__(self, rows: Sequence[ExpressionRow], owners: Sequence[str], nv: int) -> None:
        derived = [row.derivatives for row in rows]
        sources = [Source(owner, row.text) for owner, row in zip(owners, rows, strict=True)]
        places = rows[0].places
        self._matrix = _Matrix(derived, rows, nv)
        # The text itself comes first, its derivatives last: errors name the first without a value.
        values = [
            *(d.residual for d in derived),
            *(d.rate for d in derived),
            *(d.bias for d in derived),
        ]
        self._count = len(rows)
        self._all = CompiledExpressions(
            [*values, *self._matrix.varying],
            [*sources * 3, *(sources[r] for r in self._matrix.row_of_varying)],
            places,
        )
        # At rest there are residuals of order position, and A where no rate occurs in it.
        resting = [i for i, d in enumerate(derived) if not _has_rates(d)]
        at_rest = [derived[i] for i in resting]
        self._resting = np.array(resting, dtype=np.intp)
        self._resting_matrix = _Matrix(at_rest, [rows[i] for i in resting], nv)
        self._at_rest = CompiledExpressions(
            [*(d.residual for d in at_rest), *self._resting_matrix.varying],
            [
                *(sources[i] for i in resting),
                *(sources[resting[r]] for r in self._resting_matrix.row_of_varying),
            ],
            places,
        )
        # whether t occurs
        self.time_dependent = any(
            TIME in variables([*d.gradient.values(), d.bias, d.rate, d.residual]) for d in derived
        )
        # whether no velocity-level row is nonlinear in the rates
        self.linear_in_rates = not any(d.order == "velocity" and _has_rates(d) for d in derived)

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """A and residual at rest; A is zero where it depends on rates. See :class:`RowFamily`."""
        nv = self._matrix.constant.shape[1]
        A, residual = np.zeros((self._count, nv)), np.zeros(self._count)
        count = len(self._resting)
        if count:
            found = self._at_rest(t, q, np.zeros(nv))
            residual[self._resting] = found[:count]
            A[self._resting] = self._resting_matrix.filled(found[count:])
        return A, residual

    def evaluate(
        self, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> ConstraintTerms:
        """The rows at a state; see :class:`RowFamily`."""
        found = self._all(t, q, v)
        residual, rate, bias = np.array(found[: 3 * self._count]).reshape(3, self._count)
        A = self._matrix.filled(found[3 * self._count :], symbolic=is_symbolic(q))
        return ConstraintTerms(A, bias, residual, rate)

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Magnitudes of A at t = 0 for unit rates; zero where an expression has no value there."""
        nv = self._matrix.constant.shape[1]
        try:
            found = self._all(0.0, q, np.ones(nv))
            return np.minimum(np.abs(self._matrix.filled(found[3 * self._count :])), _LARGEST)
        except ExpressionValueError:
            return np.zeros((self._count, nv))


def _has_rates(derivatives: RowDerivatives) -> bool:
    """Whether a row of A depends on rates."""
    return any(x.order == 1 for x in variables(derivatives.gradient.values()))


class _Matrix:
    """A: constant entries filled in once, the others at every evaluation."""

    def __init__(
        self, derived: Sequence[RowDerivatives], rows: Sequence[ExpressionRow], nv: int
    ) -> None:
        self.constant: Array = np.zeros((len(rows), nv))  # a with zeros where entries vary, (m, nv)
        self.varying: list[Expression] = []  # the entries that vary
        self.row_of_varying: list[int] = []  # row of each of them
        columns: list[int] = []
        for index, (row, derivatives) in enumerate(zip(rows, derived, strict=True)):
            for joint, entry in derivatives.gradient.items():
                column = row.places.velocities[joint]
                if isinstance(entry, Number):
                    self.constant[index, column] = entry.value
                else:
                    self.varying.append(entry)
                    self.row_of_varying.append(index)
                    columns.append(column)
        self._flat: Indices = np.array(self.row_of_varying, dtype=np.intp) * nv + np.array(
            columns, dtype=np.intp
        )

    def filled(self, entries: tuple[float, ...], *, symbolic: bool = False) -> Array:
        """A with the entries that vary, fresh; they may be symbols."""
        A: Array = self.constant.astype(object) if symbolic else self.constant.copy()
        if len(self._flat):
            A.reshape(-1)[self._flat] = entries
        return A
