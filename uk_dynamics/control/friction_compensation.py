"""Efforts that allow for the friction which they cause themselves by loading the joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from uk_dynamics.core.servo import ServoSolution
from uk_dynamics.core.solution import Solution
from uk_dynamics.mechanism.dynamics import Dynamics, Prepared
from uk_dynamics.mechanism.state import Array, Inputs, State

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
    """Repeat a servo law with the friction that its efforts lead to, until both agree.

    Args:
        dynamics: Of the mechanism.
        prepared: Its terms at the state, with the motors at rest.
        state: Where it is.
        inputs: What acts on it beside the motors.
        S: Generalized forces per unit effort, (nv, motors).
        law: Efforts from the acceleration with the motors at rest, (nv,).
        first: What it gives with the friction that acts while they rest.

    Returns:
        What the law gave last, and the motion with this friction but without motors. Where it does
        not settle, as near a jam, no row counts as reachable.
    """
    terms = prepared.terms
    servo = first
    for _ in range(_STEPS):
        loaded = prepared._replace(terms=terms._replace(F=terms.F + S @ servo.efforts))
        friction = dynamics.solve(loaded, state, inputs).nonideal
        rubbing = prepared.factorization.solve(terms.F, terms.b, nonideal=friction)
        last, servo = servo, law(rubbing.qdd)
        change = float(np.abs(servo.efforts - last.efforts).max(initial=0.0))
        if change <= _AGREEMENT * float(np.abs(servo.efforts).max(initial=0.0)):
            return servo, rubbing
    return replace(servo, reachable=np.zeros_like(servo.reachable)), rubbing
