# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a contact, stop or rope does at a state, and how recordings and topics write it down."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.core.contact import Mode
from uk_dynamics.mechanism.resolution.one_sided import OneSided
from uk_dynamics.mechanism.resolution.state import Array

#: m/s or rad/s: what is slower neither separates nor slides.
SLOW = 1e-9


@dataclass(frozen=True, eq=False)
class Contact:
    """A contact, stop, rope or other one-sided constraint at one state.

    Attributes:
        name: Its name in the mechanism file.
        gap: What separates it, in m or rad; negative inside.
        rate: Of the gap, in m/s or rad/s.
        slip: Velocity of the contact point in the plane, along its x and y axes, (2,), in m/s; zero
            without friction.
        force: Normal force, and friction along x and y, (3,), in N or N·m.
        friction: μ, without unit.
        unique: Whether the force follows from the motion; where redundant loops or contacts share a
            load it does not, and is one of least norm, or one within the cones.
        begins_to_slide: Whether it is at rest in its plane, and will not be.
    """

    name: str
    gap: float
    rate: float
    slip: Array
    force: Array
    friction: float
    unique: bool
    begins_to_slide: bool = False

    @property
    def mode(self) -> Mode:
        """What it does: it is open, sticks or slips; closed without friction it slips."""
        if not self.force[0] > 0.0:
            return Mode.OPEN
        slides = self.begins_to_slide or np.hypot(*self.slip) > SLOW or not self.friction
        return Mode.SLIP if slides else Mode.STICK

    @property
    def slip_margin(self) -> float:
        """Part of the possible friction μ f_n that is not needed; 0 where it slips.

        Infinite where nothing touches.
        """
        if not self.force[0] > 0.0:
            return np.inf
        most = self.friction * self.force[0]
        return 1.0 - float(np.hypot(*self.force[1:])) / most if most > 0.0 else 0.0


def contact_row_names(one_sided: Sequence[OneSided]) -> tuple[str, ...]:
    """Names of the rows that recordings and topics have of contacts: normal, with friction x, y."""
    return tuple(
        f"{one.name}.{label}"
        for one in one_sided
        for label in ("normal", "x", "y")[: 3 if one.friction else 1]
        if one.dry is None
    )


def contact_rows(contacts: Iterable[Contact]) -> Array:
    """Gap, rate and force of these rows, (3, c), in m or rad, per s, and N or N·m."""
    found: list[tuple[float, float, float]] = []
    for one in contacts:
        found.append((one.gap, one.rate, float(one.force[0])))
        if one.friction:
            found += [(0.0, u, f) for u, f in zip(one.slip, one.force[1:], strict=True)]
    return np.array(found).reshape(-1, 3).T
