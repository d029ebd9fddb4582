"""Friction compensation: efforts that include the friction they cause by loading the joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from uk_dynamics.core.equation.solution import Solution
from uk_dynamics.core.servo.servo_law import ServoSolution
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics, Prepared
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State

_STEPS = 50
_AGREEMENT = 1e-11  # of the largest effort


def compensate_friction(
    dynamics: Dynamics,
    prepared: Prepared,
    state: State,
    inputs: Inputs,
    S: Array,
    law: Callable[[Array], ServoSolution],
    first: ServoSolution,
) -> tuple[ServoSolution, Solution]:
    """Fixed-point iteration of a servo law and the friction that its efforts cause.

    Args:
        dynamics: Of the mechanism.
        prepared: Its terms at the state, with zero motor efforts.
        state: Positions, velocities and time.
        inputs: What acts on the mechanism besides its motors.
        S: Generalized forces per unit effort, (nv, motors).
        law: Efforts from the acceleration with zero motor efforts, (nv,).
        first: Result of the law with the friction at zero motor efforts.

    Returns:
        The last result of the law, and the motion with this friction but zero motor efforts. If
        the iteration does not converge, as near jamming, no row counts as reachable.
    """
    terms = prepared.terms
    servo = first
    for _ in range(_STEPS):
        loaded = prepared._replace(terms=terms._replace(F=terms.F + S @ servo.efforts))
        friction = dynamics.solve(loaded, state, inputs).nonideal
        free = prepared.factorization.solve(terms.F, terms.b, nonideal=friction)
        last, servo = servo, law(free.qdd)
        change = float(np.abs(servo.efforts - last.efforts).max(initial=0.0))
        if change <= _AGREEMENT * float(np.abs(servo.efforts).max(initial=0.0)):
            return servo, free
    return replace(servo, reachable=np.zeros_like(servo.reachable)), free
