# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics init``: draft a mechanism file."""

import argparse
from pathlib import Path

from uk_dynamics.cli.output.printing import show, table
from uk_dynamics.conversion import write_files
from uk_dynamics.conversion.drafting import Draft, draft

_NO_LOOP = (
    "none: no frames coincide; mark the two sides of a pin by links PIN_a and PIN_b, or see --at"
)


def run(arguments: argparse.Namespace) -> int:
    """Write the file and list the guesses."""
    name = arguments.file.rstrip("/").rpartition("/")[2].partition(".")[0]
    path: Path = arguments.out or Path(f"{name}.yaml")
    found = draft(
        arguments.file,
        path.absolute().parent,
        positions=dict(arguments.at),
        xacro=dict(arguments.xacro),
    )
    write_files({path: found.text}, force=arguments.force)
    show(arguments, _facts(path, found), f"{path}\n{table(_rows(path, found))}")
    return 0


def _rows(path: Path, found: Draft) -> list[tuple[str, str]]:
    closed = [f"{cut.name} ({cut.data['type']})" for cut in found.cuts]
    rows = [
        ("joints", ", ".join(found.report.joints) or "none"),
        ("loops, guessed", ", ".join(closed) or _NO_LOOP),
        ("motors, guessed", ", ".join(found.motors) or "none: no tags and no effort limits"),
        ("mobility", f"{found.report.mobility}, {found.report.actuation}"),
    ]
    if found.branch:
        rows.append(("branch", found.branch))
    if found.suggestions:
        names = ", ".join(
            f"{cut.name} ({1e3 * cut.coincidence.distance:.3g} mm apart)"
            for cut in found.suggestions
        )
        rows.append(("in comments", f"{names}: decide whether they are loops; why is said there"))
    rows.append(("next", f"uk_dynamics check {path}"))
    return rows


def _facts(path: Path, found: Draft) -> dict[str, object]:
    return {
        "file": path,
        "constraints": {cut.name: cut.data for cut in found.cuts},
        "suggestions": {cut.name: cut.data for cut in found.suggestions},
        "motors": list(found.motors),
        "mobility": found.report.mobility,
        "actuation": found.report.actuation,
        "branch": found.branch,
    }
