# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The accelerations that motors can cause within their effort limits."""

from __future__ import annotations

import numpy as np

from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism


def reachable_acceleration(
    mechanism: Mechanism,  # with the motors
    dynamics: InterpretedDynamics,  # its evaluator
    state: State,  # where the mechanism is
    efforts: Array,  # of the motors that have no limit, (motors,), in N or N·m
    # active constraints and structural references; None: as in the mechanism file
    inputs: Inputs | None = None,
) -> Array:
    """Largest acceleration of each velocity coordinate, (nv,), in m/s² or rad/s².

    |q̈ of zero efforts| + Σ |N S| · limit, N = Z(ZᵀMZ)⁻¹Zᵀ as in the servo law: a bound, since not
    every sign of every effort serves the same coordinate.

    Raises:
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    actuators = mechanism.actuators
    limits = actuators.effort_limits
    largest = np.where(np.isfinite(limits), limits, np.abs(efforts))
    inputs = inputs or Inputs()
    prepared = dynamics.prepare(state, inputs)
    reach: Array = np.abs(dynamics.solve(prepared, state, inputs).qdd)
    for effects, effort in zip(actuators.matrix.T, largest, strict=True):
        reach = reach + effort * np.abs(prepared.factorization.admissible(effects))
    return reach
