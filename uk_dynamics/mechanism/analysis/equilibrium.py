# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A state at rest, as data."""

from __future__ import annotations

from dataclasses import dataclass

from uk_dynamics.mechanism.resolution.state import Inputs, State


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state at rest that stays at rest.

    Attributes:
        state: Loops closed, velocities zero.
        holding: Force that each held joint needs, by name, in N or N·m.
        inputs: Under which it rests: the given forces and the holding ones.
    """

    state: State
    holding: dict[str, float]
    inputs: Inputs
