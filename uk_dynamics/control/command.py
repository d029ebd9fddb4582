"""What a controller decided, and how far it serves the tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.servo import ServoSolution
from uk_dynamics.core.solution import Solution
from uk_dynamics.mechanism.state import Array


@dataclass(frozen=True, slots=True)
class Command:
    """What the controller decided at one state.

    Attributes:
        efforts: Motor efforts in declared order, (motors,), within the limits, in N or N·m.
        requested: The same without limits.
        limited_by: Why motors are not given what was requested: ``effort``, ``power`` or ``rate``
            by motor name, for those at a limit.
        unreachable: Names of the task rows that the motors cannot serve as asked, limits aside.
        missing: What each task does not get, by name, as norm of its residual b_t − A_t q̈ in m/s²
            (angular rows: rad/s² times the declared length); only those that miss something,
            because they are unreachable, of lower priority, or motors are at their limits.
        residual: b_t − A_t q̈ of each row with ``efforts``, (mt,).
        tracking_error: Of each task row, value − reference, (mt,), in m or rad.
        tracking_rate: Its rate, (mt,), in m/s or rad/s.
        qdd: The acceleration that ``efforts`` cause, (nv,), in m/s² or rad/s².
        servo: Ranks, reachability and what the tasks cannot get, limits aside.
        free: Solution of the structure with motors at rest.
        settled: Whether no better efforts exist within the limits; else the search was cut short,
            and these are within the limits all the same.
    """

    efforts: Array
    requested: Array
    limited_by: Mapping[str, str]
    unreachable: tuple[str, ...]
    missing: Mapping[str, float]
    residual: Array
    tracking_error: Array
    tracking_rate: Array
    qdd: Array
    servo: ServoSolution
    free: Solution
    settled: bool = True

    @property
    def actuation(self) -> str:
        """Full, under- or redundant actuation of the tasks, as the ranks at this state say."""
        return self.servo.actuation

    @property
    def saturated(self) -> tuple[str, ...]:
        """Names of the motors that are not given what was requested."""
        return tuple(self.limited_by)


def selected(names: tuple[str, ...], chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    """The names at the chosen places, (n,)."""
    if not chosen.any():  # as a rule
        return ()
    return tuple(names[index] for index in np.flatnonzero(chosen))


def missing_by_task(
    slices: Mapping[str, slice], residual: Array, missed: NDArray[np.bool_]
) -> dict[str, float]:
    """Norm of the residual of each task that misses something, in m/s².

    Args:
        slices: Rows of each task.
        residual: (mt,).
        missed: Whether the residual of each row is one, (mt,).
    """
    if not missed.any():
        return {}
    return {
        name: float(np.linalg.norm(residual[rows]))
        for name, rows in slices.items()
        if missed[rows].any()
    }
