# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics identify``: masses, friction, springs and motor constants from recordings."""

import argparse
from collections.abc import Mapping
from datetime import date

from uk_dynamics.cli.output.printing import PART_BAR, TIME_BAR, json_text, progress_bar, show, table
from uk_dynamics.conversion import check_new, updated_files, write_files
from uk_dynamics.exceptions import InputError
from uk_dynamics.identification import (
    DEFAULT,
    EVALUATIONS,
    Calibration,
    Identification,
    Regressor,
    excitation,
    identify,
    linear_parameters,
    report,
    summary,
)
from uk_dynamics.mechanism.files import yaml_text
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory
from uk_dynamics.simulation.recording import template


def run(arguments: argparse.Namespace) -> int:
    """Identify, or find an excitation; status 1 if predictions are no better than before."""
    mechanism = Mechanism.from_file(arguments.file)
    friction = ("joints.*.damping", "joints.*.friction")
    chosen = tuple(arguments.estimate or (friction if arguments.payload else DEFAULT))
    if arguments.excite is not None:
        return _excite(arguments, mechanism, chosen)
    if arguments.template is not None:
        return _template(arguments, mechanism)
    if not arguments.recordings:
        raise InputError("give at least one, or --excite or --template", place="RECORDING")
    recordings = [Trajectory.load(path) for path in arguments.recordings]
    held_out = [Trajectory.load(path) for path in arguments.held_out]
    total = sum(float(x.t[-1] - x.t[0]) for x in (*recordings, *held_out))
    with progress_bar(total, "s", TIME_BAR) as bar, progress_bar(1.0, "", PART_BAR) as fit:
        fit.set_description_str("fit ", refresh=False)
        found = identify(
            mechanism,
            recordings,
            held_out=held_out,
            estimate=chosen,
            payload=arguments.payload,
            measured=arguments.measured or None,
            cutoff=arguments.cutoff,
            rate=arguments.rate,
            delay=arguments.delay,
            progress=bar.update,
            fitting=fit.update,
        )
    facts = report(found)
    show(arguments, facts, f"{mechanism.name}\n{table(summary(found))}")
    if arguments.out is not None:
        values, gains = found.new_values, found.motor_gains
        write_estimates(arguments, mechanism, found, values, ("report.json", facts), gains)
    return 0 if found.held_out.relative <= found.held_out.relative_before else 1


def write_estimates(
    arguments: argparse.Namespace,
    mechanism: Mechanism,
    found: Identification | Calibration,
    values: Mapping[str, float],  # new ones, by the names of the mechanism's parameters
    report: tuple[str, object],  # name of the file that tells about the estimates, and its data
    gains: Mapping[str, float] | None = None,  # what efforts are to be multiplied by, by motor
) -> None:
    """Write the files that ``--out`` asks for, and name them."""
    name, facts = report
    texts = updated_files(
        mechanism,
        values,
        gains=gains,
        command=arguments.parser.prog.rpartition(" ")[2],
        report=name,
        estimates=found.to_file(arguments.recordings, date.today().isoformat()),
    )
    texts[name] = json_text(facts) + "\n"
    write_files({arguments.out / file: text for file, text in texts.items()}, force=arguments.force)
    if not arguments.json:
        print(f"  {arguments.out}: {', '.join(texts)}")


def _template(arguments: argparse.Namespace, mechanism: Mechanism) -> int:
    if arguments.recordings or arguments.template.suffix.lower() != ".csv":
        raise InputError("give a new .csv, and no recording", place="--template")
    joints = tuple(arguments.measured or mechanism.measured.names)
    q, model = mechanism.assemble(), mechanism.model
    positions = [float(q[model.position_index(joint)]) for joint in joints]
    text = template(joints, mechanism.actuators.names, positions)
    write_files({arguments.template: text}, force=arguments.force)
    print(arguments.template)
    return 0


def _excite(arguments: argparse.Namespace, mechanism: Mechanism, chosen: tuple[str, ...]) -> int:
    if arguments.recordings:
        raise InputError("finds a motion before there are recordings", place="--excite")
    if arguments.out is not None:
        check_new([arguments.out], force=arguments.force)
    regressor = Regressor(mechanism, linear_parameters(mechanism, chosen, arguments.payload))
    with progress_bar(EVALUATIONS, "motion") as bar:
        found = excitation(regressor, arguments.excite, progress=bar.update)
    facts = {"joints": found.joints, "gain": found.gain}
    if arguments.out is not None:
        write_files({arguments.out: yaml_text(found.tasks())}, force=arguments.force)
    rows = [
        ("joints", ", ".join(found.joints)),
        ("gain", f"standard deviations {found.gain:.3g} times below those of a random motion"),
    ]
    written = "" if arguments.out is None else f"\n  {arguments.out}"
    show(arguments, {**facts, **found.tasks()}, f"{mechanism.name}\n{table(rows)}{written}")
    return 0
