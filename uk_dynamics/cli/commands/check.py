# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics check``: validate a mechanism."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from uk_dynamics.cli.options.arguments import Commands, add_command, add_json, add_mechanism
from uk_dynamics.cli.output.printing import PART_BAR, progress_bar, show, table

if TYPE_CHECKING:
    from uk_dynamics.checks import Finding

_FOUND_ERRORS = 1

_HELP = """\
validate a mechanism, with remedies

Validate a mechanism: loops that do not close, or only nearly; obstructive limits; massless links;
inertias that are physically impossible; axes that are not quite parallel; redundant rows; a
singular start; motors that move nothing; and with --tasks, tasks that the motors cannot realise.
Each finding names what it concerns and a remedy.

examples:
  uk_dynamics check my_robot.yaml
  uk_dynamics check my_robot.yaml --tasks reach.yaml --set crank=0.4
  uk_dynamics check my_robot.yaml --json | jq -e '.errors == 0'

exit status: 0 no errors (there may be warnings and notes), 1 errors found, 2 wrong usage
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(commands, "check", _HELP, run)
    add_mechanism(parser)
    add_json(parser, "the findings")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; status 1 where one is an error."""
    from uk_dynamics.checks import check_file

    with progress_bar(1.0, "", PART_BAR) as bar:
        findings = check_file(
            arguments.file,
            arguments.tasks,
            dict(arguments.positions),
            tolerance=arguments.tolerance,
            progress=bar.update,
        )
    errors = sum(finding.severity == "error" for finding in findings)
    facts = {"file": arguments.file, "errors": errors, "findings": findings}
    text = f"{arguments.file}: {_summary(findings)}\n{table(_rows(findings))}"
    show(arguments, facts, text.rstrip())
    return _FOUND_ERRORS if errors else 0


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    from uk_dynamics.checks import listed

    for finding in findings:
        about = f"{listed(finding.subject)}: " if finding.subject else ""
        yield finding.severity, f"[{finding.check}] {about}{finding.problem}"
        yield "", f"-> {finding.remedy}"


def _summary(findings: Sequence[Finding]) -> str:
    if not findings:
        return "no findings"
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(f"{n} {word}{'s' * (n != 1)}" for word, n in counts.items())
