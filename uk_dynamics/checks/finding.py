"""The finding of a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """A problem of a mechanism, with a remedy."""

    check: str  # name of the check, such as ``inertia``
    # ``error``: the mechanism is wrong or does not work; ``warning``: it is probably not as
    # intended; ``note``: worth knowing
    severity: Severity
    subject: tuple[str, ...]  # names of the joints, links, rows or motors concerned
    problem: str
    remedy: str
