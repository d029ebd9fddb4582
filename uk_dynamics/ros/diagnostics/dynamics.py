# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Diagnostics that several nodes share: rate and dynamics."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.timing.rate_monitor import RateMonitor


def report_rate(report: Report, monitor: RateMonitor) -> None:
    """Add how regularly the node does its work."""
    seen = monitor.report()
    report.add("rate", seen.rate)
    report.add("period_error_p99", seen.period_error)
    report.add("missed_ticks", seen.missed)


def report_dynamics(
    report: Report,
    mechanism: Mechanism,
    state: State,
    solution: Solution,
    dynamics: Dynamics,
    warning: float,
    inputs: Inputs | None = None,
) -> None:
    """Add rank, residual, condition, status and energy of a solution; ``warning`` in m or rad."""
    residual, energy = dynamics.residual(state, inputs), dynamics.energy(state)
    errors = residual.position * mechanism.hierarchy.rigid  # compliant rows are meant to yield
    position = largest(errors)
    report.add("rank", solution.rank)
    report.add("rows", len(mechanism.constraints))
    report.add("residual", position)
    report.add("residual_rate", largest(residual.velocity))
    report.add("condition", float(solution.condition))
    report.add("status", solution.status.value)
    report.add("energy", energy.total)
    report.add("kinetic_energy", energy.kinetic)
    acting = mechanism.hierarchy.acting(inputs.active if inputs else None)
    free = np.flatnonzero(acting & ~solution.determined)
    report.add("undetermined_forces", ", ".join(_constraints(mechanism, free)) or "none")
    if position > warning:
        worst = residual.names[int(np.argmax(np.abs(errors)))]
        report.warn(f"constraint {worst} is violated by {position:.3g}")
    for violation in mechanism.model.limit_violations(state.q):
        report.warn(f"position limit violated: {violation}")
    offending = ", ".join(_constraints(mechanism, solution.offending.tolist()))
    if solution.status is Status.INCONSISTENT:
        report.error(f"constraints contradict each other: {offending}")
    elif solution.status is Status.NEAR_SINGULAR:
        report.warn(f"close to a change of rank, these rows are left out: {offending}")
    elif solution.status is Status.UNDETERMINED_LOAD:
        report.warn(f"friction depends on a load that redundant rows share: {offending}")
    elif solution.status is Status.NOT_CONVERGED:
        report.warn(f"friction left out, no load is consistent with it (jammed): {offending}")


def largest(values: np.ndarray) -> float:
    """Largest absolute value; 0 where there is none."""
    return float(np.max(np.abs(values), initial=0.0))


def _constraints(mechanism: Mechanism, rows: Iterable[int]) -> list[str]:
    """Constraints to which some rows belong."""
    chosen = set(rows)
    slices = mechanism.constraints.slices.items()
    return [name for name, part in slices if chosen & set(range(part.start, part.stop))]
