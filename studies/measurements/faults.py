# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Faults injected into a driven machine in random order: each time the reaction of docs/faults.md.

Simulator, encoders, joint_state_completer, servo_controller and command_watchdog of the five-bar
run at 100 Hz and half of real time, as processes of their own; a recorder that knows nothing of
them hears every command.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fault_bench import FaultBench
from injected_faults import INJECTIONS, Outcome, try_out

from uk_dynamics.ros.process.node_processes import own_domain


def campaign(
    names: Sequence[str], directory: Path, slack: float, say: Callable[[Outcome], None]
) -> dict[str, float]:
    """Inject faults one after the other.

    Args:
        names: What to inject.
        directory: Where logs are written.
        slack: What a busy computer may add to times, in s.
        say: Called with each outcome.

    Returns:
        What the recorder has heard on the wire.
    """
    bench = FaultBench(directory)
    try:
        bench.drive()
        for name in names:
            say(try_out(bench, name, slack))
    finally:
        heard = bench.close()
    return heard


def drawn(count: int, seed: int) -> list[str]:
    """Kinds of faults in random order, each as often as the others."""
    chance = random.Random(seed)
    kinds = list(INJECTIONS)
    chance.shuffle(kinds)
    names = (kinds * (1 + count // len(kinds)))[:count]
    chance.shuffle(names)
    return names


def main() -> int:
    """Run the campaign and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the name of a fault")
    parser.add_argument("--slack", type=float, default=0.3, help="of a busy computer, in s")
    arguments = parser.parse_args()
    names = drawn(arguments.count, arguments.seed)
    if arguments.only:
        names = [arguments.only] * arguments.count
    outcomes: list[Outcome] = []

    def say(outcome: Outcome) -> None:
        outcomes.append(outcome)
        text = outcome.problem or "as it shall be"
        print(
            f"{len(outcomes):4d} {outcome.name:28} {outcome.stopped_after:7.3f} s  {text}",
            flush=True,
        )

    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory, own_domain():
        heard = campaign(names, Path(directory), arguments.slack, say)
    print(f"\n{'fault':28}{'times':>6}{'failed':>8}{'stated':>11}{'longest':>10}   cause named")
    for name, injection in INJECTIONS.items():
        mine = [outcome for outcome in outcomes if outcome.name == name]
        failed = sum(bool(outcome.problem) for outcome in mine)
        stated = f"{injection.within:7.2f} s" if injection.within else "driven on"
        longest = max((o.stopped_after for o in mine), default=float("nan"))
        taken = f"{longest:7.3f} s" if injection.within else ""
        cause = injection.cause or ("the watchdog commands zero" if injection.taken_back else "")
        print(f"{name:28}{len(mine):6d}{failed:8d}{stated:>11}{taken:>10}   {cause}")
    print(f"\n{time.monotonic() - began:.0f} s; on the wire: {heard}")
    bad = heard["not_finite"] or heard["over_limit"] or heard["wrong_size"]
    return int(bool(bad) or any(outcome.problem for outcome in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
