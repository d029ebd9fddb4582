"""``uk_dynamics sweep``: many simulations on many cores or machines."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.cli.arguments import count
from uk_dynamics.cli.json_text import json_text

if TYPE_CHECKING:
    from uk_dynamics.cli.extensions import Commands

_SHOWN_FAILURES = 5

_DESCRIPTION = """\
Simulate a mechanism again and again with parameters, starts and gains that vary, on the cores of
this machine or on a Dask cluster. Results go to Parquet; a sweep that was interrupted goes on where
it was when it is started again. Points that fail are rows with the reason, not the end of it.
"""

_EXAMPLES = """\
examples:
  uk_dynamics sweep damping.yaml --out out/damping
  uk_dynamics sweep damping.yaml --out out/damping --scheduler tcp://10.0.0.1:8786
  uk_dynamics sweep damping.yaml --out out/damping --retry-failed
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "sweep",
        help="many simulations with values that vary",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="sweep file (YAML)")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="results; out/ and the file's name when left out"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="Dask scheduler, tcp://host:port")
    where.add_argument("--workers", metavar="N", type=count, help="processes here (all cores)")
    parser.add_argument(
        "--retry-failed", action="store_true", help="simulate again what failed before"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Simulate what is not there yet, and say what became of it; 1 when points failed."""
    from uk_dynamics.sweeps.run import sweep
    from uk_dynamics.sweeps.specification import SweepSpec
    from uk_dynamics.sweeps.store import Store

    spec = SweepSpec.from_file(arguments.file)
    total = len(spec.points())
    store = Store(arguments.out or Path("out") / Path(arguments.file).stem)
    try:
        with _progress(total) as progress:
            outcome = sweep(
                spec,
                store,
                scheduler=arguments.scheduler,
                workers=arguments.workers or None,
                retry_failed=arguments.retry_failed,
                progress=progress,
            )
    except KeyboardInterrupt:
        done = len(store.rows())
        print(
            f"interrupted; {done} points are kept in {store.directory}, start again to go on",
            file=sys.stderr,
        )
        raise
    if arguments.json:
        print(json_text({**vars(outcome), "results": store.results}))
        return 1 if outcome.failed else 0
    print(
        f"{outcome.total} points: {outcome.found} were there, {outcome.ok} simulated, "
        f"{len(outcome.failed)} failed; {outcome.wall:.1f} s"
    )
    for point, problem in list(outcome.failed.items())[:_SHOWN_FAILURES]:
        print(f"  failed: {point}: {problem}")
    if len(outcome.failed) > _SHOWN_FAILURES:
        print(f"  and {len(outcome.failed) - _SHOWN_FAILURES} more, in the column error")
    print(f"written: {store.results}")
    return 1 if outcome.failed else 0


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int, int], None]]:
    """Show a bar of points on a terminal; elsewhere nothing."""
    from tqdm import tqdm

    with tqdm(total=total, file=sys.stderr, disable=None, leave=False, unit="point") as bar:

        def show(done: int, failed: int) -> None:
            bar.update(done - bar.n)
            bar.set_postfix(failed=failed)

        yield show
