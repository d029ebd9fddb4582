"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """Something noticed.

    Attributes:
        check: What was looked at, such as ``inertia``.
        severity: ``error``: the mechanism is not what is meant, or does not work; ``warning``: it
            probably is not what is meant; ``note``: worth knowing.
        subject: Names of the joints, links, rows or motors it is about.
        problem: What was found.
        remedy: What to do about it.
    """

    check: str
    severity: Severity
    subject: tuple[str, ...]
    problem: str
    remedy: str
