"""Constraints that are there twice: each allows exactly the velocities that the other does."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from uk_dynamics.checks.subject import Subject
from uk_dynamics.model.description import Array

_ROUNDING = 1e-8  # of rows at unit norm


def duplicates(subject: Subject) -> list[tuple[str, str]]:
    """Pairs of constraints whose rows span the same space at the assembled configuration.

    Constraints that hold every velocity, or none, say nothing about each other.
    """
    mechanism = subject.mechanism
    workspace = subject.workspace
    workspace.update(subject.assembly.q, subject.velocity)
    rows = mechanism.constraints.evaluate(
        workspace, 0.0, subject.assembly.q, subject.velocity, mechanism.references.sample(0.0)
    )
    acts = mechanism.hierarchy.acting()
    spans = {}
    for name, where in mechanism.constraints.slices.items():
        basis = _basis(rows.A[where])
        if acts[where].all() and 0 < len(basis) < mechanism.model.nv:
            spans[name] = basis
    return [
        (one, other)
        for (one, first), (other, second) in combinations(spans.items(), 2)
        if len(first) == len(second) == len(_basis(np.vstack((first, second))))
    ]


def _basis(A: Array) -> Array:
    """Orthonormal rows that span those of A."""
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    acting = lengths[:, 0] > 0.0
    unit: Array = A[acting] / lengths[acting]
    if not len(unit):
        return unit
    _, values, basis = np.linalg.svd(unit, full_matrices=False)
    found: Array = basis[values > _ROUNDING * np.sqrt(len(unit))]
    return found
