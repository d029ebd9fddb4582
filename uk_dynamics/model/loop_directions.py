# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Directions in which the joints of a loop move, and whether they share a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from uk_dynamics.model.urdf.description import Array

if TYPE_CHECKING:
    from uk_dynamics.model.kinematics.workspace import Workspace
    from uk_dynamics.model.robot_model import RobotModel

_MANY = 0.5  # of the axes must agree before the others are said to deviate


@dataclass(frozen=True)
class LoopDirections:
    """What the joints between two frames do at a configuration, in world axes."""

    # normal of the plane that most joints move in, unit, (3,); None: they share none
    normal: Array | None
    # angle of each joint's motion out of that plane, in rad, by joint name: of a revolute axis to
    # the normal, of a prismatic axis to the plane
    deviations: dict[str, float]

    def planar(self, tolerance: float) -> bool:
        """Whether all joints move in one plane, up to an angle in rad."""
        return self.normal is not None and all(
            deviation <= tolerance for deviation in self.deviations.values()
        )


def loop_directions(
    model: RobotModel,
    workspace: Workspace,  # updated at the configuration
    parent: int,  # number of a frame
    child: int,  # number of the other
) -> LoopDirections:
    """Look at the joints that move one frame relative to another."""
    velocities, _ = model.ancestry.between(parent, child)
    if not set(velocities) <= set(model.coordinates.velocity_of_joint.tolist()):
        return LoopDirections(None, {})  # a floating base moves in all directions
    jacobian = np.asarray(workspace.jacobian)
    turning, sliding = {}, {}
    for velocity in velocities:
        name = model.velocity_names[velocity]
        angular = jacobian[3:, velocity]
        if np.linalg.norm(angular) > 0.5:
            turning[name] = angular
        else:
            sliding[name] = jacobian[:3, velocity]
    normal = _common_direction(list(turning.values()))
    if normal is None:
        return LoopDirections(None, {})
    deviations = {name: _angle(axis, normal) for name, axis in turning.items()}
    deviations |= {name: np.pi / 2 - _angle(axis, normal) for name, axis in sliding.items()}
    return LoopDirections(normal, {name: float(abs(d)) for name, d in deviations.items()})


def _angle(one: Array, other: Array) -> float:
    """Between two lines, 0 to π/2."""
    across = float(np.linalg.norm(np.cross(one, other)))
    return float(np.arctan2(across, abs(float(one @ other))))


def _common_direction(axes: list[Array]) -> Array | None:
    """The direction that most axes have, one of them; None where not half of them agree."""
    best: tuple[int, float, Array] | None = None
    for axis in axes:
        angles = [_angle(axis, other) for other in axes]
        close = [angle for angle in angles if angle < 0.2]
        key = (len(close), -sum(close))
        if best is None or key > best[:2]:
            best = (*key, axis)
    if best is None or best[0] < max(2, _MANY * len(axes)):
        return None
    return best[2]
