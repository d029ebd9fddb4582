"""Motors: which generalized forces they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uk_dynamics.exceptions import StateError, UnknownNameError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Actuators:
    """The motors of a mechanism (the servo paper's B, (17)).

    Attributes:
        names: Motor names in declared order.
        matrix: S, (nv, motors): generalized force τ = S u.
        effort_limits: (motors,), in N or N·m, infinite where none is declared.
        power_limits: (motors,), in W, infinite where none is declared.
        rate_limits: Of commanded efforts, (motors,), in N/s or N·m/s, infinite where none is
            declared.
    """

    names: tuple[str, ...]
    matrix: Array
    effort_limits: Array
    power_limits: Array
    rate_limits: Array

    def __len__(self) -> int:
        """Number of motors."""
        return len(self.names)

    def efforts(self, values: Mapping[str, float] | ArrayLike) -> Array:
        """Efforts as a checked, fresh array, (motors,), in N or N·m.

        Args:
            values: By motor name (missing ones are zero) or all of them in declared order.

        Raises:
            UnknownNameError: There is no such motor.
            StateError: Wrong size, no numbers, or not finite.
        """
        if isinstance(values, Mapping):
            for name in values:
                if name not in self.names:
                    raise UnknownNameError("actuator", name, self.names)
            values = [values.get(name, 0.0) for name in self.names]
        try:
            array = np.array(values, dtype=float)
        except (TypeError, ValueError):
            raise StateError(f"expected numbers as efforts, found {values!r:.80}") from None
        if array.shape != (len(self.names),):
            raise StateError(
                f"expected {len(self.names)} efforts ({', '.join(self.names)}), "
                f"found shape {array.shape}"
            )
        if not np.all(np.isfinite(array)):
            bad = self.names[int(np.flatnonzero(~np.isfinite(array))[0])]
            raise StateError(f"the effort of {bad} is not finite")
        return array

    def generalized_force(self, values: Mapping[str, float] | ArrayLike) -> Array:
        """τ = S u, (nv,), in N or N·m; see :meth:`efforts` for the argument and errors."""
        force: Array = self.matrix @ self.efforts(values)
        return force

    def by_name(self, efforts: Array) -> dict[str, float]:
        """Efforts (motors,) as a mapping motor → N or N·m."""
        return dict(zip(self.names, efforts.tolist(), strict=True))
