# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The rank rule: which rows of A are independent, which hold anyway, and which contradict.

Every evaluator follows it (interpreted, C, batches in C and on a GPU); its constants
stand here alone. The generated C gets them as ``#define UK_NAME``, see :func:`constants`.

1. *Whiten.* Rows are seen as B = A L⁻ᵀ with M = L Lᵀ, or, in forms that need no inverse of M, as
   A C with C = diag(1/√M_jj). Units and masses then no longer decide what is small.
2. *Scale.* Each row is divided by its *own* scale: its norm, but at least ``LEAST_PART`` of its
   natural scale (how large it is over the configurations), since near a rank change a row may
   vanish as a whole, and what is left of it then points where drift wants. A tolerance relative to
   the largest row would be unsafe: a 1000 kg body and two 0.1 g bodies in one mechanism have row
   norms of 0.03 and 141, and at 1e-3 of the largest the heavy body falls. A row below ``ZERO_ROW``
   of its natural scale (of the largest row where none is known) is zero: rounding.
3. *Order.* Rows become independent one after the other, that with the largest residual norm first:
   what the projection onto the complement of those before it leaves of the scaled row. Ties, which
   symmetric machines are full of, go to the earlier row by a handicap of ``TIE``: left to rounding,
   the choice would jump from one evaluation to the next, and an integrator would see noise.
4. *Decide.* A row whose residual norm is at most the rank tolerance is dependent. The default,
   ``DEFAULT_RANK_TOLERANCE``, lies between what drift of a simulation leaves of a redundant row
   and the singular values that a motion through a singular configuration must resolve. Forms with
   an explicit pseudoinverse compare its own measure (singular values, pivots) of the scaled rows.
   Rows of contacts of two rigid bodies that nearly depend on each other have no such errors: they
   are taken before all others, and dependent at ``EXACTLY_DEPENDENT``.
5. *Check.* Independent rows hold to rounding. A dependent row holds where |A q̈ − b| is at most the
   consistency tolerance times |b| + |A| (|q̈| + |a|) + ``NEGLIGIBLE_ACCELERATION``, a being the free
   acceleration. One that does not hold contradicts the others (INCONSISTENT) where its residual
   norm is rounding, at most ``EXACTLY_DEPENDENT``; else the configuration is NEAR_SINGULAR.
6. *Multipliers* of a row are determined where no vanishing combination of rows contains it by more
   than ``KERNEL_ROUNDING``.
7. M is singular where its Cholesky pivots L_jj lose all but two digits: Σ M_jj/L_jj² is at least
   ``LOST_PIVOTS``. That is relative to each coordinate, so light bodies do not trip it. Rounding
   leaves a vanishing pivot eps times the condition of the coordinates before it: where that is
   above some hundred, a singular M may pass as regular.

Off the constraints a redundant row looks independent by about the loop-closure error over the
length of the machine, and to follow it would lead far away: projections raise the rank tolerance to
that error, up to ``LOOSEST``.

The compiled solution with rows in a fixed order answers only where this rule would find the same
rank by the factor ``SAFE_MARGIN``, and dependent rows hold within ``SAFE_ROUNDING``. Steps over
contacts in C take rows first of which ``SAFE_PIVOT`` is left in the velocities of a leg alone, leg
by leg; all others are pivoted behind them, and all of them together where one is dependent, but
more than ``EXACTLY_DEPENDENT``.
"""

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.exceptions import InputError

DEFAULT_RANK_TOLERANCE = 1e-4
DEFAULT_TASK_RANK_TOLERANCE = 1e-6
"""For the map A_t N S from motors to tasks, which is computed once and does not drift."""
DEFAULT_CONSISTENCY_TOLERANCE = 1e-6
LEAST_RANGE_SPACE_TOLERANCE = 1e-7
"""The range space form sees squares of singular values; those of smaller ones are rounding."""

LEAST_PART = 0.1
ZERO_ROW = 1e-9
TIE = 1e-6
EXACTLY_DEPENDENT = 1e-10
"""A row that depends on others exactly keeps eps times the condition of the independent rows, which
the rank tolerance holds below some 1e4: far under this. What is larger is geometry."""
KERNEL_ROUNDING = 1e-6
NEGLIGIBLE_ACCELERATION = 1e-3
"""m/s² or rad/s²: so small that no contradiction between such accelerations matters."""
LOST_PIVOTS = 1e13
LOOSEST = 0.2
BEYOND, FARTHEST_BEYOND = 2e-4, 2e-2
"""m or rad of the fastest coordinate, along which a motion that meets another rank is followed to a
state with the rank before: the first way, which is doubled, and the longest."""
SAFE_MARGIN = 2.0
SAFE_ROUNDING = 1e-12
SAFE_PIVOT = 0.05
DOWNDATE = 1e-8
"""C computes a squared residual norm afresh once updates have left less than this part of it."""
TINY = 1e-150
"""Keeps the reciprocal of a vanishing norm finite."""


def inverse_row_scale(norms: Array, natural_scale: Array | None) -> Array:
    """One over the scale of each row, with the handicap of ties; zero for rows that are zero, (m,).

    natural_scale: How large each row is over the configurations, (m,). None: as large as now, and
    rows below ``ZERO_ROW`` of the largest are zero. Raises InputError: The norms are not finite.
    """
    if not np.isfinite(norms).all():
        raise InputError("the rows of the constraint matrix are not finite")
    handicap = tie_handicap(len(norms))
    if natural_scale is not None:
        return handicap / np.maximum(norms, LEAST_PART * natural_scale + TINY)
    return np.where(norms > ZERO_ROW * norms.max(initial=0.0), handicap / (norms + TINY), 0.0)


def tie_handicap(count: int) -> Array:
    """Factors just below one that break ties in favour of earlier rows, (count,)."""
    factors: Array = np.exp(-TIE * np.arange(count))
    return factors
