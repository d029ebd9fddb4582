# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics reproduce``: reproduce the studies of the papers this package implements."""

from __future__ import annotations

import argparse
import shlex
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uk_dynamics.cli.options import Commands, add_command
from uk_dynamics.cli.output import json_text, progress_bar, table
from uk_dynamics.exceptions import UnknownNameError
from uk_dynamics_studies import papers

if TYPE_CHECKING:
    from uk_dynamics_studies.papers.output import Study

MISSED = 1

_HELP = """\
reproduce the studies of the papers

Reproduce the study of a paper, or of all papers: published and computed numbers are printed side by
side, with the findings. Pictures (PNG) and tables (CSV) are written to a directory per paper.

examples:
  uk_dynamics reproduce --list
  uk_dynamics reproduce servo
  uk_dynamics reproduce --quick --out out/studies       all papers, shorter
  uk_dynamics reproduce servo --markdown --out docs/papers

exit status: 0 all bounds hold, 1 a bound does not hold, 2 wrong usage
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(commands, "reproduce", _HELP, run)
    paper = parser.add_argument(
        "paper", metavar="PAPER", nargs="?", help="one of --list (default: all)"
    )
    setattr(paper, "completer", lambda **_: papers.PAPERS)  # noqa: B010 - as argcomplete has it
    parser.add_argument("--list", action="store_true", help="list the papers")
    parser.add_argument(
        "--quick", action="store_true", help="shorter motions and fewer cases: seconds, not minutes"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("reproduced"),
        help="output directory, created if necessary (./reproduced)",
    )
    parser.add_argument(
        "--markdown", action="store_true", help="write a page and its pictures instead of tables"
    )
    parser.add_argument("--json", action="store_true", help="print tables and bounds as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Reproduce the studies, and print or write their results."""
    if arguments.list:
        print(json_text(papers.PAPERS) if arguments.json else table(papers.PAPERS.items()))
        return 0
    if arguments.paper is not None and arguments.paper not in papers.PAPERS:
        raise UnknownNameError("paper", arguments.paper, papers.PAPERS)
    asked = list(papers.PAPERS) if arguments.paper is None else [arguments.paper]
    studies = []
    with progress_bar(len(asked), "paper") as bar:
        for number, paper in enumerate(asked):
            result = _study(paper, bar, quick=arguments.quick)
            files = _write(result, arguments)
            if not arguments.json:
                print("\n" * (number > 0), end="")
                _print(result, files, tables=not arguments.markdown)
            studies.append(_facts(result, files))
    if arguments.json:
        print(json_text(studies))
    return 0 if all(bound["holds"] for study in studies for bound in study["bounds"]) else MISSED


def _study(paper: str, bar: Any, *, quick: bool) -> Study:
    from uk_dynamics_studies.papers.output import heard

    steps = count(1)
    bar.set_description_str(paper)
    with heard(lambda: bar.set_postfix_str(f"{next(steps)} steps")):
        result = papers.reproduce(paper, quick=quick)
    bar.update()
    return result


def _write(study: Study, arguments: argparse.Namespace) -> list[Path]:
    """Write the files of a study."""
    from uk_dynamics_studies.papers.output import write_page, write_results

    if arguments.markdown:
        quick = " --quick" if arguments.quick else ""
        where = shlex.quote(str(arguments.out))
        command = f"uk_dynamics reproduce {study.paper}{quick} --markdown --out {where}"
        return write_page(study, arguments.out, command)
    return write_results(study, arguments.out)


def _print(study: Study, files: list[Path], *, tables: bool) -> None:
    from uk_dynamics_studies.papers.output import text

    if tables:
        print(text(study), end="\n\n")
    print("\n".join(f"written: {file}" for file in files))


def _facts(study: Study, files: list[Path]) -> dict[str, Any]:
    """A study as data, with the paths of its files."""
    return {
        "paper": study.paper,
        "title": study.title,
        "tables": study.tables,
        "findings": study.findings,
        "bounds": [
            {"claim": b.claim, "measured": b.measured, "limit": b.limit, "holds": b.holds}
            for b in study.bounds
        ],
        "files": files,
    }
