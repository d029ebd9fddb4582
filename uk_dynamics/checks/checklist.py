# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""All checks of a mechanism, in the order of their findings."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from uk_dynamics.checks.actuation import actuation
from uk_dynamics.checks.closure_and_units import closure
from uk_dynamics.checks.contacts import doubled, inside, ropes
from uk_dynamics.checks.friction import friction
from uk_dynamics.checks.idle_entries import idle_entries
from uk_dynamics.checks.inertias import inertias, massless
from uk_dynamics.checks.limits import effort_limits, limits
from uk_dynamics.checks.meshes import meshes
from uk_dynamics.checks.open_loops import open_loops, planarity
from uk_dynamics.checks.reach import reach
from uk_dynamics.checks.redundancy import redundancy
from uk_dynamics.checks.singularity import singularity
from uk_dynamics.checks.subject import SEVERITIES, Finding, Subject
from uk_dynamics.checks.uncertainty import uncertainty
from uk_dynamics.exceptions import CodedWarning, InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism_class import Mechanism

CHECKS: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    closure,
    limits,
    inside,
    ropes,
    massless,
    friction,
    inertias,
    planarity,
    open_loops,
    idle_entries,
    meshes,
    redundancy,
    doubled,
    singularity,
    effort_limits,
    actuation,
    uncertainty,
    reach,
)
_REPORTED_BY_CHECKS = ("massless", "limits", "inertia")  # codes of warnings
_REMEDIES = {
    "no_loops": "or write one, if it has loops",  # a draft says already what to do
    "restitution": "give them the same restitution",
}


def check_file(
    file: str | Path,  # mechanism file
    tasks: str | Path | None = None,  # tasks file
    positions: Mapping[str, float] | None = None,  # by joint name, in rad or m
    *,
    tolerance: float | None = None,  # instead of the file's ``solver.closure_tolerance``
    progress: Callable[[float], object] | None = None,  # called with the part of the checks done
) -> tuple[Finding, ...]:
    """Check a mechanism and a tasks file: findings, errors first; a single one if invalid."""
    try:
        spec = MechanismSpec.from_file(file)
        if tolerance is not None:
            spec = replace(spec, solver=spec.solver.closing_within(tolerance))
        mechanism = Mechanism.from_spec(spec)
        loaded = None if tasks is None else Tasks.from_file(tasks, mechanism)
        mechanism.configuration(positions or {})
    except InputError as error:
        remedy = "correct the file; other checks need a valid one"
        return (Finding("file", "error", (), str(error), remedy),)
    return check(mechanism, loaded, positions, progress)


def check(
    mechanism: Mechanism,
    tasks: Tasks | None = None,
    positions: Mapping[str, float] | None = None,
    progress: Callable[[float], object] | None = None,
) -> tuple[Finding, ...]:
    """Check a mechanism; see :func:`check_file`."""
    subject = Subject(mechanism, dict(positions or {}), tasks)
    findings: list[Finding] = []
    for find in CHECKS:
        findings += find(subject)
        if progress is not None:
            progress(1.0 / len(CHECKS))
    findings += _warnings(subject)
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def _warnings(subject: Subject) -> Iterator[Finding]:
    """Warnings from reading the files, and about friction in undetermined rows."""
    warnings = subject.report.warnings if subject.closed else subject.mechanism.warnings
    for warning in warnings:
        code = warning.code if isinstance(warning, CodedWarning) else ""
        if code not in _REPORTED_BY_CHECKS:
            remedy = _REMEDIES.get(code, "correct the URDF there")
            yield Finding("description", "warning", (), warning, remedy)
