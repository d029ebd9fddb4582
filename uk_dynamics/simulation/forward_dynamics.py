# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Forward dynamics in one call, for interactive use."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from uk_dynamics.core.equation import Solution
from uk_dynamics.exceptions import expect
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism


def forward_dynamics(
    mechanism: Mechanism, state: State, tau: Mapping[str, float] | ArrayLike | None = None
) -> Solution:
    """Constrained acceleration and constraint forces (review (36)).

    For many evaluations keep ``mechanism.dynamics()`` and call its ``evaluate``.

    Args:
        mechanism: What moves.
        state: Positions, velocities and time.
        tau: Generalized forces by joint name or (nv,), in N or N·m; None is zero. Of forces on
            links: ``mechanism.wrench_forces({link: force}, state.q)``.

    Raises:
        InputError: Unknown joints, wrong sizes or non-finite values.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
    expect("state", state, State, "mechanism.start()")
    return InterpretedDynamics(mechanism).evaluate(state, mechanism.inputs(tau))
