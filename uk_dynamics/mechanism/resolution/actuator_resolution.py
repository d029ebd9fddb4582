"""Motors of a mechanism file, their joints looked up in a robot by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uk_dynamics.mechanism.files.specification import ActuatorSpec
from uk_dynamics.mechanism.files.wording import located
from uk_dynamics.mechanism.resolution.actuators import Actuators
from uk_dynamics.model import RobotModel


def resolve_actuators(specs: Sequence[ActuatorSpec], model: RobotModel, file: str) -> Actuators:
    """Look up the joints of motors; a limit not declared is that of a single joint's URDF."""
    matrix = np.zeros((model.nv, len(specs)))
    limits = np.full(len(specs), np.inf)
    for column, spec in enumerate(specs):
        key = "joint" if len(spec.joints) == 1 else "joints"
        for joint, coefficient in spec.joints:
            with located(file, f"actuators.{spec.name}.{key}"):
                index = model.velocity_index(joint)
            matrix[index, column] += coefficient
            if spec.effort_limit is None and len(spec.joints) == 1:
                limits[column] = model.effort_limit[index] / abs(coefficient)
        if spec.effort_limit is not None:
            limits[column] = spec.effort_limit
    powers = [np.inf if spec.power_limit is None else spec.power_limit for spec in specs]
    rates = [np.inf if spec.rate_limit is None else spec.rate_limit for spec in specs]
    names = tuple(spec.name for spec in specs)
    return Actuators(names, matrix, limits, np.array(powers), np.array(rates))
