# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics sweep``: many simulations with varied parameters."""

import argparse
from pathlib import Path

from uk_dynamics.cli.output.printing import progress_bar, show
from uk_dynamics.sweeps import Store, SweepSpec, sweep

_SHOWN_FAILURES = 5


def run(arguments: argparse.Namespace) -> int:
    """Simulate the missing points and print the outcome; status 1 if points failed."""
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
