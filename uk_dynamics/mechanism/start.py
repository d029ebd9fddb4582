"""Where a motion starts: velocities that agree with the constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from uk_dynamics.core.mass_factor import coordinate_scale
from uk_dynamics.core.row_basis import ZERO_ROW
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.state import Array

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism

_NEWTON_STEPS = 30
_ROUNDING = 1e-12  # of rates, against the largest of them


def consistent_velocity(
    mechanism: Mechanism, t: float, q: Array, v: Array, held: Sequence[str]
) -> Array:
    """The velocities that constraints ask for when some joints have theirs.

    The other joints move as little as they can, each weighed by the root of its own inertia.

    Args:
        mechanism: What moves.
        t: Time for which constraints that change in time hold, in s.
        q: A configuration on the constraints, (nq,).
        v: Velocities of the held joints, and where the others start, (nv,).
        held: Names of the joints, or single velocity coordinates, that keep theirs.

    Returns:
        Velocities, (nv,), in m/s or rad/s.

    Raises:
        StateError: The held velocities contradict a constraint, which is named.
    """
    constraints, model = mechanism.constraints, mechanism.model
    chosen = np.flatnonzero(constraints.motion_rows & mechanism.hierarchy.acting())
    if not len(chosen):
        return v
    free = np.ones(model.nv, dtype=bool)
    for name in held:
        free[model.velocity_index(name)] = False
    workspace = model.workspace()
    reference = mechanism.references.sample(t)
    tolerance = mechanism.spec.solver.rank_tolerance
    found = v.copy()
    for _ in range(_NEWTON_STEPS):
        workspace.update(q, found)
        rows = constraints.evaluate(workspace, t, q, found, reference)
        rate = rows.rate[chosen]
        size = 1.0 + float(np.abs(found).max())
        if float(np.abs(rate).max()) <= _ROUNDING * size:
            return found
        scale = coordinate_scale(workspace.mass)[free]
        A = rows.A[np.ix_(chosen, np.flatnonzero(free))] * scale
        # rows at their own size, so that the rank rule of the solver holds for each of them; but
        # not rounding of nothing, such as rows across the plane of a planar loop
        norm = np.linalg.norm(A, axis=1, keepdims=True)
        norm[norm <= ZERO_ROW * norm.max(initial=0.0)] = 1.0
        step = np.linalg.lstsq(A / norm, -rate / norm[:, 0], rcond=0.1 * tolerance)[0]
        found[free] += scale * step
        if constraints.linear_in_rates and float(np.abs(scale * step).max()) <= _ROUNDING * size:
            break
    worst = int(np.argmax(np.abs(rate)))
    if abs(rate[worst]) > 1e-9 * size:
        raise StateError(
            f"the initial velocities contradict {mechanism.row_names[chosen[worst]]} by "
            f"{abs(rate[worst]):.3g} m/s or rad/s; give fewer of them, or others",
            file=mechanism.spec.file,
            place="initial_velocity",
        )
    return found
