# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics check``: validate a mechanism."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence

from uk_dynamics.checks import Finding, check_file, listed
from uk_dynamics.cli.output.printing import PART_BAR, progress_bar, show, table

_FOUND_ERRORS = 1


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; status 1 where one is an error."""
    with progress_bar(1.0, "", PART_BAR) as bar:
        findings = check_file(
            arguments.file,
            arguments.tasks,
            dict(arguments.set),
            tolerance=arguments.tolerance,
            progress=bar.update,
        )
    errors = sum(finding.severity == "error" for finding in findings)
    facts = {"file": arguments.file, "errors": errors, "findings": findings}
    text = f"{arguments.file}: {_summary(findings)}\n{table(_rows(findings))}"
    show(arguments, facts, text.rstrip())
    return _FOUND_ERRORS if errors else 0


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    for finding in findings:
        about = f"{listed(finding.subject)}: " if finding.subject else ""
        yield finding.severity, f"[{finding.check}] {about}{finding.problem}"
        yield "", f"-> {finding.remedy}"


def _summary(findings: Sequence[Finding]) -> str:
    if not findings:
        return "no findings"
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(f"{n} {word}{'s' * (n != 1)}" for word, n in counts.items())
