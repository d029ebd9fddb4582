"""Weighted sums of joints as files declare them, and as a robot has them."""

from __future__ import annotations

from collections.abc import Mapping

from uk_dynamics.constraints.constraint import JointTerm
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.wording import located
from uk_dynamics.model.robot_model import RobotModel

WeightedJoints = tuple[tuple[str, float], ...]


def weighted_joints(data: Mapping[str, float], *, file: str, place: str) -> WeightedJoints:
    """Joints with their factors, those of factor zero left out.

    Raises:
        MechanismFileError: No factor differs from zero.
    """
    joints = tuple((joint, float(factor)) for joint, factor in data.items() if factor != 0)
    if not joints:
        problem = "every factor is zero; give a joint a factor, such as 1.0"
        raise MechanismFileError(problem, file=file, place=place)
    return joints


def joint_terms(
    joints: WeightedJoints, model: RobotModel, *, file: str, place: str
) -> tuple[JointTerm, ...]:
    """Look up the joints of a weighted sum.

    Raises:
        UnknownNameError: A joint does not exist.
    """
    with located(file, place):
        return tuple(
            JointTerm(model.position_index(name), model.velocity_index(name), factor)
            for name, factor in joints
        )
