# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints that close the same loop."""

from __future__ import annotations

import numpy as np

from uk_dynamics.checks.subject import Subject
from uk_dynamics.core.linalg import spanning_rows
from uk_dynamics.model.urdf import Array

_ROUNDING = 1e-8  # of rows at unit norm


def duplicates(subject: Subject) -> list[tuple[str, ...]]:
    """Groups of constraints whose rows span the same space at the closed configuration.

    Constraints that fix every velocity, or none, are not compared.
    """
    mechanism = subject.mechanism
    workspace = subject.workspace
    workspace.update(subject.assembly.q, subject.velocity)
    rows = mechanism.constraints.evaluate(
        workspace, 0.0, subject.assembly.q, subject.velocity, mechanism.references.sample(0.0)
    )
    acts = mechanism.hierarchy.acting()
    groups: list[tuple[Array, list[str]]] = []
    for name, where in mechanism.constraints.slices.items():
        basis = spanning_rows(rows.A[where], _ROUNDING)
        if not (acts[where].all() and 0 < len(basis) < mechanism.model.nv):
            continue
        same = next((names for other, names in groups if _same(basis, other)), None)
        if same is None:
            groups.append((basis, [name]))
        else:
            same.append(name)
    return [tuple(names) for _, names in groups if len(names) > 1]


def _same(first: Array, second: Array) -> bool:
    """Whether two orthonormal bases span the same space."""
    if len(first) != len(second):
        return False
    left = first - (first @ second.T) @ second
    return float(np.abs(left).max()) <= _ROUNDING
