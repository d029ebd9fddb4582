# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics calibrate``: places of pins and encoder offsets from redundant measurements."""

import argparse

from uk_dynamics.cli.identification.identify import write_estimates
from uk_dynamics.cli.output.printing import PART_BAR, progress_bar, show, table
from uk_dynamics.exceptions import InputError
from uk_dynamics.identification import PLACES, calibrate, facts, read_tracker
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory


def run(arguments: argparse.Namespace) -> int:
    """Calibrate; status 1 if held-out measurements agree no better than before."""
    mechanism = Mechanism.from_file(arguments.file)
    tracked = None
    if arguments.tracker is not None:
        if arguments.link is None:
            raise InputError("needs --link, the link that it follows", place="--tracker")
        tracked = read_tracker(arguments.tracker, arguments.link, arguments.tracker_deviation)
    recordings = [Trajectory.load(path) for path in arguments.recordings]
    with progress_bar(1.0, "", PART_BAR) as bar:
        found = calibrate(
            mechanism,
            recordings,
            estimate=tuple(arguments.estimate or PLACES),
            measured=arguments.measured or None,
            tracked=tracked,
            progress=bar.update,
        )
    report = facts(found)
    rows = [
        ("misfit", f"{found.before:.3g} before, {found.after:.3g} after (m or rad, rms)"),
        ("held out", f"{found.held_out_before:.3g} before, {found.held_out:.3g} after"),
        *(
            (x.name, f"{x.value:.6g} ± {x.deviation:.2g} {x.unit} (file: {x.before:.6g})")
            for x in found.placements
            if x.determined
        ),
        *(("only the sum", str(x)) for x in found.limits.base if len(x.terms) > 1),
    ]
    if found.limits.without_effect:
        rows.append(("no effect", ", ".join(found.limits.without_effect)))
    show(arguments, report, f"{mechanism.name}\n{table(rows)}")
    if arguments.out is not None:
        write_estimates(arguments, mechanism, found, found.values, ("calibration.json", report))
    return 0 if found.held_out <= found.held_out_before else 1
