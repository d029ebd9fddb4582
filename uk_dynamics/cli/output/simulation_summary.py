# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Summary of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from uk_dynamics.cli.output.printing import table

if TYPE_CHECKING:  # the command line starts without NumPy
    from uk_dynamics.arrays import Array
    from uk_dynamics.simulation import Trajectory

_MOST_SWITCHINGS = 12  # in a table; JSON has all


def summarize(trajectory: Trajectory, *, conservative: bool) -> dict[str, Any]:
    """The largest errors of a trajectory, its energy and cost, for JSON, in SI units."""
    violation, row = _largest(trajectory.residual, trajectory.names.constraint_rows)
    change = trajectory.energy - trajectory.energy[0]
    error, task_row = _largest(trajectory.tracking_error, trajectory.names.task_rows)
    cost, simulated = asdict(trajectory.statistics), float(trajectory.t[-1] - trajectory.t[0])
    return {
        "mechanism": trajectory.name,
        "simulated_time": simulated,
        "real_time_factor": simulated / max(cost["wall_time"], 1e-9),
        "rejected_steps": cost.pop("rejected"),
        **cost,
        "largest_violation": violation,
        "largest_violation_row": row,
        "energy_change": float(change[abs(change).argmax()]),
        "energy_range": float(trajectory.kinetic.max() - trajectory.kinetic.min()),
        "energy_should_be_constant": conservative,
        "largest_tracking_error": error,
        "largest_tracking_error_row": task_row,
        "final_tracking_error": _final(trajectory.tracking_error),
        "lowest_rank": int(trajectory.rank.min()),
        "highest_rank": int(trajectory.rank.max()),
        "statuses": {
            status: trajectory.status.count(status) for status in sorted(set(trajectory.status))
        },
        "switchings": [
            {
                "t": s.t,
                "changes": dict(s.changes),
                "energy_lost": s.energy_lost,
                "text": s.text(trajectory.contacts),
            }
            for s in trajectory.switchings
        ],
        "warnings": list(trajectory.warnings),
    }


def summary_table(summary: dict[str, Any]) -> str:
    """A summary as text."""
    varied = f"kinetic energy varies by {summary['energy_range']:.3g} J"
    drift = "energy drift" if summary["energy_should_be_constant"] else "energy change"
    low, high = summary["lowest_rank"], summary["highest_rank"]
    rejected = f"; {summary['rejected_steps']} rejected" if summary["rejected_steps"] else ""
    rows = [
        ("simulated", f"{summary['simulated_time']:g} s in {summary['wall_time']:.2f} s"),
        ("real-time factor", f"{summary['real_time_factor']:.1f}"),
        ("steps", f"{summary['steps']}{rejected}"),
        ("evaluations", f"{summary['evaluations']}"),
        ("rank", f"{low}" if low == high else f"{low} to {high}"),
        ("largest residual", _worst(summary, "largest_violation")),
        (drift, f"{summary['energy_change']:.2e} J; {varied}"),
    ]
    if summary["contact_iterations"]:
        told = f"impulses miss their conditions by {summary['contact_error']:.1e} of the motion"
        told += f"; {summary['contact_iterations']} iterations"
        if summary["contact_fallbacks"]:
            told += f", {summary['contact_fallbacks']} steps beyond Newton's method"
        rows.append(("contacts", told))
    if summary["largest_tracking_error_row"]:
        final = f"; at the end {summary['final_tracking_error']:.1e}"
        rows.append(("largest tracking error", _worst(summary, "largest_tracking_error") + final))
    if set(summary["statuses"]) != {"OK"}:
        counts = (f"{name}: {count}" for name, count in summary["statuses"].items())
        rows.append(("status of samples", ", ".join(counts)))
    for switching in summary["switchings"][:_MOST_SWITCHINGS]:
        lost = _dissipated([switching])
        rows.append((f"at {switching['t']:g} s", f"{switching['text']}{lost}"))
    if len(summary["switchings"]) > _MOST_SWITCHINGS:
        more = summary["switchings"][_MOST_SWITCHINGS:]
        rows.append(("later", f"{len(more)} more such events{_dissipated(more)}"))
    rows += [("warning", warning) for warning in summary["warnings"]]
    return f"{summary['mechanism']}\n{table(rows)}"


def _dissipated(switchings: Sequence[dict[str, Any]]) -> str:
    lost = [x for one in switchings if (x := one["energy_lost"]) == x]  # NaN: not known
    return f"; {sum(lost):.3g} J dissipated" if lost else ""


def _largest(values: Array, names: tuple[str, ...]) -> tuple[float, str]:
    if not values.size:
        return 0.0, ""
    # missing values of a recording are NaN
    worst = abs(values).max(axis=0, where=values == values, initial=0.0)
    column = int(worst.argmax())
    return float(worst[column]), names[column]


def _final(values: Array) -> float:
    """Largest number of the last complete sample."""
    complete = values[(values == values).all(axis=1)]
    return float(abs(complete[-1:]).max(initial=0.0))


def _worst(summary: dict[str, Any], key: str) -> str:
    row = summary[f"{key}_row"]
    return f"{summary[key]:.1e} m or rad ({row})" if row else "none: no constraints"
