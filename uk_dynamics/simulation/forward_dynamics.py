"""One evaluation in one call, for a notebook."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from uk_dynamics.core.solution import Solution
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import State


def forward_dynamics(
    mechanism: Mechanism, state: State, tau: Mapping[str, float] | ArrayLike | None = None
) -> Solution:
    """Constrained acceleration and constraint forces (review (36)).

    Keep ``mechanism.dynamics()`` and call its ``evaluate`` where this is done often.

    Args:
        mechanism: What moves.
        state: Where it is.
        tau: Generalized forces by joint name or (nv,), in N or N·m; None is zero.

    Raises:
        InputError: Unknown joints, wrong sizes or non-finite values.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    return InterpretedDynamics(mechanism).evaluate(state, mechanism.inputs(tau))
