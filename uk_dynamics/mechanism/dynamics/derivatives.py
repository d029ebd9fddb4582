# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of any quantities, as data: named quantities, and named groups of columns."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.resolution.state import Array

#: Part of what a dependent row's derivative is made of, which may be left over.
FOLLOWS_WITHIN = 1e-7

#: Places of columns by the name of their group; a single column is a number.
Groups = Mapping[str, slice | int]


class DerivativeStatus(IntEnum):
    """Existence of derivatives at a state."""

    EXIST = 0
    RANK_CHANGES = 1  # of constraints, or of what motors serve; or redundant rows contradict
    UNDETERMINED = 2  # some motion has neither inertia nor constraint
    NOT_FINITE = 3  # the state gives numbers that are not finite
    OPEN = 4  # the loops are open, where a projection is differentiated
    TASKS_MISSED = 5  # efforts are a compromise between tasks
    LIMITS_CHANGE = 6  # a motor is about to reach a limit, or to leave one


def column_groups(**sizes: int | None) -> dict[str, slice | int]:
    """Lay out columns one behind the other; a group without a size is a single column."""
    found: dict[str, slice | int] = {}
    first = 0
    for name, size in sizes.items():
        found[name] = first if size is None else slice(first, first + size)
        first += 1 if size is None else size
    return found


def effort_columns(nv: int, rows: int, motors: int) -> dict[str, slice | int]:
    """Lay out what the efforts of a servo law are differentiated by.

    q, v and t come first, as in the derivatives of the motion; then, a column for each task row,
    what only the tasks depend on: ``values`` of the references, their ``rates`` and
    ``accelerations``; gains of the feedback, ``damping`` 2ζω and ``stiffness`` ω²; and, a column
    for each motor, what the distribution among them depends on: ``preload`` s and the diagonal
    ``weights`` of W.
    """
    names = ("values", "rates", "accelerations", "damping", "stiffness")
    of_motors = dict.fromkeys(("preload", "weights"), motors)
    return column_groups(q=nv, v=nv, t=None, **dict.fromkeys(names, rows), **of_motors)


def column_count(groups: Groups) -> int:
    """Number of columns of all groups together."""
    return max(x.stop if isinstance(x, slice) else x + 1 for x in groups.values())


class EquationDerivatives(NamedTuple):
    """Derivatives of both equations of motion, with acceleration x and multipliers λ held.

    Columns are the velocity coordinates of q, v and t, D = 2 nv + 1; or parameters.
    """

    motion: Array  # −∂(M x − F − Aᵀλ), (nv, D)
    rows: Array  # −∂(A x − b), (m, D)
    rates: Array  # ∂ψ̇, (m, D)


class Derivative:
    """Derivatives of one quantity with k entries, at a state or with a leading axis of K states.

    Groups of columns are attributes, as in ``derivative.q``: views, (…, k, columns), or (…, k) of a
    single column. Columns of q are along the velocity coordinates: per m or rad, a rotation per its
    rad; those of time hold states and references.

    Attributes:
        value: The quantity itself, (…, k); None where it is not computed.
        whole: All columns, (…, k, n).
        groups: Where those of each group are.
    """

    __slots__ = ("groups", "value", "whole")

    def __init__(self, whole: NDArray[Any], groups: Groups, value: Any = None) -> None:
        """Keep the arrays, without copies."""
        self.whole, self.groups, self.value = whole, groups, value

    def __getattr__(self, group: str) -> NDArray[Any]:
        """Columns of a group."""
        if group.startswith("__") or group not in self.groups:
            raise AttributeError(f"no columns {group!r}; there are: {', '.join(self.groups)}")
        return self.whole[..., self.groups[group]]


_NO_FLAGS, _NO_ROWS = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.intp)
_NO_MOTIONS = np.zeros((0, 0))


class Quantities:
    """Derivatives of some quantities, as attributes: ``found.acceleration.q``.

    Attributes:
        quantities: The :class:`Derivative` of each by its name.
    """

    def __init__(self, quantities: dict[str, Derivative]) -> None:
        """Keep what is given."""
        self.quantities = quantities

    def __getattr__(self, quantity: str) -> Derivative:
        """Derivatives of a quantity."""
        known = vars(self).get("quantities", {})
        if quantity not in known:
            raise AttributeError(f"no derivatives of {quantity!r}; there are: {', '.join(known)}")
        found: Derivative = known[quantity]
        return found


class Derivatives(Quantities):
    """Derivatives of some quantities, at a state or with a leading axis of K states.

    Quantities are attributes, as in ``derivatives.acceleration.q``: the :class:`Derivative` of

    - the motion: ``acceleration`` q̈ with k = nv, ``multipliers`` of least norm with k = m, and
      ``force``, the ideal constraint force Aᵀλ, with k = nv; by q, v, t and tau, or by parameters
      and tau;
    - a projection: ``position`` and ``velocity``, k = nv each; by q, v and t;
    - a servo law: ``efforts``, one for each motor; by the columns of ``effort_columns``: q, v, t,
      ``values``, ``rates`` and ``accelerations`` of the references of the task rows, their
      ``damping`` and ``stiffness``, and the ``preload`` and ``weights`` of the motors.

    Of directions that leave the constraints, redundant rows contradict each other: there the rows
    that the solution takes as independent are followed. Along :attr:`motions` every choice of rows
    gives the same.

    Attributes:
        status: A :class:`DerivativeStatus`, or one for each state, (K,).
        exist: Whether derivatives do, for one state or (K,). For parameters, whether those of each
            do, (P,) or (K, P): parameters that move redundant rows apart, as lengths may, have
            none. Their columns mean something together alone, summed for parameters that change so
            that all rows keep holding.
        limited: Which motors are at a limit, where they are held, (motors,) or (K, motors).
        motions: Changes (δq, δv) of one state along which all constraints keep holding, as columns
            of full rank, (2 nv, f); none for batches.
        offending: Rows whose derivatives contradict those of the others along these motions, as
            where the rank is about to change; none for batches.
        solution: Of the motion, at one state in Python.
    """

    def __init__(
        self,
        quantities: dict[str, Derivative],
        status: Any,
        *,
        exist: NDArray[np.bool_] | None = None,
        limited: NDArray[np.bool_] | None = None,
        motions: Array | None = None,
        offending: NDArray[np.intp] | None = None,
        solution: Solution | None = None,
    ) -> None:
        """Keep what is given."""
        super().__init__(quantities)
        self.status, self.solution = status, solution
        self.exist: Any = status == DerivativeStatus.EXIST if exist is None else exist
        self.limited = _NO_FLAGS if limited is None else limited
        self.motions = _NO_MOTIONS if motions is None else motions
        self.offending = _NO_ROWS if offending is None else offending
