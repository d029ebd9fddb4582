"""Collects samples of a running simulation into a trajectory."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics.core.solution import Solution
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array, Inputs, State
from uk_dynamics.simulation.trajectory import Names, Statistics, Trajectory


class Recorder:
    """Evaluates and keeps one row per sample."""

    def __init__(
        self, mechanism: Mechanism, dynamics: Dynamics, task_rows: tuple[str, ...]
    ) -> None:
        """Start empty.

        Args:
            mechanism: What moves.
            dynamics: Its evaluator.
            task_rows: Names of the task rows.
        """
        self._mechanism = mechanism
        self._dynamics = dynamics
        self._names = Names(
            positions=mechanism.model.position_names,
            velocities=mechanism.model.velocity_names,
            motors=mechanism.actuators.names,
            constraint_rows=mechanism.row_names,
            task_rows=task_rows,
        )
        self._columns: dict[str, list[Any]] = {
            name: []
            for name in (
                "t",
                "q",
                "v",
                "qdd",
                "efforts",
                "residual",
                "multipliers",
                "tracking_error",
                "kinetic",
                "potential",
                "rank",
                "condition",
            )
        }
        self._status: list[str] = []

    def add(self, state: State, inputs: Inputs, efforts: Array, tracking_error: Array) -> None:
        """Evaluate a state and keep it."""
        solution: Solution = self._dynamics.evaluate(state, inputs)
        energy = self._dynamics.energy(state)
        values = {
            "t": state.t,
            "q": state.q,
            "v": state.v,
            "qdd": solution.qdd,
            "efforts": efforts,
            "residual": self._dynamics.residual(state).position,
            "multipliers": solution.multipliers,
            "tracking_error": tracking_error,
            "kinetic": energy.kinetic,
            "potential": energy.potential,
            "rank": solution.rank,
            "condition": solution.condition,
        }
        for name, value in values.items():
            self._columns[name].append(value)
        self._status.append(solution.status.name)

    def trajectory(self, statistics: Statistics) -> Trajectory:
        """Everything kept so far."""
        count = len(self._status)
        arrays = {
            name: np.array(values, dtype=int if name == "rank" else float).reshape(
                count, *np.shape(values[0])
            )
            for name, values in self._columns.items()
        }
        return Trajectory(
            name=self._mechanism.name,
            names=self._names,
            status=tuple(self._status),
            statistics=statistics,
            **arrays,
        )
