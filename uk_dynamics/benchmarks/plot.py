"""Times of all engines as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uk_dynamics.benchmarks.report import Report
from uk_dynamics.exceptions import InputError
from uk_dynamics.whole_file import whole_file


def plot(report: Report, path: str | Path) -> None:
    """Draw bars for single evaluations and curves for the growth.

    Raises:
        InputError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plots need matplotlib: pip install matplotlib") from None
    panels = [panel for panel, data in ((_bars, report.single), (_curves, report.growth)) if data]
    if not panels:
        return
    figure = Figure(figsize=(6.4 * len(panels), 6.4), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for panel, ax in zip(panels, axes, strict=True):
        panel(ax, report)
    with whole_file(path) as temporary:
        figure.savefig(temporary, dpi=110)


def _bars(ax: Any, report: Report) -> None:
    from matplotlib import colormaps

    rows = [row for row in report.single if row.seconds is not None]
    engines = list(dict.fromkeys(row.engine for row in rows))
    mechanisms = list(dict.fromkeys(row.mechanism for row in rows))
    height = 0.8 / len(engines)
    colours = colormaps["tab20"]  # more than the usual ten
    for number, engine in enumerate(engines):
        times = {r.mechanism: 1e6 * r.seconds for r in rows if r.engine == engine and r.seconds}
        places = [mechanisms.index(name) + number * height for name in times]
        ax.barh(places, list(times.values()), height, label=engine, color=colours(number % 20))
    ax.set_yticks([k + 0.4 - height / 2 for k in range(len(mechanisms))], mechanisms)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xlabel("time of one evaluation in µs")
    ax.legend(fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)


def _curves(ax: Any, report: Report) -> None:
    for row in report.growth:
        if row.seconds:
            cells = sorted(row.seconds)
            ax.loglog(cells, [1e3 * row.seconds[k] for k in cells], marker="o", label=row.engine)
    ax.set_xlabel("cells of loop_ladder")
    ax.set_ylabel("time of one evaluation in ms")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="x-small")
