# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How large a row can be: the measure against which a vanishing row is zero."""

from __future__ import annotations

import numpy as np

from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.core.linalg import LEAST_PART, ZERO_ROW, SingularMass, coordinate_scale
from uk_dynamics.core.tree import factor_inertia
from uk_dynamics.mechanism.files import SolverSpec
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.model import RobotModel

_SAMPLES = 5


def natural_row_scale(
    model: RobotModel,
    constraints: ConstraintSet,
    guess: Array,
    solver: SolverSpec,
    *,
    length: float,
    whiten: bool,
) -> Array:
    """Largest norm of each row over some configurations, if nothing in it cancelled.

    A row that constrains what cannot move anyway (both frames on one body) is rounding against
    this scale, and a row smaller than the closure tolerance of the largest of its constraint is
    dependent: the axes of a measured machine are no closer to those it was built for.
    Rows are whitened where ``whiten`` and M is regular, else scaled by 1/√M_jj.
    """
    workspace = model.workspace()
    generator = np.random.default_rng(0)
    scale = np.zeros(len(constraints))
    typical = 0.0
    for sample in range(_SAMPLES):
        step = generator.uniform(-1.0, 1.0, model.nv) if sample else np.zeros(model.nv)
        q = model.integrate(guess, step)
        workspace.update(q, np.zeros(model.nv))
        rows = constraints.natural_scale(workspace, q)
        coordinates = coordinate_scale(workspace.mass.diagonal())
        with np.errstate(invalid="ignore"):  # what is not finite is refused in one line
            mass = factor_inertia(workspace.mass) if whiten else None
        if mass is not None and not isinstance(mass, SingularMass):
            rows = mass.whiten(rows.T).T
        else:
            rows = rows * coordinates
        scale = np.maximum(scale, np.sqrt((rows * rows).sum(axis=1)))
        typical = max(typical, float(coordinates.max(initial=0.0)))
    part = solver.closure_tolerance / (LEAST_PART * solver.rank_tolerance)
    for own in constraints.slices.values():
        scale[own] = np.maximum(scale[own], part * scale[own].max(initial=0.0))
    typical = max(typical * min(length, 1.0), float(scale.max(initial=0.0)))
    return np.where(scale <= ZERO_ROW * typical, typical, scale)
