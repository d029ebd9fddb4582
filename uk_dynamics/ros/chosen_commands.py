"""Which commands a controller sends, by its parameters."""

from __future__ import annotations

from rclpy.node import Node

from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.ros.common_parameters import EFFORT_COMMANDS, JOINT_COMMANDS, JOINT_TRAJECTORIES
from uk_dynamics.ros.motor_commands import EffortArrayCommands, JointStateCommands, MotorCommands
from uk_dynamics.ros.parameters import Parameters
from uk_dynamics.ros.safety import JOINT_STATE, TRAJECTORY
from uk_dynamics.ros.trajectory_commands import TrajectoryCommands


def chosen_commands(node: Node, settings: Parameters, mechanism: Mechanism) -> MotorCommands:
    """Advertise the topic that ``command_mode`` and ``command_topic`` name.

    Args:
        node: Who commands.
        settings: Its parameters.
        mechanism: Whose motors.
    """
    topic = settings["command_topic"]
    if settings["command_mode"] == JOINT_STATE:
        names = mechanism.model.velocity_names
        return JointStateCommands(node, mechanism.actuators, names, topic or JOINT_COMMANDS)
    if settings["command_mode"] == TRAJECTORY:
        return TrajectoryCommands(node, settings, mechanism, topic or JOINT_TRAJECTORIES)
    return EffortArrayCommands(node, mechanism.actuators, topic or EFFORT_COMMANDS)
