# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Feedback gains of the tasks; they can be changed while tasks are tracked."""

from collections.abc import Mapping
from typing import NamedTuple

from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.core.equation import row_gains, stabilizing_terms
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.dynamics import TrackingErrors
from uk_dynamics.mechanism.resolution import Array


class Gains(NamedTuple):
    """Gains of one task."""

    frequency: float  # natural frequency of the error dynamics, in Hz; 0: no feedback
    damping_ratio: float  # 1 is critical; velocity tasks do not use it


class TaskGains:
    """Gains of all task rows, initially those of the tasks file."""

    def __init__(self, constraints: ConstraintSet, memory: Mapping[str, Array]) -> None:
        """Keep the gains in arrays on which C works too: fields of the layout."""
        self._damping, self._stiffness = memory["task_damping"], memory["task_stiffness"]
        self.damping[:], self.stiffness[:] = constraints.damping, constraints.stiffness
        self._constraints = constraints
        self._gains = {
            c.name: Gains(float(c.frequency), float(c.damping_ratio))
            for c in constraints.constraints
        }

    @property
    def damping(self) -> Array:
        """2ζω of each row (of order velocity ω, of order acceleration 0), (mt,), in 1/s."""
        return self._damping

    @damping.setter
    def damping(self, values: Array) -> None:
        self._damping[:] = values

    @property
    def stiffness(self) -> Array:
        """ω² of each row of order position, else 0, (mt,), in 1/s²."""
        return self._stiffness

    @stiffness.setter
    def stiffness(self, values: Array) -> None:
        self._stiffness[:] = values

    def __getitem__(self, task: str) -> Gains:
        """Gains of a task."""
        return self._gains[task]

    def feedback(self, errors: TrackingErrors) -> Array:
        """−2ζω·rate − ω²·residual of each row, (mt,)."""
        terms: Array = stabilizing_terms(self.damping, self.stiffness, errors.rate, errors.residual)
        return terms

    def set(self, task: str, frequency: float, damping_ratio: float) -> None:
        """Change the gains of a task; InputError: no such task or gain, nothing is changed."""
        expect_names("task", [task], self._constraints.names)
        for name, value in (("frequency", frequency), ("damping_ratio", damping_ratio)):
            if not 0.0 <= value < float("inf"):
                raise InputError(f"expected a number from 0 up, found {value}", place=name)
        rows = self._constraints.slices[task]
        position = self._constraints.position_rows[rows]
        self.damping[rows], self.stiffness[rows] = row_gains(
            frequency, damping_ratio, position, self._constraints.motion_rows[rows]
        )
        self._gains[task] = Gains(frequency, damping_ratio)
