"""What a controller without tasks decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from uk_dynamics.core.solution import Solution
from uk_dynamics.mechanism.state import Array


@dataclass(frozen=True, slots=True)
class RestCommand:
    """What was decided at one state.

    Attributes:
        efforts: Motor efforts in declared order, (motors,), within the limits, in N or N·m.
        requested: The same without limits.
        limited_by: ``effort``, ``power`` or ``rate`` by motor name, for those at a limit.
        unreachable: Velocity coordinates that the motors cannot accelerate as meant, limits aside.
        qdd: The acceleration that ``efforts`` cause without friction, (nv,), in m/s² or rad/s².
        free: Solution of the structure with motors at rest, without friction.
        settled: Whether no better efforts exist within the limits.
    """

    efforts: Array
    requested: Array
    limited_by: Mapping[str, str]
    unreachable: tuple[str, ...]
    qdd: Array
    free: Solution
    settled: bool = True

    @property
    def saturated(self) -> tuple[str, ...]:
        """Names of the motors that are not given what was requested."""
        return tuple(self.limited_by)
