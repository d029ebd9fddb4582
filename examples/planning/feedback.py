# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the examples of this folder share: efforts of a controller, and a controller as a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import uk_dynamics as ukd
from uk_dynamics.simulation import Controller


@dataclass(frozen=True)
class Efforts:
    """What a simulation asks of a controller."""

    efforts: np.ndarray
    unreachable = ()
    limited_by: ClassVar[dict[str, str]] = {}


def run_node(mechanism: ukd.Mechanism, controller: Controller) -> None:
    """Answer ``joint_states`` by efforts on ``joint_commands`` until the node is interrupted.

    Each command carries the stamp of the state that it answers, so that a simulator in lockstep
    waits for it. A state that is sent again is answered again, by the same command.

    Args:
        mechanism: What is controlled.
        controller: Its feedback law; what a simulation takes, too.
    """
    import rclpy
    from rclpy.executors import ExternalShutdownException
    from sensor_msgs.msg import JointState

    names, matrix = mechanism.model.velocity_names, mechanism.actuators.matrix
    driven = np.flatnonzero(matrix.any(axis=1))
    rclpy.init()
    node = rclpy.create_node("feedback")
    commands = node.create_publisher(JointState, "joint_commands", 10)
    answer = JointState(name=[names[joint] for joint in driven])

    def on_state(message: JointState) -> None:
        if message.header.stamp != answer.header.stamp or not answer.effort:
            place = [message.name.index(name) for name in names]
            stamp = message.header.stamp
            state = ukd.State(
                stamp.sec + 1e-9 * stamp.nanosec,
                np.array(message.position)[place],
                np.array(message.velocity)[place],
            )
            answer.effort = (matrix @ controller.command(state).efforts)[driven].tolist()
            answer.header.stamp = stamp
        commands.publish(answer)

    node.create_subscription(JointState, "joint_states", on_state, 1)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
