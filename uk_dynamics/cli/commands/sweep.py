# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics sweep``: many simulations with varied parameters."""

import argparse
from pathlib import Path

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import progress_bar, show

_SHOWN_FAILURES = 5

_HELP = """\
run many simulations with varied parameters

Simulate a mechanism for many values of parameters, initial states and gains, on the cores of this
computer or on a Dask cluster. Results are written to Parquet; an interrupted sweep resumes when it
is started again. A point that fails becomes a row with the reason, and the sweep continues.

examples:
  uk_dynamics sweep damping.yaml --out out/damping
  uk_dynamics sweep damping.yaml --out out/damping --scheduler tcp://10.0.0.1:8786
  uk_dynamics sweep damping.yaml --out out/damping --retry-failed
"""

_WHERE = """\
--scheduler ADDRESS  Dask scheduler, tcp://host:port
--workers N  local processes (default: one per core)
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "sweep", _HELP, run)
    parser.add_argument("file", metavar="FILE", help="sweep file (YAML)")
    common.add_options(parser, "--out DIR  output directory (default: out/ and the file name)")
    common.add_options(parser.add_mutually_exclusive_group(), _WHERE)
    common.add_options(parser, "--retry-failed  repeat the points that failed before")
    common.add_json(parser, "the summary")


def run(arguments: argparse.Namespace) -> int:
    """Simulate the missing points and print the outcome; status 1 if points failed."""
    from uk_dynamics.sweeps import Store, SweepSpec, sweep

    spec = SweepSpec.from_file(arguments.file)
    total = len(spec.points())
    store = Store(arguments.out or Path("out") / Path(arguments.file).stem)
    try:
        with progress_bar(total, "point") as bar:

            def progress(done: int, failed: int) -> None:
                bar.update(done - bar.n)
                bar.set_postfix_str(f"failed={failed}")

            outcome = sweep(
                spec,
                store,
                scheduler=arguments.scheduler,
                workers=arguments.workers or None,
                retry_failed=arguments.retry_failed,
                progress=progress,
            )
    except KeyboardInterrupt:
        kept = f"{store.directory} has {len(store.rows())} points, start again to resume"
        raise KeyboardInterrupt(kept) from None
    done = f"{outcome.total} points: {outcome.found} existed, {outcome.ok} simulated"
    lines = [f"{done}, {len(outcome.failed)} failed; {outcome.wall:.1f} s"]
    failures = [f"  failed: {point}: {problem}" for point, problem in outcome.failed.items()]
    lines += failures[:_SHOWN_FAILURES]
    if more := failures[_SHOWN_FAILURES:]:
        lines.append(f"  and {len(more)} more, in the column error")
    lines.append(f"written: {store.results}")
    show(arguments, {**vars(outcome), "results": store.results}, "\n".join(lines))
    return 1 if outcome.failed else 0
