# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Results as tables, for a terminal and as a page of the documentation, and as a picture."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.whole_file import whole_file
from uk_dynamics_studies.benchmarks.contact import OURS as STEPPED
from uk_dynamics_studies.benchmarks.contact import InContact
from uk_dynamics_studies.benchmarks.controlled import OURS, Controlled
from uk_dynamics_studies.benchmarks.device import OnDevice
from uk_dynamics_studies.benchmarks.growth import Growth
from uk_dynamics_studies.benchmarks.laws import OURS as LAW
from uk_dynamics_studies.benchmarks.laws import Law
from uk_dynamics_studies.benchmarks.simulations import ROLLOUT, Simulated
from uk_dynamics_studies.benchmarks.slopes import OURS as SLOPES
from uk_dynamics_studies.benchmarks.slopes import Differentiated
from uk_dynamics_studies.benchmarks.speed import Measured
from uk_dynamics_studies.benchmarks.standing import OURS as PERIOD
from uk_dynamics_studies.benchmarks.standing import Standing

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_PACKAGES = ("numpy", "scipy", "pin", "mujoco", "drake", "exudyn", "newton")

Table = tuple[str, list[str], list[list[str]]]


@dataclass
class Report:
    """All that was measured in one run."""

    controlled: list[Controlled] = field(default_factory=list)  # closed loops
    laws: list[Law] = field(default_factory=list)  # one control period
    single: list[Measured] = field(default_factory=list)  # one evaluation at a time
    batch: list[Measured] = field(default_factory=list)  # many states at once, times of one
    slopes: list[Differentiated] = field(default_factory=list)  # derivatives of a state
    device: list[OnDevice] = field(default_factory=list)  # a GPU
    contact: list[InContact] = field(default_factory=list)  # machines that stand and fall
    standing: list[Standing] = field(default_factory=list)  # whole-body control
    # whole simulations, and a title for them
    simulated: list[tuple[str, list[Simulated]]] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)  # with the number of loops


def tables(report: Report) -> list[Table]:
    """Title, header and rows of each table that has rows."""
    found: list[Table] = []
    if report.controlled:
        header = ["mechanism", "engine", "simulated per processor time"]
        header += [f"relative to {OURS}", "loop-closure error"]
        found.append(
            ("Simulations under control at 1 kHz", header, _controlled_rows(report.controlled))
        )
    if report.laws:
        header = ["mechanism", "engine", "time", f"relative to {LAW}"]
        header += ["efforts differ, moving", "at rest"]
        found.append(("The servo law alone", header, _law_rows(report.laws)))
    for title, rows, ours in (
        ("One evaluation from Python", report.single, "uk_dynamics compiled"),
        ("A batch on one thread, time of one state", report.batch, "uk_dynamics evaluate_batch"),
    ):
        if rows:
            header = ["mechanism", "engine", "time", f"relative to {ours}", "error of q̈"]
            found.append((title, header, _speed_rows(rows, ours)))
    if report.slopes:
        header = ["mechanism", "engine", "time of one state", f"relative to {SLOPES}"]
        header += ["error of ∂q̈/∂τ", ""]
        found.append(("Derivatives of q̈ by q, v, τ", header, _timed(report.slopes, SLOPES)))
    if report.device:
        header = ["mechanism", "device", "evaluations a second", "states stay there"]
        header += ["with forces", "within rollouts", "all cores of the processor", "error of q̈"]
        found.append(("On a GPU", header, _device_rows(report.device)))
    if report.contact:
        header = ["mechanism", "engine", "time of a step", f"relative to {STEPPED}"]
        header += ["penetration in m", "slip in m/s", "loop-closure error", "energy gained in J"]
        found.append(("Contact, steps of 1 ms", header, _contact_rows(report.contact)))
    if report.standing:
        header = ["motion", "engine", "median of the states", f"relative to {PERIOD}", "slowest"]
        header += ["solved", "q̈ differs by", "efforts of limits", "friction used", "tracking in m"]
        found.append(("Whole-body control of the biped", header, _standing_rows(report.standing)))
    for title, runs in report.simulated:
        ratio = "relative to the rollout in C"
        header = ["engine", "time", ratio, "energy error", "loop-closure error", "with"]
        found.append((title, header, _simulated_rows(runs)))
    if report.growth:
        found.append(("Growth with the cells of loop_ladder", *_growth_table(report.growth)))
    return found


