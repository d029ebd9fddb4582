# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Forward dynamics in one call, for interactive use."""

from uk_dynamics.core.equation import Solution
from uk_dynamics.exceptions import expect
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import State, Values
from uk_dynamics.mechanism_class import Mechanism


def forward_dynamics(mechanism: Mechanism, state: State, tau: Values | None = None) -> Solution:
    """Constrained acceleration and constraint forces (review (36)).

    Contacts, stops and ropes close, stick and slide as the motion that begins at the state asks
    for; :meth:`Mechanism.contacts` tells how. For many evaluations keep ``mechanism.dynamics()``
    and call its ``evaluate``, over contacts with ``mechanism.beginning(state, inputs)``.

    Args:
        mechanism: What moves.
        state: Positions, velocities and time.
        tau: Generalized forces by joint name or (nv,), in N or N·m; None is zero. Of forces on
            links: ``mechanism.wrench_forces({link: force}, state.q)``.

    Raises:
        InputError: Unknown joints, wrong sizes or non-finite values; a contact that is inside its
            surface, or strikes it, or whose friction leaves no motion (Painlevé).
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
    expect("state", state, State, "mechanism.start()")
    inputs = mechanism.beginning(state, mechanism.inputs(tau))
    return InterpretedDynamics(mechanism).evaluate(state, inputs)
