# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motors: which generalized forces they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.arrays import Array
from uk_dynamics.core.servo import LIMITS
from uk_dynamics.exceptions import StateError, UnknownNameError
from uk_dynamics.mechanism.files.specification import ActuatorSpec
from uk_dynamics.mechanism.files.wording import located
from uk_dynamics.model import RobotModel


def resolve_actuators(specs: Sequence[ActuatorSpec], model: RobotModel, file: str) -> Actuators:
    """Look up the joints of motors; a limit not declared is that of a single joint's URDF."""
    matrix = np.zeros((model.nv, len(specs)))
    limits = np.array([[getattr(spec, key) or np.inf for spec in specs] for key in LIMITS])
    for column, spec in enumerate(specs):
        key = "joint" if len(spec.joints) == 1 else "joints"
        for joint, coefficient in spec.joints:
            with located(file, f"actuators.{spec.name}.{key}"):
                index = model.velocity_index(joint)
            matrix[index, column] += coefficient
            if spec.effort_limit is None and len(spec.joints) == 1:
                limits[0, column] = model.effort_limit[index] / abs(coefficient)
    names = tuple(spec.name for spec in specs)
    return Actuators(names, matrix, limits)


@dataclass(frozen=True)
class Actuators:
    """The motors of a mechanism (the servo paper's B, (17))."""

    names: tuple[str, ...]  # motor names in declared order
    matrix: Array  # S, (nv, motors): generalized force τ = S u
    # in the order of ``LIMITS`` of core/servo, (limits, motors), infinite where none is declared
    limits: Array

    @property
    def effort_limits(self) -> Array:
        """Limits of the efforts, (motors,), in N or N·m, infinite where none is declared."""
        efforts: Array = self.limits[0]
        return efforts

    def stepwise(self, period: float) -> Array:
        """The limits, those of derivatives of efforts as steps of a period in s."""
        orders = np.array(list(LIMITS.values()))
        scaled: Array = self.limits * period ** orders[:, None]
        return scaled

    @property
    def limits_of_derivatives(self) -> dict[str, str]:
        """Keys of such limits by the motors that have them; they need a control period."""
        return {
            name: key
            for row, (key, order) in zip(self.limits, LIMITS.items(), strict=True)
            for name, limit in zip(self.names, row.tolist(), strict=True)
            if order and np.isfinite(limit)
        }

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