def _speed_rows(rows: Sequence[Measured], ours: str) -> list[list[str]]:
    return [[*shown, error or note] for *shown, error, note in _timed(rows, ours)]


def _timed(rows: Sequence[Measured | Differentiated], ours: str) -> list[list[str]]:
    """Mechanism, engine, time, ratio to ours, error and note of each."""
    own = {row.mechanism: row.seconds for row in rows if row.engine == ours}
    shown = []
    for row in rows:
        measure = own.get(row.mechanism)
        ratio = f"{row.seconds / measure:.2f}" if row.seconds and measure else ""
        error = "" if row.error is None else f"{row.error:.1e}"
        note = row.note
        shown.append([row.mechanism, row.engine, duration(row.seconds), ratio, error, note])
    return shown


def _controlled_rows(rows: Sequence[Controlled]) -> list[list[str]]:
    return [
        [
            row.mechanism,
            row.engine,
            "–" if row.speed is None else f"{row.speed:.3g}",
            "" if row.ratio is None else f"{row.ratio:.2f}",
            row.note if row.violation is None else f"{row.violation:.1e}",
        ]
        for row in rows
    ]


def _device_rows(rows: Sequence[OnDevice]) -> list[list[str]]:
    def rate(seconds: float | None) -> str:
        return "–" if seconds is None else f"{1.0 / seconds:.3g}"

    return [
        [
            row.mechanism,
            row.device,
            *map(rate, (row.seconds, row.there_seconds, row.forces_seconds, row.step_seconds)),
            f"{rate(row.lanes_seconds)} ({row.cores})",
            f"{row.error:.1e}",
        ]
        for row in rows
    ]


def _contact_rows(rows: Sequence[InContact]) -> list[list[str]]:
    shown = []
    for row in rows:
        start = [row.mechanism, row.title, duration(row.seconds)]
        if not row.seconds:
            shown.append([*start, "", row.note, "", "", ""])
            continue
        kept = (row.penetration, row.slip, row.violation, row.gained)
        shown.append([*start, f"{row.seconds / row.ours:.2f}", *(f"{x:.1e}" for x in kept)])
    return shown


def _standing_rows(rows: Sequence[Standing]) -> list[list[str]]:
    own = {row.motion: median(row.seconds) for row in rows if row.engine == PERIOD}
    shown = []
    for row in rows:
        if not row.seconds:
            shown.append([row.motion, row.engine, "–", "", "", row.note, "", "", "", ""])
            continue
        middle = median(row.seconds)
        shown.append(
            [
                row.motion,
                row.engine,
                duration(middle),
                f"{middle / own[row.motion]:.2f}",
                duration(max(row.seconds)),
                "{} of {}".format(*row.solved),
                "" if row.acceleration is None else f"{row.acceleration:.1e}",
                f"{row.efforts:.2f}",
                f"{row.share:.2f}",
                "" if row.tracked is None else f"{row.tracked:.1e}",
            ]
        )
    return shown


def _law_rows(rows: Sequence[Law]) -> list[list[str]]:
    def digits(number: float | None, form: str) -> str:
        return "" if number is None else format(number, form)

    return [
        [
            row.mechanism,
            row.engine,
            duration(row.seconds),
            digits(row.ratio, ".2f"),
            row.note or digits(row.moving, ".1e"),
            digits(row.resting, ".1e"),
        ]
        for row in rows
    ]


def _simulated_rows(runs: Sequence[Simulated]) -> list[list[str]]:
    own = next((run.wall for run in runs if run.engine == ROLLOUT and run.reached), None)
    shown = []
    for run in runs:
        ratio = f"{run.wall / own:.2f}" if own else ""
        error = f"{run.error:.1e}{'' if run.reached else ' (not reached)'}"
        shown.append(
            [run.engine, duration(run.wall), ratio, error, f"{run.violation:.1e}", run.setting]
        )
    return shown


def _growth_table(rows: Sequence[Growth]) -> tuple[list[str], list[list[str]]]:
    cells = sorted({count for row in rows for count in (*row.seconds, *row.notes)})
    header = ["engine", *(str(count) for count in cells), "slope 20–500", "largest error"]
    shown = []
    for row in rows:
        slope = "" if row.slope is None else f"{row.slope:.2f}"
        error = f"{max(row.errors.values()):.1e}" if row.errors else ""
        times = [duration(row.seconds.get(count)) for count in cells]
        shown.append([row.engine, *times, slope, error])
    return header, shown


