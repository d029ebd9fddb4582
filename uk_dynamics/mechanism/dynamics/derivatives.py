# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the constrained motion, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.mechanism.resolution.state import Array

#: Part of what a dependent row's derivative is made of, which may be left over.
FOLLOWS_WITHIN = 1e-7


class Slopes(NamedTuple):
    """Derivatives of a quantity with k entries.

    Attributes:
        q: Along the velocity coordinates, (k, nv): per m or rad, a rotation per its rad.
        v: (k, nv), per m/s or rad/s.
        tau: With respect to generalized forces, (k, nv), per N or N·m.
        t: With time, states and references held, (k,), per s.
    """

    q: Array
    v: Array
    tau: Array
    t: Array


@dataclass(frozen=True, eq=False)
class Derivatives:
    """How the constrained motion changes around a state.

    Of directions that leave the constraints, redundant rows contradict each other: there the rows
    that the solution takes as independent are followed. Along :attr:`motions` every choice of rows
    gives the same.

    Attributes:
        solution: At the state.
        acceleration: Of q̈, k = nv.
        multipliers: Of the multipliers of least norm, k = m.
        force: Of the ideal constraint force Aᵀλ, k = nv.
        motions: Changes (δq, δv) of the state along which all constraints keep holding, as columns
            of full rank, (2 nv, f).
        offending: Rows whose derivatives contradict those of the others along these motions, as
            where the rank is about to change; empty where the derivatives exist.
    """

    solution: Solution
    acceleration: Slopes
    multipliers: Slopes
    force: Slopes
    motions: Array
    offending: NDArray[np.intp]

    @property
    def exist(self) -> bool:
        """Whether the motion is differentiable along the constraints."""
        return self.solution.status is Status.OK and not len(self.offending)


class DerivativeStatus(IntEnum):
    """Whether the motion has derivatives at a state."""

    EXIST = 0
    RANK_CHANGES = 1  # along the constraints the rows are about to become more, or contradict
    UNDETERMINED = 2  # some motion has neither inertia nor constraint
    NOT_FINITE = 3  # the state gives numbers that are not finite
    OPEN = 4  # the loops are open, where a projection is differentiated


class BatchDerivatives(NamedTuple):
    """Derivatives of the motion at K states.

    Attributes:
        qdd: Accelerations, (K, nv).
        acceleration: Their derivatives, each with a leading axis of K; views of one array. Where
            the rank changes they follow the rows that the solution takes as independent; where
            there is no solution they are NaN.
        status: A :class:`DerivativeStatus` for each state, (K,).
        multipliers: Likewise, of the multipliers of least norm; None where not asked for.
        force: Likewise, of the ideal constraint force Aᵀλ.
    """

    qdd: Array
    acceleration: Slopes
    status: NDArray[np.int8]
    multipliers: Slopes | None = None
    force: Slopes | None = None
