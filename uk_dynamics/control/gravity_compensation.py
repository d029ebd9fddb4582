# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Gravity compensation: motors balance weight, springs and other static forces."""

from __future__ import annotations

import numpy as np

from uk_dynamics.control.joint_space_controller import JointSpaceController
from uk_dynamics.mechanism.resolution import Array, State


class GravityCompensation(JointSpaceController):
    """Motors balance weight, springs and other static forces, and nothing else.

    A person who pushes the machine feels its inertia and friction, but not its weight.
    """

    def _target(self, state: State) -> tuple[State, Array]:
        zero = np.zeros_like(state.v)
        return State(state.t, state.q, zero), zero
