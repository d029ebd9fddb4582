# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The report of a recording as an HTML page: a summary, and curves."""

import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from uk_dynamics.cli.output.simulation_summary import summarize
from uk_dynamics.colours import WARNING
from uk_dynamics.simulation import Trajectory
from uk_dynamics.simulation.plots import RESOLUTION, draw_for_files, empty_figure
from uk_dynamics.whole_file import output_file

_STYLE = """\
body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #111; }
table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums; }
td, th { border-bottom: 1px solid #ccc; padding: 0.2em 0.8em 0.2em 0; text-align: left; }
svg { width: 100%; height: auto; }
@media print { body { margin: 0; max-width: none; } }
"""
_STYLE += f".warning {{ border-left: 4px solid {WARNING}; padding-left: 0.8em; }}\n"


def write_report(trajectory: Trajectory, base: Path, source: str) -> tuple[Path, Path]:
    """Write ``base.html`` and ``base.png``, whose paths are returned."""
    page, picture = base.with_name(f"{base.name}.html"), base.with_name(f"{base.name}.png")
    figure = empty_figure(picture)
    with output_file(page) as text, output_file(picture) as image:
        draw_for_files(trajectory, figure)
        drawing = io.StringIO()
        figure.savefig(drawing, format="svg")
        svg = drawing.getvalue()[drawing.getvalue().index("<svg") :]
        text.write_text(report_page(trajectory, source, svg), encoding="utf-8")
        figure.savefig(image, dpi=RESOLUTION)
    return page, picture


def report_page(trajectory: Trajectory, source: str, drawing: str) -> str:
    """The self-contained page."""
    title = escape(trajectory.name.replace("_", " "))
    warnings = "".join(f'<p class="warning">{escape(text)}</p>' for text in trajectory.warnings)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>\n{_STYLE}</style></head>\n<body><h1>{title}</h1>"
        f"<p>{len(trajectory.t)} samples of {escape(source)}</p>{warnings}"
        f"{_table(_figures(trajectory))}{_motors(trajectory)}{drawing}"
        "</body></html>\n"
    )


def _figures(trajectory: Trajectory) -> list[tuple[str, str]]:
    summary = summarize(trajectory, conservative=False)
    rates = np.abs(trajectory.residual_rate)
    highest = float(np.max(rates, where=np.isfinite(rates), initial=0.0))
    figures = [("time", f"{summary['simulated_time']:.4g} s")]
    if trajectory.names.constraint_rows:
        row = summary["largest_violation_row"]
        figures += [
            ("largest residual", f"{summary['largest_violation']:.2e} m or rad ({row})"),
            ("largest rate of a residual", f"{highest:.2e} m/s or rad/s"),
            ("rank", f"{summary['lowest_rank']} to {summary['highest_rank']}"),
        ]
    if trajectory.names.task_rows:
        row = summary["largest_tracking_error_row"]
        figures.append(
            ("largest tracking error", f"{summary['largest_tracking_error']:.2e} m or rad ({row})")
        )
    if np.isfinite(summary["energy_change"]):  # a live recording may have heard no energy
        figures.append(("largest change of energy", f"{summary['energy_change']:.4g} J"))
    return figures


def _motors(trajectory: Trajectory) -> str:
    if not trajectory.names.motors:
        return ""
    largest = np.abs(trajectory.efforts).max(axis=0, initial=0.0)
    rows = [
        (name, f"{effort:.4g}", f"{limit:.4g}" if np.isfinite(limit) else "none")
        for name, effort, limit in zip(
            trajectory.names.motors, largest, trajectory.effort_limits, strict=True
        )
    ]
    return _table([("motor", "largest effort [N·m or N]", "limit"), *rows])


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
