"""Consistency of states and accelerations with the constraints, for inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.constraints.rows import ConstraintTerms
from uk_dynamics.core.linalg import NEGLIGIBLE_ACCELERATION, coordinate_scale
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.resolution import Array, DynamicsTerms, State

_OPEN = 1e-6  # m or rad (rates per s): about the rounding of hand-written numbers
_AGREES = 1e-6  # of the accelerations that cancel in a row


def check_state(mechanism: Mechanism, rows: ConstraintTerms, state: State) -> None:
    """Refuse a state that violates the constraints: its forces would be meaningless."""
    constraints = mechanism.constraints
    speed = 1.0 + float(np.abs(state.v).max(initial=0.0))
    for values, chosen, what in (
        (rows.residual, constraints.position_rows, "positions"),
        (rows.rate / speed, constraints.motion_rows, "velocities"),
    ):
        off = np.where(chosen, np.abs(values), 0.0)
        worst = int(np.argmax(off)) if len(off) else -1
        if worst >= 0 and off[worst] > _OPEN:
            raise StateError(
                f"the {what} contradict {constraints.row_names[worst]} by {off[worst]:.3g}; "
                "mechanism.start() and mechanism.dynamics().project() give states that agree"
            )


def consistent_acceleration(
    mechanism: Mechanism, terms: DynamicsTerms, qdd: Mapping[str, float] | ArrayLike
) -> Array:
    """An acceleration that agrees with the constraints, (nv,), in m/s² or rad/s²."""
    model, A, b = mechanism.model, terms.A, terms.b
    given = model.to_velocities(qdd)
    if isinstance(qdd, Mapping):
        free = np.ones(model.nv, dtype=bool)
        for name in qdd:
            free[model.velocity_index(name)] = False
        given = _solve_free(mechanism, terms, given, free)
    off = np.abs(A @ given - b)
    size = np.abs(b) + np.abs(A) @ np.abs(given) + NEGLIGIBLE_ACCELERATION
    worst = int(np.argmax(off / size)) if len(b) else -1
    if worst >= 0 and off[worst] > _AGREES * size[worst]:
        raise StateError(
            f"the accelerations contradict {mechanism.row_names[worst]} by {off[worst]:.3g} m/s² "
            "or rad/s²; give fewer by name, and the others follow from the loops"
        )
    return given


def _solve_free(mechanism: Mechanism, terms: DynamicsTerms, given: Array, free: Array) -> Array:
    """The given accelerations, and the others as the constraints determine them, (nv,)."""
    names = mechanism.model.velocity_names
    result = np.where(free, 0.0, given)
    if not free.any():
        return result
    scale = coordinate_scale(terms.M.diagonal())[free]
    rows = terms.A[:, free] * scale
    norms = np.linalg.norm(rows, axis=1)
    norms[norms == 0.0] = 1.0
    right = (terms.b - terms.A @ result) / norms
    _, values, directions = np.linalg.svd(rows / norms[:, None], full_matrices=True)
    rank = int(np.count_nonzero(values > mechanism.spec.solver.rank_tolerance))
    if rank < len(scale):
        loose = np.abs(directions[rank:] * scale).max(axis=0)
        undetermined = compress(compress(names, free), loose > 1e-6 * loose.max())
        raise StateError(
            f"the accelerations given do not determine those of {', '.join(undetermined)}; "
            f"give {len(scale) - rank} more"
        )
    result[free] = scale * np.linalg.lstsq(rows / norms[:, None], right, rcond=1e-9)[0]
    return result
