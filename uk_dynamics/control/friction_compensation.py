# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Friction compensation: efforts that include the friction they cause by loading the joints."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from uk_dynamics.core.equation import Solution
from uk_dynamics.core.servo import ServoSolution
from uk_dynamics.mechanism.dynamics import InterpretedDynamics, Prepared
from uk_dynamics.mechanism.resolution import Array, Inputs, State

_STEPS = 50
_AGREEMENT = 1e-11  # of the largest effort


def compensate_friction(
    dynamics: InterpretedDynamics,
    prepared: Prepared,
    state: State,
    inputs: Inputs,
    S: Array,
    law: Callable[[Solution], ServoSolution],  # of the motion without efforts
    first: ServoSolution,
) -> tuple[ServoSolution, Solution]:
    """Fixed-point iteration of a servo law and the friction that its efforts cause."""
    terms = prepared.terms
    servo = first
    for _ in range(_STEPS):
        loaded = prepared._replace(terms=terms._replace(F=terms.F + S @ servo.efforts))
        friction = dynamics.solve(loaded, state, inputs).nonideal
        free = prepared.factorization.solve(terms.F, terms.b, nonideal=friction)
        last, servo = servo, law(free)
        change = float(np.abs(servo.efforts - last.efforts).max(initial=0.0))
        if change <= _AGREEMENT * float(np.abs(servo.efforts).max(initial=0.0)):
            return servo, free
    return replace(servo, reachable=np.zeros_like(servo.reachable)), free
