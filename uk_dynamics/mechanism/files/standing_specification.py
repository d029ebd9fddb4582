# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which contacts stand while tasks are served, as a tasks file says."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from uk_dynamics.core.servo import LONG_AGO
from uk_dynamics.exceptions import MechanismFileError

Interval = tuple[float, float]


@dataclass(frozen=True)
class StandingSpec:
    """A contact of the mechanism file, or an entry of several points, that stands."""

    name: str  # its key in the file
    # when: always, while it is closed, or intervals from to, in s
    stands: Literal["always", "detected"] | tuple[Interval, ...] = "always"
    friction: float | None = None  # μ that forces may use; None: that of the mechanism file
    force_limit: float = np.inf  # of the normal force of each point, in N
    ramp: float = 0.05  # time in which forces rise and fall where a contact begins or ends, in s

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """When it stands by its plan; always, where it has none."""
        return ((-LONG_AGO, LONG_AGO),) if isinstance(self.stands, str) else self.stands

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any], file: str) -> "StandingSpec":
        """Build it from checked data.

        Raises:
            MechanismFileError: Intervals that are empty or overlap.
        """
        values = dict(data)
        stands = values.get("stands", cls.stands)
        if not isinstance(stands, str):
            values["stands"] = intervals = tuple((float(a), float(b)) for a, b in stands)
            ends = [end for interval in intervals for end in interval]
            if any(a >= b for a, b in pairwise(ends)):
                found = ", ".join(f"[{a:g}, {b:g}]" for a, b in intervals)
                problem = f"found {found}; intervals are [from, to] one after the other"
                raise MechanismFileError(problem, file=file, place=f"contacts.{name}.stands")
        return cls(name, **values)
