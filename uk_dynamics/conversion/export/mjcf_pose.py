# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where an element of MJCF is in its body."""

from xml.etree import ElementTree as ET

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.conversion.robot.urdf_text import numbers
from uk_dynamics.core.linalg import to_quaternion


def set_pose(node: ET.Element, pose: urdf.Pose) -> None:
    """Say where an element is, if it is not at the origin of its body."""
    if pose.translation.any():
        node.set("pos", numbers(pose.translation))
    if not np.array_equal(pose.rotation, np.eye(3)):
        node.set("quat", wxyz(pose))


def wxyz(pose: urdf.Pose) -> str:
    """The rotation as MuJoCo has it."""
    return numbers(np.roll(to_quaternion(pose.rotation), 1))
