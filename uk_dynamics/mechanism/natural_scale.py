"""How large a row can be: the measure against which a vanishing row is zero."""

from __future__ import annotations

import numpy as np

from uk_dynamics.constraints.constraint_set import ConstraintSet
from uk_dynamics.core.mass_factor import SingularMass, coordinate_scale, mass_factor
from uk_dynamics.mechanism.state import Array
from uk_dynamics.model.robot_model import RobotModel

_SAMPLES = 5


def natural_row_scale(
    model: RobotModel, constraints: ConstraintSet, guess: Array, *, whiten: bool
) -> Array:
    """Largest norm of each row with parent and child taken apart, over some configurations.

    Taken apart nothing cancels, so a row that constrains what cannot move anyway (both frames on
    one body) shows as rounding against this scale.

    Args:
        model: The robot.
        constraints: Its constraints, m rows.
        guess: A configuration, (nq,); others are taken around it.
        whiten: Whether the solver whitens rows where M is regular; otherwise, and where M is
            singular, it scales their coordinates by 1/√M_jj.

    Returns:
        (m,), in the units of the rows that the solver sees, per root kg.
    """
    workspace = model.workspace()
    generator = np.random.default_rng(0)
    scale = np.zeros(len(constraints))
    for sample in range(_SAMPLES):
        step = generator.uniform(-1.0, 1.0, model.nv) if sample else np.zeros(model.nv)
        q = model.integrate(guess, step)
        workspace.update(q, np.zeros(model.nv))
        rows = constraints.natural_scale(workspace, q)
        mass = mass_factor(workspace.mass)
        if whiten and not isinstance(mass, SingularMass):
            rows = mass.whiten(rows.T).T
        else:
            rows = rows * coordinate_scale(workspace.mass)
        scale = np.maximum(scale, np.linalg.norm(rows, axis=1))
    return scale
