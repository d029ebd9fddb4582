"""Forward dynamics in one call, for interactive use."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from uk_dynamics.core.equation.solution import Solution
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.resolution.state import State


def forward_dynamics(
    mechanism: Mechanism, state: State, tau: Mapping[str, float] | ArrayLike | None = None
) -> Solution:
    """Constrained acceleration and constraint forces (review (36)).

    For many evaluations keep ``mechanism.dynamics()`` and call its ``evaluate``.

    Args:
        mechanism: What moves.
        state: Positions, velocities and time.
        tau: Generalized forces by joint name or (nv,), in N or N·m; None is zero.

    Raises:
        InputError: Unknown joints, wrong sizes or non-finite values.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    return InterpretedDynamics(mechanism).evaluate(state, mechanism.inputs(tau))
