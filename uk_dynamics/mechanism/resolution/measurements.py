# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which joints have an encoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.exceptions import UnknownNameError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.resolution.actuators import Actuators
from uk_dynamics.model import RobotModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measurements:
    """The measured joints of a mechanism."""

    names: tuple[str, ...]  # In declared order; those of motors in the order of the motors
    # Standard deviation of each measurement, (d,), in rad or m; 1 where none is declared, so that
    # all count alike
    deviations: Array

    def __len__(self) -> int:
        """Number of measured joints."""
        return len(self.names)

    @classmethod
    def of(cls, spec: MechanismSpec, model: RobotModel, actuators: Actuators) -> Measurements:
        """Look up the joints; without ``measured`` they are those that motors drive."""
        if not spec.measured:
            driven = [
                joint
                for motor in actuators.matrix.T
                for joint in (model.velocity_names[i] for i in np.flatnonzero(motor))
                if joint in model.joint_names
            ]
            names = tuple(dict.fromkeys(driven))
            return cls(names, np.ones(len(names)))
        for name, _ in spec.measured:
            if name not in model.joint_names:
                raise UnknownNameError(
                    "joint", name, model.joint_names, file=spec.file, place="measured"
                )
        names = tuple(name for name, _ in spec.measured)
        return cls(names, np.array([1.0 if s is None else s for _, s in spec.measured]))
