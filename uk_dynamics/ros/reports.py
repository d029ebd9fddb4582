"""What several nodes report: rate, states, dynamics."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from uk_dynamics.core.solution import Solution, Status
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Inputs, State
from uk_dynamics.ros.diagnostics import Report
from uk_dynamics.ros.inputs import StateInput
from uk_dynamics.ros.rate_monitor import RateMonitor


def report_rate(report: Report, monitor: RateMonitor) -> None:
    """Add how regularly the node does its work."""
    seen = monitor.report()
    report.add("rate", seen.rate)
    report.add("period_error_p99", seen.period_error)
    report.add("missed_ticks", seen.missed)


def report_states(report: Report, states: StateInput, timeout: float) -> None:
    """Add how old the last usable state is; an error when it is too old.

    Args:
        report: To be filled.
        states: Where states come from.
        timeout: Largest age, in s.
    """
    age = states.watchdog.age
    report.add("state_age", age)
    if age > timeout:
        report.error("no usable joint_states" + (f" for {age:.3g} s" if age < 1e9 else " yet"))
    if states.reader.unknown:
        report.add("unknown_joints", ", ".join(states.reader.unknown[:8]))


def report_dynamics(
    report: Report,
    mechanism: Mechanism,
    state: State,
    solution: Solution,
    dynamics: Dynamics,
    warning: float,
    inputs: Inputs | None = None,
) -> None:
    """Add rank, residual, condition, status and energy of a solution.

    Args:
        report: To be filled.
        mechanism: What was solved.
        state: Where it was.
        solution: Of the fundamental equation there.
        dynamics: Evaluator of the mechanism.
        warning: Violation above which to warn, in m or rad.
        inputs: What acts on it.
    """
    rows = mechanism.constraints
    residual, energy = dynamics.residual(state, inputs), dynamics.energy(state)
    gaps = residual.position * mechanism.hierarchy.rigid  # others are meant to give way
    position = _largest(gaps)
    report.add("rank", solution.rank)
    report.add("rows", len(rows))
    report.add("residual", position)
    report.add("residual_rate", _largest(residual.velocity))
    report.add("condition", float(solution.condition))
    report.add("status", solution.status.value)
    report.add("energy", energy.total)
    report.add("kinetic_energy", energy.kinetic)
    acting = mechanism.hierarchy.acting(inputs.active if inputs else None)
    free = np.flatnonzero(acting & ~solution.determined)
    report.add("undetermined_forces", ", ".join(_owners(mechanism, free)) or "none")
    if position > warning:
        worst = residual.names[int(np.argmax(np.abs(gaps)))]
        report.warn(f"constraint {worst} is violated by {position:.3g}")
    for violation in mechanism.model.limit_violations(state.q):
        report.warn(f"position limit violated: {violation}")
    offending = ", ".join(_owners(mechanism, solution.offending.tolist()))
    if solution.status is Status.INCONSISTENT:
        report.error(f"constraints contradict each other: {offending}")
    elif solution.status is Status.NEAR_SINGULAR:
        report.warn(f"close to a change of rank, not kept: {offending}")
    elif solution.status is Status.UNDETERMINED_LOAD:
        report.warn(f"friction with a load that redundant rows share somehow: {offending}")
    elif solution.status is Status.NOT_CONVERGED:
        report.warn(f"friction left out, no load fits it (jammed): {offending}")


def _owners(mechanism: Mechanism, rows: Iterable[int]) -> list[str]:
    """Constraints that some rows belong to."""
    chosen = set(rows)
    slices = mechanism.constraints.slices.items()
    return [name for name, part in slices if chosen & set(range(part.start, part.stop))]


def _largest(values: np.ndarray) -> float:
    return float(np.max(np.abs(values))) if len(values) else 0.0
