# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics workspace``: where a frame gets to, and with what force."""

import argparse
from statistics import median

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.options.requirements import check_writable
from uk_dynamics.cli.output.printing import progress_bar, show, table
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.kinematics import TWIST
from uk_dynamics.workspace import ReachableSet, explore, write_parquet, write_picture

_PICTURES = (".png", ".pdf", ".svg")


def run(arguments: argparse.Namespace) -> int:
    """Explore, write the files and print the summary."""
    check_writable(arguments.plot, _PICTURES)
    check_writable(arguments.out, (".parquet",))
    if not arguments.samples:
        raise InputError("expected at least 1 configuration, found 0", place="--samples")
    mechanism = common.load_mechanism(arguments)
    positions = dict(arguments.set)
    start = mechanism.assemble(positions, hold=positions)
    x, y, z = arguments.point or (0.0, 0.0, 0.0)
    with progress_bar(arguments.samples, "configuration") as bar:
        found = explore(
            mechanism,
            (arguments.frame, (x, y, z)),
            start,
            samples=arguments.samples,
            rows=arguments.rows or TWIST,
            forces=not arguments.no_forces,
            progress=bar.update,
        )
    if arguments.plot:
        write_picture(found, mechanism, arguments.plot)
    if arguments.out:
        write_parquet(found, arguments.out)
    show(arguments, _facts(found), f"{found.mechanism}: {found.frame}\n{table(_rows(found))}")
    return 0


def _facts(found: ReachableSet) -> dict[str, object]:
    low, high = found.extent
    facts: dict[str, object] = {
        "frame": found.frame,
        "configurations": len(found.q),
        "extent": {n: [low[k], high[k]] for k, n in enumerate("xyz")},
        "singular": {locus.kind: len(locus.q) for locus in found.loci},
        "least_measure": {kind: float(x.min()) for kind, x in found.measures.items()},
        "notes": list(found.notes),
    }
    for what, envelopes in (("force", found.forces), ("torque", found.torques)):
        if envelopes is not None:
            held = [each.guaranteed for each in envelopes]
            facts[f"{what}_guaranteed"] = {
                "rows": envelopes[0].rows,
                "least": min(held),
                "median": median(held),
            }
    return facts


def _rows(found: ReachableSet) -> list[tuple[str, str]]:
    low, high = found.extent
    rows = [
        ("configurations", str(len(found.q))),
        *((axis, f"{low[k]:.4g} to {high[k]:.4g} m") for k, axis in enumerate("xyz")),
    ]
    for locus in found.loci:
        count, least = len(locus.q), found.measures[locus.kind].min()
        none = f"none found; the measure is at least {least:.2g}"
        some = f"{count} configuration{'s' * (count > 1)} found"
        rows.append((f"{locus.kind} singular", some if count else none))
    for what, unit, envelopes in (("force", "N", found.forces), ("torque", "N m", found.torques)):
        if envelopes is not None:
            held = [each.guaranteed for each in envelopes]
            span = f"at least {min(held):.4g}, median {median(held):.4g} {unit}"
            among = ", ".join(envelopes[0].rows)
            rows.append((f"{what} held", f"{span}, in any direction of {among}"))
    return [*rows, *(("note", note) for note in found.notes)]