def duration(seconds: float | None) -> str:
    """A time with three digits and a unit; a dash for none."""
    if seconds is None:
        return "–"
    rounded = float(f"{seconds:.3g}")  # 999.6 ns are 1 µs
    scale, unit = next((s, u) for s, u in _UNITS if rounded >= s or u == "ns")
    return f"{seconds / scale:.3g} {unit}"


def as_text(report: Report) -> str:
    """Tables for a terminal."""
    parts = []
    for title, header, rows in tables(report):
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines = [title]
        for row in (header, *rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append(("  " + "  ".join(cells)).rstrip())
        parts.append("\n".join(lines))
    return "\n\n".join([machine(), *parts])


def as_page(report: Report, introduction: str, picture: str | None) -> str:
    """A page in Markdown."""
    parts = [introduction.rstrip(), machine()]
    if picture is not None:
        parts.append(f"![Simulated time per processor time, and growth of ladders]({picture})")
    for title, header, rows in tables(report):
        lines = [f"## {title}", "", _line(header), _line(["---"] * len(header))]
        parts.append("\n".join(lines + [_line(row) for row in rows]))
    parts += [
        f"{row.engine}, {count} cells: {note}."
        for row in report.growth
        for count, note in sorted(row.notes.items())
    ]
    return "\n\n".join(parts) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def machine() -> str:
    """What the numbers were measured on, and with which versions."""
    versions = [f"{name} {v}" for name in _PACKAGES if (v := _version(name))]
    return f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, " + (
        ", ".join(versions) + "; one thread."
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def plot(report: Report, path: str | Path) -> None:
    """Draw bars for simulations under control, curves for the growth, times of standing.

    Raises:
        InputError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plots need matplotlib: pip install matplotlib") from None
    parts = ((_bars, report.controlled), (_curves, report.growth), (_times, report.standing))
    panels = [panel for panel, data in parts if data]
    if not panels:
        return
    figure = Figure(figsize=(7.5 * len(panels), 5.5), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for panel, ax in zip(panels, axes, strict=True):
        panel(ax, report)
    with whole_file(path) as temporary:
        figure.savefig(temporary, dpi=110)


def _bars(ax: Any, report: Report) -> None:
    engines = list(dict.fromkeys(row.engine for row in report.controlled))
    mechanisms = list(dict.fromkeys(row.mechanism for row in report.controlled))
    height = 0.8 / len(engines)
    for number, engine in enumerate(engines):
        rows = [row for row in report.controlled if row.engine == engine and row.speed]
        places = [mechanisms.index(row.mechanism) + number * height for row in rows]
        bars = ax.barh(places, [row.speed for row in rows], height, label=engine)
        ax.bar_label(bars, fmt="%.3g", padding=3, fontsize="x-small")
    ax.set_yticks([k + 0.4 - height / 2 for k in range(len(mechanisms))], mechanisms)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xlim(min(1.0, ax.get_xlim()[0]), 3.0 * ax.get_xlim()[1])  # room for the numbers
    ax.axvline(1.0, color="0.3", linewidth=0.8)
    ax.set_xlabel("simulated time per processor time, control at 1 kHz; 1 is real time")
    ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)


def _curves(ax: Any, report: Report) -> None:
    for row in report.growth:
        if row.seconds:
            cells = sorted(row.seconds)
            ax.loglog(cells, [1e3 * row.seconds[k] for k in cells], marker="o", label=row.engine)
    ax.set_xlabel("cells of loop_ladder")
    ax.set_ylabel("time of one evaluation in ms")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="x-small")


def _times(ax: Any, report: Report) -> None:
    for row in report.standing:
        if row.seconds:
            times = [1e6 * seconds for seconds in sorted(row.seconds)]
            share = [(k + 1) / len(times) for k in range(len(times))]
            ax.step(times, share, where="post", label=f"{row.engine}, {row.motion}")
    ax.set_xscale("log")
    ax.set_xlabel("time from a state of the biped to its efforts in µs")
    ax.set_ylabel("share of the states")
    ax.grid(alpha=0.3, which="both")
    ax.legend(fontsize="x-small")
