# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What derivatives of the servo law's efforts are: at a state, at many, and where they vanish."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.mechanism.resolution import Array


class EffortStatus(Enum):
    """Whether efforts have derivatives at a state."""

    EXIST = "exist"
    RANK_CHANGES = "rank changes"  # of the structure, or of what motors can serve
    TASKS_MISSED = "tasks missed"  # efforts are a compromise between tasks
    LIMITS_CHANGE = "limits change"  # a motor is about to reach a limit, or to leave one
    # in batches, without efforts
    UNDETERMINED = "undetermined"  # some motion has neither inertia nor constraint
    NOT_FINITE = "not finite"  # the state gives numbers that are not finite


class EffortDerivatives(NamedTuple):
    """Derivatives of motor efforts; columns of q are those of the velocities.

    Attributes:
        efforts: u, (motors,), in N or N·m.
        q: (motors, nv), per m or rad.
        v: (motors, nv), per m/s or rad/s.
        t: While references are held, (motors,), per s.
        values: By the references of the task rows, (motors, mt).
        rates: By their rates, (motors, mt).
        accelerations: By their second derivatives, (motors, mt).
        limited: Whether each motor is at a limit, which is held, (motors,).
        motions: Changes (δq, δv) that keep all loops closed, as columns, (2 nv, f). Where rows of
            the structure are redundant, derivatives mean something along these alone.
        status: Whether they exist; they are NaN where they do not.
    """

    efforts: Array
    q: Array
    v: Array
    t: Array
    values: Array
    rates: Array
    accelerations: Array
    limited: NDArray[np.bool_]
    motions: Array
    status: EffortStatus


class BatchEffortDerivatives(NamedTuple):
    """The same at K states; those by state and references are views of one array.

    Attributes:
        efforts: (K, motors); NaN where there are none.
        q: (K, motors, nv).
        v: (K, motors, nv).
        t: (K, motors).
        values: (K, motors, mt).
        rates: (K, motors, mt).
        accelerations: (K, motors, mt).
        limited: (K, motors).
        status: An :class:`EffortStatus` for each state, (K,).
    """

    efforts: Array
    q: Array
    v: Array
    t: Array
    values: Array
    rates: Array
    accelerations: Array
    limited: NDArray[np.bool_]
    status: NDArray[np.object_]


class EffortPatterns(NamedTuple):
    """Which derivatives of the efforts may differ from zero, at any state.

    Attributes:
        q: (motors, nv).
        v: (motors, nv).
        t: (motors,).
        values: (motors, mt).
        rates: (motors, mt).
        accelerations: (motors, mt).
    """

    q: NDArray[np.bool_]
    v: NDArray[np.bool_]
    t: NDArray[np.bool_]
    values: NDArray[np.bool_]
    rates: NDArray[np.bool_]
    accelerations: NDArray[np.bool_]
