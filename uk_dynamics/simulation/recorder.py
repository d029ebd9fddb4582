"""Collects samples of a running simulation into a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.simulation.recording.trajectory_data import Names, Statistics, Switching
from uk_dynamics.simulation.trajectory import Trajectory

_WARNINGS = {
    Status.INCONSISTENT: "constraints contradict each other: {rows} cannot hold",
    Status.UNDETERMINED_LOAD: "friction depends on a force that redundant rows share: {rows}",
    Status.NOT_CONVERGED: "friction was neglected because it did not converge (jammed): {rows}",
}


class Recorder:
    """Evaluates and stores samples, and each warning with the time of its first occurrence.

    Attributes:
        mechanism_name: Name of the mechanism.
        effort_limits: Of its motors, (motors,), in N or N·m.
        names: Of all columns.
        listener: Called with each stored sample and the name of its status.
    """

    def __init__(
        self, mechanism: Mechanism, dynamics: Dynamics, task_rows: tuple[str, ...]
    ) -> None:
        self._mechanism = mechanism
        self.mechanism_name = mechanism.name
        self.effort_limits = mechanism.actuators.effort_limits
        self._dynamics = dynamics
        self.names = Names(
            positions=mechanism.model.position_names,
            velocities=mechanism.model.velocity_names,
            motors=mechanism.actuators.names,
            constraint_rows=mechanism.row_names,
            task_rows=task_rows,
        )
        self._samples: list[dict[str, Any]] = []
        self._status: list[str] = []
        self._warnings: dict[str, float] = {}
        self._switchings: list[Switching] = []
        self.listener: Callable[[Mapping[str, Any], str], None] | None = None

    def add(self, state: State, inputs: Inputs, efforts: Array, tracking_error: Array) -> None:
        """Evaluate a state and store the sample.

        Args:
            state: Positions, velocities and time.
            inputs: Of the dynamics.
            efforts: Motor efforts, (motors,), in N or N·m.
            tracking_error: Error of each task row, (mt,), in m or rad.
        """
        solution: Solution = self._dynamics.evaluate(state, inputs)
        energy = self._dynamics.energy(state)
        residual = self._dynamics.residual(state, inputs)
        sample = {
            "t": state.t,
            "q": state.q,
            "v": state.v,
            "qdd": solution.qdd,
            "efforts": efforts,
            "residual": residual.position,
            "residual_rate": residual.velocity,
            "multipliers": solution.joint_multipliers * self._mechanism.constraints.reference_scale,
            "tracking_error": tracking_error,
            "kinetic": energy.kinetic,
            "potential": energy.potential,
            "rank": solution.rank,
            "condition": solution.condition,
        }
        self._samples.append(sample)
        self._status.append(solution.status.name)
        for violation in self._mechanism.model.limit_violations(state.q):
            limits = f"[{violation.lower:.6g}, {violation.upper:.6g}]"
            self.warn(f"{violation.joint} is outside its limits {limits}", state.t)
        if solution.status in _WARNINGS:
            rows = ", ".join(self._mechanism.row_names[row] for row in solution.offending)
            self.warn(_WARNINGS[solution.status].format(rows=rows), state.t)
        if self.listener is not None:
            self.listener(sample, solution.status.name)

    @property
    def begun(self) -> bool:
        """Whether there is a sample."""
        return bool(self._status)

    def warn(self, text: str, t: float) -> None:
        """Store a warning with the time of its first occurrence."""
        self._warnings.setdefault(text, t)

    def switched(self, changes: Mapping[str, bool], t: float, energy_lost: float) -> None:
        """Store a switching event and the kinetic energy it dissipated, in J."""
        self._switchings.append(Switching(t, dict(changes), energy_lost))

    def trajectory(self, statistics: Statistics) -> Trajectory:
        """All samples so far, at least one."""
        whole = self._samples[: len(self._status)]  # Ctrl-C may come between the two
        arrays = {name: np.array([sample[name] for sample in whole]) for name in whole[0]}
        return Trajectory(
            name=self.mechanism_name,
            names=self.names,
            effort_limits=self.effort_limits,
            status=tuple(self._status),
            warnings=tuple(
                f"{text}, first seen at t = {t:.4g} s" for text, t in self._warnings.items()
            ),
            switchings=tuple(self._switchings),
            statistics=statistics,
            **arrays,
        )
