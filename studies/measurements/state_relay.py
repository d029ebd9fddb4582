# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The encoders of a simulated machine: they tell its motors' states, or a fault's."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

Fault = Callable[[JointState], Iterable[JointState]]


def healthy(message: JointState) -> Iterable[JointState]:
    """What encoders do when nothing is wrong."""
    return (message,)


class StateRelay:
    """Hears ``machine_joint_states``, tells ``measured_joint_states``, in a thread of its own.

    Attributes:
        fault: Makes of every state of the motors what is told of it.
        speed: Of the fastest motor in the last state, in m/s or rad/s.
        heard: States so far.
    """

    def __init__(self, joints: Iterable[str]) -> None:
        """Begin.

        Args:
            joints: Names of those that have encoders.
        """
        self.fault: Fault = healthy
        self.speed = 0.0
        self.heard = 0
        self._joints = list(joints)
        self._context: rclpy.Context | None = None
        self.join()

    def join(self) -> None:
        """Join DDS as a new participant, if it does not take part yet."""
        if self._context is not None:
            return
        self._context = rclpy.Context()
        self._context.init()
        self._node = rclpy.create_node("encoders", context=self._context)
        newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._node.create_subscription(JointState, "machine_joint_states", self._hear, newest)
        self._publisher = self._node.create_publisher(JointState, "measured_joint_states", 10)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Leave DDS."""
        if self._context is None:
            return
        self._ended.set()
        self._thread.join()
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.shutdown()
        self._context = None

    def _spin(self) -> None:
        while not self._ended.is_set():
            self._executor.spin_once(timeout_sec=0.05)

    def _hear(self, state: JointState) -> None:
        places = [state.name.index(joint) for joint in self._joints]
        told = JointState(header=state.header, name=self._joints)
        told.position = array("d", [state.position[place] for place in places])
        told.velocity = array("d", [state.velocity[place] for place in places])
        told.effort = array("d", [state.effort[place] for place in places])
        self.speed = max(map(abs, told.velocity))
        self.heard += 1
        for message in self.fault(told):
            self._publisher.publish(message)
