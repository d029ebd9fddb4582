# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fundamental equation at one state in JAX, with the rank rule of the other evaluators.

Rows are whitened by the factor of M, scaled to unit norm and orthogonalised by Gram–Schmidt, the
one with the largest residual norm first; one whose residual norm is at most the rank tolerance is
dependent. Directions are made orthogonal twice, which loses no more than reflections do. All of it
is written for one state and mapped over many. Factors and substitutions are loops of its own: those
of JAX call LAPACK once per state, and two at a time have been seen to deadlock on a machine with
two cores (jaxlib 0.10.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.jax.jax_tape import Arrays, jax_modules
from uk_dynamics.core.linalg import (
    EXACTLY_DEPENDENT,
    KERNEL_ROUNDING,
    LEAST_PART,
    LOST_PIVOTS,
    NEGLIGIBLE_ACCELERATION,
    TINY,
    tie_handicap,
)

_OK, _NEAR_SINGULAR, _INCONSISTENT = 0, 1, 2


class Rule(NamedTuple):
    """Numbers of a mechanism that the solution needs."""

    natural_scale: NDArray[np.float64]  # of the rows, (m,)
    rank_tolerance: float  # largest residual norm of a dependent row
    consistency_tolerance: float  # of rows that were left out, relative


class Basis(NamedTuple):
    """What elimination leaves; B̂ = C Q + residual."""

    Q: Arrays  # orthonormal, zero behind the rank, (c, nv), c = min(m, nv)
    C: Arrays  # coordinates of the scaled rows in them, (m, c)
    residual_norm: Arrays  # of each scaled row, (m,)
    scale: Arrays  # of the rows, (m,)
    pivots: Arrays  # independent rows in order, (c,)
    z: Arrays  # coordinates of the smallest x with B x = b on the independent rows, (c,)
    independent: Arrays  # which rows are, (m,)
    going: Arrays  # whether a direction is below the rank, (c,)


class Motion(NamedTuple):
    """Acceleration at a state, and what forces come from."""

    qdd: Arrays  # (nv,)
    rank: Arrays  # number of independent rows
    status: Arrays  # index into the statuses
    failed: Arrays  # whether M is singular or something not finite
    violation: Arrays  # A q̈ − b, (m,)
    factor: Arrays  # U with M = U Uᵀ, (nv, nv)
    missing: Arrays  # what the constraint force adds in the basis, (c,)
    basis: Basis | None  # of the rows


def motion(M: Arrays, F: Arrays, A: Arrays, b: Arrays, rule: Rule) -> Motion:
    """Constrained acceleration."""
    _, jnp = jax_modules()
    U, whitened = _factor(M, jnp.concatenate((F[:, None], A.T), axis=1))
    lost = jnp.sum(jnp.diagonal(M) / jnp.diagonal(U) ** 2)
    free = whitened[:, 0]
    if not len(rule.natural_scale):
        qdd = _unwhiten(U, free)
        failed = ~((lost < LOST_PIVOTS) & jnp.all(jnp.isfinite(qdd)))
        return Motion(qdd, jnp.int64(0), jnp.int64(0), failed, b, U, free[:0], None)
    basis = _eliminate(whitened[:, 1:].T, b, rule)
    missing = jnp.where(basis.going, basis.z - basis.Q @ free, 0.0)
    qdd = _unwhiten(U, free + missing @ basis.Q)
    violation = A @ qdd - b
    status = _check(A, b, qdd, _unwhiten(U, free), violation, basis, rule)
    failed = ~((lost < LOST_PIVOTS) & jnp.isfinite(jnp.sum(qdd) + jnp.sum(violation)))
    return Motion(qdd, jnp.sum(basis.independent), status, failed, violation, U, missing, basis)


def _factor(M: Arrays, x: Arrays) -> tuple[Arrays, Arrays]:
    """U with M = U Uᵀ, from the leaves to the root as the other evaluators have it, and U⁻¹ x."""
    jax, jnp = jax_modules()
    n = len(M)

    def take(step: Arrays, carry: tuple[Arrays, Arrays, Arrays]) -> tuple[Arrays, Arrays, Arrays]:
        rest, U, x = carry
        k = n - 1 - step
        column = jnp.where(jnp.arange(n) <= k, rest[:, k], 0.0) / jnp.sqrt(rest[k, k])
        solved = x[k] / column[k]
        x = (x - column[:, None] * solved).at[k].set(solved)
        return rest - column[:, None] * column, U.at[:, k].set(column), x

    _, U, x = jax.lax.fori_loop(0, n, take, (M, jnp.zeros_like(M), x))
    return U, x


def _unwhiten(U: Arrays, x: Arrays) -> Arrays:
    """U⁻ᵀ x."""
    jax, _ = jax_modules()

    def take(k: Arrays, x: Arrays) -> Arrays:
        # below its diagonal the column is zero, on it stands what is divided by
        return x.at[k].set((x[k] - U[:, k] @ x + U[k, k] * x[k]) / U[k, k])

    return jax.lax.fori_loop(0, len(U), take, x)


def _eliminate(B: Arrays, b: Arrays, rule: Rule) -> Basis:
    jax, jnp = jax_modules()
    m, nv = B.shape
    count = min(m, nv)
    norms = jnp.sqrt(jnp.sum(B * B, axis=1))
    scale = tie_handicap(m) / jnp.maximum(norms, LEAST_PART * rule.natural_scale + TINY)

    def take(k: Arrays, carry: tuple[Arrays, ...]) -> tuple[Arrays, ...]:
        W, Q, C, rest, z, independent, going, pivots = carry
        pivot = jnp.argmax(jnp.where(independent, -1.0, jnp.sum(W * W, axis=1)))
        again = jnp.where(going, Q @ W[pivot], 0.0)
        direction = W[pivot] - again @ Q
        norm = jnp.sqrt(jnp.sum(direction * direction))
        goes = (norm > rule.rank_tolerance) & ((k == 0) | going[k - 1])
        inverse = jnp.where(goes, 1.0 / norm, 0.0)
        direction = direction * inverse
        along = jnp.where(independent, 0.0, W @ direction).at[pivot].set(norm * goes)
        coordinate = (rest[pivot] - again @ z) * inverse
        C = C.at[pivot].add(jnp.where(goes, again, 0.0)).at[:, k].set(along)
        W = W - along[:, None] * direction
        W = jnp.where(goes, W.at[pivot].set(0.0), W)
        return (
            W,
            Q.at[k].set(direction),
            C,
            rest - along * coordinate,
            z.at[k].set(coordinate),
            independent.at[pivot].set(independent[pivot] | goes),
            going.at[k].set(goes),
            pivots.at[k].set(pivot),
        )

    start = (
        B * scale[:, None],
        jnp.zeros((count, nv)),
        jnp.zeros((m, count)),
        b * scale,
        jnp.zeros(count),
        jnp.zeros(m, bool),
        jnp.zeros(count, bool),
        jnp.zeros(count, int),
    )
    W, Q, C, _, z, independent, going, pivots = jax.lax.fori_loop(0, count, take, start)
    residual_norm = jnp.sqrt(jnp.sum(W * W, axis=1))
    return Basis(Q, C, residual_norm, scale, pivots, z, independent, going)


def _check(
    A: Arrays, b: Arrays, qdd: Arrays, free: Arrays, violation: Arrays, basis: Basis, rule: Rule
) -> Arrays:
    """Tell rows left out that hold anyway from near-dependent and from contradicting ones."""
    _, jnp = jax_modules()
    size = jnp.abs(A) @ (jnp.abs(free) + jnp.abs(qdd)) + jnp.abs(b) + NEGLIGIBLE_ACCELERATION
    off = ~basis.independent & (jnp.abs(violation) > rule.consistency_tolerance * size)
    exact = basis.residual_norm <= EXACTLY_DEPENDENT
    return jnp.max(jnp.where(off, jnp.where(exact, _INCONSISTENT, _NEAR_SINGULAR), _OK))


def forces(found: Motion, *, redundant: bool) -> tuple[Arrays, Arrays, Arrays]:
    """Ideal constraint force, multipliers of least norm, and which of them are unique."""
    jax, jnp = jax_modules()
    basis: Any = found.basis
    if basis is None:
        return jnp.zeros_like(found.qdd), found.violation, jnp.zeros(0, bool)
    force = found.factor @ (found.missing @ basis.Q)
    # Cᵀ λ̂ = y on the independent rows, in the order of their directions
    triangle = basis.C[basis.pivots] + jnp.diag(jnp.where(basis.going, 0.0, 1.0))

    def take(step: Arrays, some: Arrays) -> Arrays:
        k = len(triangle) - 1 - step
        below = jnp.arange(len(triangle)) > k
        rest = jnp.sum(jnp.where(below, triangle[:, k] * some, 0.0))
        return some.at[k].set((some[k] - rest) / triangle[k, k])

    some = jax.lax.fori_loop(0, len(triangle), take, found.missing)
    some = jnp.where(basis.going, some, 0.0)
    multipliers = jnp.zeros_like(basis.scale).at[basis.pivots].add(some) * basis.scale
    if not redundant:
        return force, multipliers, jnp.ones_like(basis.independent)
    # The range of C is what multipliers are determined in, and where the least of them are.
    whole = _range(basis.C / basis.scale[:, None], basis.going)
    multipliers = whole @ (whole.T @ multipliers)
    scaled = _range(basis.C, basis.going)
    unique = 1.0 - jnp.sum(scaled * scaled, axis=1) <= KERNEL_ROUNDING**2
    return force, multipliers, unique


def _range(columns: Arrays, going: Arrays) -> Arrays:
    """Orthonormal basis of the first columns, those that go; the others are zero."""
    jax, jnp = jax_modules()

    def take(k: Arrays, basis: Arrays) -> Arrays:
        column = columns[:, k]
        for _ in range(2):
            column = column - basis @ (column @ basis)
        norm = jnp.sqrt(jnp.sum(column * column))
        return basis.at[:, k].set(jnp.where(going[k], column / norm, 0.0))

    return jax.lax.fori_loop(0, columns.shape[1], take, jnp.zeros_like(columns))
