"""``uk_dynamics reproduce``: redo the studies of the papers this package implements."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.cli.table import table

if TYPE_CHECKING:
    from uk_dynamics.cli.extensions import Commands
    from uk_dynamics.papers.study import Study

MISSED = 1

_DESCRIPTION = """\
Redo the study of a paper, or of all of them: published numbers are printed beside measured ones,
with what agrees and what does not. Pictures (PNG) and tables (CSV) go to a directory per paper.
"""

_EXAMPLES = """\
examples:
  uk_dynamics reproduce --list
  uk_dynamics reproduce servo
  uk_dynamics reproduce --quick --out /tmp/studies      all papers, shortened
  uk_dynamics reproduce servo --markdown --out docs/papers

exit status: 0, 1 when something that must hold does not, 2 for a mistake of the user
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "reproduce",
        help="redo the studies of the papers",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paper", metavar="PAPER", nargs="?", help="one of --list; left out: all")
    parser.add_argument("--list", action="store_true", help="say which papers there are")
    parser.add_argument(
        "--quick", action="store_true", help="shorter motions and fewer cases: seconds, not minutes"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("reproduced"),
        help="where files go, made if need be (./reproduced)",
    )
    parser.add_argument(
        "--markdown", action="store_true", help="write a page and its pictures instead of tables"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Redo the studies asked for."""
    from uk_dynamics.exceptions import UnknownNameError
    from uk_dynamics.papers import PAPERS

    if arguments.list:
        print(table(PAPERS.items()))
        return 0
    if arguments.paper is not None and arguments.paper not in PAPERS:
        raise UnknownNameError("paper", arguments.paper, PAPERS)
    papers = list(PAPERS) if arguments.paper is None else [arguments.paper]
    missed = 0
    for number, paper in enumerate(papers):
        print("\n" * (number > 0), end="")
        result = _redo(paper, number, len(papers), quick=arguments.quick)
        _write(result, arguments)
        missed += sum(not bound.holds for bound in result.bounds)
    return MISSED if missed else 0


def _redo(paper: str, number: int, count: int, *, quick: bool) -> Study:
    from uk_dynamics.papers import reproduce

    begin = time.monotonic()
    print(f"{paper} ({number + 1} of {count}): redoing its study ...", file=sys.stderr, flush=True)
    result = reproduce(paper, quick=quick)
    print(f"{paper}: done in {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    return result


def _write(study: Study, arguments: argparse.Namespace) -> None:
    """Print a study and write its files."""
    from uk_dynamics.papers.files import write_page, write_results
    from uk_dynamics.papers.page import text

    if arguments.markdown:
        quick = " --quick" if arguments.quick else ""
        where = shlex.quote(str(arguments.out))
        command = f"uk_dynamics reproduce {study.paper}{quick} --markdown --out {where}"
        files = write_page(study, arguments.out, command)
    else:
        print(text(study), end="\n\n")
        files = write_results(study, arguments.out)
    print("\n".join(f"written: {file}" for file in files))
