# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Accuracy of the forms of the recursion over the condition number of the constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uk_dynamics.core.recursion import Recursion
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics_studies.papers.orsino.kernel import (
    covariance_update,
    extend_orthonormal_rows,
    restrict_complement,
    restrict_projector,
)

SIZE, ROWS, LEVELS = 20, 12, 4
FORMS = ("Z Zᵀ", "covariance, (4.16)", "covariance, Joseph's form")
WAYS = ("orthonormalisation", "orthogonal complement", "generalised inverse")
_TOLERANCE = 1e-10  # of the recursion: far below what is independent, above rounding


@dataclass(frozen=True)
class Accuracy:
    """Largest relative errors over some random systems."""

    condition: float  # of the independent rows
    accelerations: tuple[float, ...]  # of each of :data:`FORMS`; infinite where a form broke down
    kernels: tuple[float, ...]  # of the projectors of each of :data:`WAYS`


def accuracy(condition: float, systems: int) -> Accuracy:
    """Enforce 12 rows in 4 levels on 20 coordinates, whitened, and compare with what is known."""
    rng = np.random.default_rng(0)
    accelerations = np.zeros(len(FORMS))
    kernels = np.zeros(len(WAYS))
    for _ in range(systems):
        V = np.linalg.qr(rng.standard_normal((SIZE, SIZE)))[0][:ROWS]
        U = np.linalg.qr(rng.standard_normal((ROWS, ROWS)))[0]
        H = (U * np.geomspace(1.0, 1.0 / condition, ROWS)) @ V
        free = rng.standard_normal(SIZE)
        exact = free + V.T @ rng.standard_normal(ROWS)
        b = H @ exact
        errors = [relative(a, exact) for a in (_factored(H, free, b), *_covariances(H, free, b))]
        accelerations = np.maximum(accelerations, errors)
        projector = np.eye(SIZE) - V.T @ V
        kernels = np.maximum(kernels, [relative(S, projector) for S in _kernels(H)])
    return Accuracy(condition, tuple(accelerations.tolist()), tuple(kernels.tolist()))


def redundant() -> tuple[float, str]:
    """Error of our form where each level repeats a row of the one before, and what (4.16) says."""
    rng = np.random.default_rng(0)
    H = rng.standard_normal((ROWS, SIZE))
    H[3::3] = H[2:-1:3]
    free, exact = rng.standard_normal((2, SIZE))
    b = H @ exact
    known = free + np.linalg.pinv(H) @ (b - H @ free)
    try:
        covariance_update(free, np.eye(SIZE), np.vstack((H[2], H[3])), b[2:4])
    except InputError:
        answer = "no inverse to work with"
    else:
        answer = "found an answer"
    return relative(_factored(H, free, b), known), answer


def relative(found: Array, exact: Array) -> float:
    """Largest error, relative to the largest entry; infinite where there is no number."""
    error = float(np.abs(found - exact).max() / np.abs(exact).max())
    return error if np.isfinite(error) else float("inf")


def _factored(H: Array, free: Array, b: Array) -> Array:
    scale = 1.0 / np.linalg.norm(H, axis=1)
    recursion = Recursion.free(SIZE)
    for rows in np.split(np.arange(ROWS), LEVELS):
        recursion = recursion.enforce(rows, H[rows], scale[rows], _TOLERANCE)
    return recursion.advance(free, b)


def _covariances(H: Array, free: Array, b: Array) -> list[Array]:
    found = []
    for joseph in (False, True):
        a, P = free, np.eye(SIZE)
        try:
            for rows in np.split(np.arange(ROWS), LEVELS):
                a, P = covariance_update(a, P, H[rows], b[rows], joseph=joseph)
        except InputError:
            a = np.full(SIZE, np.inf)
        found.append(a)
    return found


def _kernels(H: Array) -> tuple[Array, ...]:
    identity = np.eye(SIZE)
    Q, Z, S = np.zeros((0, SIZE)), identity, identity
    for rows in np.split(H, LEVELS):
        Q = extend_orthonormal_rows(Q, rows, _TOLERANCE)
        Z = restrict_complement(Z, rows, _TOLERANCE)
        S = restrict_projector(S, rows, _TOLERANCE)
    return identity - Q.T @ Q, Z @ Z.T, S
