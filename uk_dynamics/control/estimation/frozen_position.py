# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Measurements that stand still although the machine has to move: a stopped encoder, or old values.

A position that does not change by a single bit for a while is compared with the way that the model
takes it meanwhile: with the velocity that was measured last, and the accelerations of the efforts
since. Each such time is judged on its own, and dry friction holds what it can, so that a joint that
rests is not taken for a fault.
"""

from collections.abc import Callable, Sequence

import numpy as np

from uk_dynamics.forces import PassiveForces
from uk_dynamics.mechanism.resolution import Array

# m/s or rad/s: sliding at which dry friction has its full value, and damping hardly any.
SLIDING = 0.01


class FrozenPositionWatch:
    """Watches the positions of joints; not for threads."""

    def __init__(self, names: Sequence[str], passive: PassiveForces) -> None:
        """Watch joints by name, whose friction is among the passive forces of the machine."""
        self.longest = 0.1  # s for which a position may stand still in any motion
        self.largest = 2e-4  # m or rad: the model's motion in that time that is a fault; 0: none
        self._names, self._passive = tuple(names), passive
        self._q = np.full(len(names), np.nan)
        self._still, self._way, self._speed = np.zeros((3, len(names)))

    def forget(self) -> None:
        """The next positions have no predecessors."""
        self._q[:] = np.nan

    def look(
        self,
        elapsed: float,  # time since the last positions, in s
        q: Array,  # measured positions, (n,), in m or rad; those that are NaN are not watched
        v: Array,  # measured velocities, (n,), in m/s or rad/s
        # of the model under efforts (n,) in addition to those that act, in N or N·m; asked only
        # while something stands still
        acceleration: Callable[[Array], Array],
    ) -> str:
        """Which joint stands still and how far the model has moved it; empty for none."""
        moved = q != self._q
        self._begin(moved, q, v)
        if moved.all() or not self.largest > 0.0:
            return ""
        free = acceleration(np.zeros(len(q)))
        rubbed = acceleration(self._passive.resistance(SLIDING * np.sign(free)))
        a = np.where(free * rubbed > 0.0, rubbed, 0.0)
        self._still += elapsed
        self._way += elapsed * self._speed
        self._speed += elapsed * a
        late = ~moved & (self._still >= self.longest)
        frozen = late & (np.abs(self._way) > self.largest)
        if not frozen.any():
            self._begin(late, q, v)
            return ""
        joint = int(np.argmax(np.abs(self._way) * frozen))
        return (
            f"{self._names[joint]} stands still for {self._still[joint]:.3g} s, in which the model"
            f" moves by {abs(self._way[joint]):.3g} m or rad"
        )

    def _begin(self, chosen: Array, q: Array, v: Array) -> None:
        """Watch some of the joints from here."""
        self._q[chosen] = q[chosen]
        self._still[chosen] = self._way[chosen] = 0.0
        self._speed[chosen] = v[chosen]
