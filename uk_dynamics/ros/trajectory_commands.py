"""Setpoints on their way to a joint_trajectory_controller."""

from __future__ import annotations

from array import array

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from uk_dynamics.control.desired_motion import Setpoint
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.ros.messages import Array
from uk_dynamics.ros.motor_commands import MotorCommands
from uk_dynamics.ros.parameters import Parameters


class TrajectoryCommands(MotorCommands):
    """Trajectories of one point: positions, velocities, accelerations and feed-forward efforts.

    Joints are those that motors drive. The stamp is zero: begin now. The drives hold on to the last
    point whatever becomes of the node, so the last one that is sent is at rest.
    """

    def __init__(self, node: Node, settings: Parameters, mechanism: Mechanism, topic: str) -> None:
        """Advertise the topic.

        Args:
            node: Who commands.
            settings: Has ``ramp_time``.
            mechanism: Whose joints have one degree of freedom each.
            topic: Name of the topic.
        """
        super().__init__(node, JointTrajectory, topic)
        matrix = mechanism.actuators.matrix
        self._joints = np.flatnonzero(matrix.any(axis=1))
        self._matrix = matrix[self._joints]
        self._settings = settings
        self._last: tuple[Array, Array] | None = None
        self._point = JointTrajectoryPoint()
        names = mechanism.model.velocity_names
        self._message = JointTrajectory(
            joint_names=[names[joint] for joint in self._joints], points=[self._point]
        )

    def drive(self, setpoint: Setpoint, stamp: Time) -> None:
        """Command a setpoint."""
        # nq = nv, and a joint's position and velocity stand at the same place
        q, v, qdd = (part[self._joints] for part in (setpoint.q, setpoint.v, setpoint.qdd))
        self._publish(q, v, qdd, self._matrix @ setpoint.efforts, setpoint.duration)
        self._last = (q, v)

    def send(self, efforts: Array, stamp: Time) -> None:
        """Efforts alone are nothing that could be commanded here."""

    def rest(self, stamp: Time) -> None:
        """Bring the joints to rest within ``ramp_time``, where no efforts are fed forward."""
        if self._last is None:
            return
        q, v = self._last
        duration = self._settings["ramp_time"]
        zero = np.zeros_like(v)
        self._publish(q + 0.5 * duration * v, zero, zero, zero, duration)
        self._last = None

    def _publish(self, q: Array, v: Array, qdd: Array, efforts: Array, duration: float) -> None:
        point = self._point
        point.positions, point.velocities = array("d", q), array("d", v)
        point.accelerations, point.effort = array("d", qdd), array("d", efforts)
        nanoseconds = round(1e9 * duration)
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(nanoseconds, 10**9)
        self._publisher.publish(self._message)
