"""The finding of a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """A problem of a mechanism, with a remedy.

    Attributes:
        check: Name of the check, such as ``inertia``.
        severity: ``error``: the mechanism is wrong or does not work; ``warning``: it is probably
            not as intended; ``note``: worth knowing.
        subject: Names of the joints, links, rows or motors concerned.
        problem: What is wrong.
        remedy: What to do about it.
    """

    check: str
    severity: Severity
    subject: tuple[str, ...]
    problem: str
    remedy: str
