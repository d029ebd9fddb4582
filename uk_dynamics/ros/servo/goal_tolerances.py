"""Path and goal tolerances of a joint trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.ros.topics.messages import Array


class JointErrors(NamedTuple):
    """Tracking errors of joints.

    Attributes:
        names: Names of the joints.
        desired: Positions, velocities and accelerations, (joints, 3).
        position: Actual minus desired, (joints,), in m or rad.
        velocity: Actual minus desired, (joints,), in m/s or rad/s.
    """

    names: tuple[str, ...]
    desired: Array
    position: Array
    velocity: Array


class GoalTolerances:
    """Tolerances of one goal, by joint; those that are left out, 0 or negative set no limit.

    Attributes:
        time: Time after the end of the trajectory in which the goal may still be reached, in s.
    """

    def __init__(self, request: Any, names: Sequence[str]) -> None:
        """Read the tolerances of a goal of control_msgs for its joints."""
        self._path = _by_joint(request.path_tolerance, names)
        self._end = _by_joint(request.goal_tolerance, names)
        duration = request.goal_time_tolerance
        self.time = duration.sec + 1e-9 * duration.nanosec

    @staticmethod
    def problem(request: Any) -> str:
        """What is wrong with the tolerances of a goal, empty where nothing is."""
        if request.component_path_tolerance or request.component_goal_tolerance:
            return "joints with several degrees of freedom are not supported"
        names = list(request.trajectory.joint_names)
        for tolerance in (*request.path_tolerance, *request.goal_tolerance):
            if names and tolerance.name not in names:
                return f'a tolerance for "{tolerance.name:.40}", which is not in the trajectory'
            if not np.isfinite([tolerance.position, tolerance.velocity]).all():
                return f"a tolerance of {tolerance.name:.40} is not finite"
        return ""

    def on_the_way(self, errors: JointErrors) -> str:
        """The first path tolerance that is violated, empty where none is."""
        return _violated(errors, self._path)

    def at_the_end(self, errors: JointErrors) -> str:
        """The first goal tolerance that is violated, empty where none is."""
        return _violated(errors, self._end)


def _by_joint(tolerances: Sequence[Any], names: Sequence[str]) -> Array:
    """Of position and velocity, (joints, 2); infinite where there is no limit."""
    given = {tolerance.name: (tolerance.position, tolerance.velocity) for tolerance in tolerances}
    values = np.array([given.get(name, (0.0, 0.0)) for name in names])
    return np.where(values > 0.0, values, np.inf)


def _violated(errors: JointErrors, allowed: Array) -> str:
    found = np.stack([errors.position, errors.velocity], axis=1)
    for joint, kind in np.argwhere(np.abs(found) > allowed):
        what = ("position", "velocity")[kind]
        return (
            f"{what} of {errors.names[joint]} is off by {found[joint, kind]:.3g}, "
            f"tolerance {allowed[joint, kind]:.3g}"
        )
    return ""
