# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics robustness``: how laws do on machines that differ from the model."""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.options.requirements import check_writable
from uk_dynamics.cli.output.printing import progress_bar, show, table
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import EncoderSpec
from uk_dynamics.sweeps import LAWS, PICTURES, Robustness, draw, robustness


def run(arguments: argparse.Namespace) -> int:
    """Simulate, draw and print."""
    check_writable(arguments.plot, PICTURES)
    if not arguments.machines:
        raise InputError("expected at least 1 machine, found 0", place="--machines")
    if arguments.seed < 0:
        raise InputError(f"expected a number from 0 up, found {arguments.seed}", place="--seed")
    mechanism = common.load_mechanism(arguments)
    tasks = common.load_tasks(arguments, mechanism)
    if tasks is None:
        raise InputError("machines are drawn from a tasks file with robust; add --tasks FILE")
    encoders, more = None, {"noise": arguments.noise, "filter": arguments.filter}
    given = {name: x for name, x in more.items() if x is not None}
    if arguments.resolution is not None:
        encoders = EncoderSpec(arguments.resolution, **given)
    elif given:
        place = f"--{next(iter(given))}"
        raise InputError("that is of encoders; add --resolution STEP", place=place)
    with progress_bar(len(LAWS) * arguments.machines, "motion") as bar:
        found = robustness(
            mechanism,
            tasks,
            machines=arguments.machines,
            duration=arguments.duration,
            control_period=arguments.control_period,
            encoders=encoders,
            scale=arguments.scale,
            seed=arguments.seed,
            progress=bar.update,
        )
    if arguments.plot:
        draw(found, Path(arguments.plot))
    show(arguments, _facts(found), f"{found.mechanism}\n{table(_rows(found))}")
    return 0


def _rows(found: Robustness) -> Iterator[tuple[str, str]]:
    count = len(next(iter(found.values.values())))
    kept = f", of which {found.kept:.0%} stay within what robust promises"
    yield "machines", f"{count}{'' if found.promise.failing else kept}"
    for sentence in found.promise.failing:
        yield "nothing promised", sentence
    yield "errors", "median, 95 % and largest over the machines, in m or rad"
    for row, name in enumerate(found.rows):
        for law, result in found.laws.items():
            numbers = (result.quantile(q)[row] for q in (0.5, 0.95, 1.0))
            yield f"{name} {law}", "  ".join(f"{x:.3g}" for x in numbers)
        if math.isfinite(bound := found.promise.error[row]):
            yield f"{name} promised", f"{bound:.3g}"
    for law, result in found.laws.items():
        most, fast = result.efforts.max(axis=0), result.chatter.max(axis=0)
        motor = int(most.argmax())
        share = f"up to {most[motor]:.0%} of the limit ({found.motors[motor]})"
        yield f"efforts {law}", f"{share}, fast changes {fast.max():.2%} (root mean square)"
        for said in result.failures:
            yield f"failed {law}", said
    import numpy as np

    for name, values in found.estimates.items():
        off = np.quantile(np.abs(values - found.values[name]), (0.5, 0.95, 1.0))
        yield f"estimate {name}", f"off by {'  '.join(f'{x:.3g}' for x in off)}"
    highest = ", ".join(f"{task} {x:.3g} Hz" for task, x in found.highest.items())
    yield "highest gains", f"{highest}  (with the delay; those of feedback)"
    if found.not_drawn:
        yield "not drawn", f"{', '.join(found.not_drawn)}: all machines have none of it"


def _facts(found: Robustness) -> dict[str, Any]:
    def by_row(values: Any) -> dict[str, float | None]:
        finite = (float(x) if math.isfinite(x) else None for x in values)
        return dict(zip(found.rows, finite, strict=True))

    return {
        "mechanism": found.mechanism,
        "machines": len(next(iter(found.values.values()))),
        "kept": None if found.promise.failing else found.kept,
        "promise": found.promise.to_dict(found.rows),
        "laws": {
            law: {
                **{f"error_{name}": by_row(x.quantile(q)) for name, q in _QUANTILES.items()},
                "effort": dict(zip(found.motors, x.efforts.max(axis=0).tolist(), strict=True)),
                "chatter": dict(zip(found.motors, x.chatter.max(axis=0).tolist(), strict=True)),
                "failures": list(x.failures),
            }
            for law, x in found.laws.items()
        },
        "estimates": {name: x.tolist() for name, x in found.estimates.items()},
        "highest": dict(found.highest),
        "not_drawn": list(found.not_drawn),
    }


_QUANTILES = {"median": 0.5, "95": 0.95, "largest": 1.0}
