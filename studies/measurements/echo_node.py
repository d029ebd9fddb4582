# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The least that rclpy needs from a state to an answer: a command without a thought behind it."""

from __future__ import annotations

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from uk_dynamics.ros.process.run_node import freeze_memory, make_executor


def main() -> None:
    """Answer ``echo/joint_states`` on ``echo/joint_commands`` until told to end."""
    rclpy.init()
    node = rclpy.create_node("echo")
    publisher = node.create_publisher(JointState, "echo/joint_commands", 10)
    answer = JointState(name=["motor"], effort=[0.0])

    def echo(state: JointState) -> None:
        answer.header.stamp = state.header.stamp
        publisher.publish(answer)

    newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    node.create_subscription(JointState, "echo/joint_states", echo, newest)
    executor = make_executor()
    executor.add_node(node)
    freeze_memory()
    try:
        while rclpy.ok():
            executor.spin_once(timeout_sec=0.1)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == "__main__":
    main()
