# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joint states to the positions, velocities and efforts of a robot."""

import numpy as np

from uk_dynamics.model import RobotModel
from uk_dynamics.ros.topics.messages import JointNumbers, NameIndex


class StateReader:
    """Complete joint states to q (nq,), v (nv,) and efforts (nv,), zero where not measured.

    Floating and planar joints stay as they are: no joint state has them.
    """

    def __init__(self, model: RobotModel) -> None:
        self.q = model.neutral()
        self.v = np.zeros(model.nv)
        self.effort = np.zeros(model.nv)
        self.index = NameIndex(model.joint_names, complete=True)
        # of the joints with one freedom: without others, q, v and effort themselves
        self._joints = (self.q, self.v, self.effort)
        self._places = None
        if model.bases:
            positions, velocities = model.joint_places
            self._places = (positions, velocities, velocities)
            self._joints = tuple(np.zeros((3, len(model.joint_names))))

    def read(self, message: JointNumbers) -> str:
        """Read q, v and effort, or return what is wrong with the message."""
        index = self.index
        if problem := index.check(message, ("position", "velocity"), ("effort",)):
            return problem
        position, velocity, effort = message.position, message.velocity, message.effort
        for field, values in (("position", position), ("velocity", velocity), ("effort", effort)):
            if problem := index.unusable(values, field):
                return problem
        of_joints = self._joints
        index.sort(position, of_joints[0])
        index.sort(velocity, of_joints[1])
        if len(effort):
            index.sort(effort, of_joints[2])
        else:
            of_joints[2][:] = 0.0
        if self._places is not None:
            for array, places, values in zip(
                (self.q, self.v, self.effort), self._places, of_joints, strict=True
            ):
                array[places] = values
        return ""
