"""What nodes listen to: states of the joints and efforts of the motors."""

from __future__ import annotations

from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.ros.clock import Watchdog
from uk_dynamics.ros.diagnostics import MessageProblems
from uk_dynamics.ros.message_readers import EffortReader, StateReader

# Accepts every publisher, and never works through states that are old already.
STATE_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# As the command topics of ros2_control.
COMMAND_QOS = QoSProfile(depth=10)


class StateInput:
    """Complete states from ``joint_states``.

    Attributes:
        reader: Holds q, v and measured efforts of the last usable message.
        watchdog: Fed by usable messages.
    """

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        problems: MessageProblems,
        on_state: Callable[[Time], None],
    ) -> None:
        """Subscribe.

        Args:
            node: Who listens.
            mechanism: Whose joints are wanted.
            problems: Remembers messages that cannot be used.
            on_state: Called with the stamp after each usable message.
        """
        self.reader = StateReader(mechanism.model)
        self.watchdog = Watchdog()
        self._problems = problems
        self._on_state = on_state
        self.subscription = node.create_subscription(
            JointState, "joint_states", self._receive, STATE_QOS
        )

    def _receive(self, message: JointState) -> None:
        if problem := self.reader.read(message):
            self._problems.note("joint_states", problem)
            return
        self.watchdog.feed()
        self._on_state(message.header.stamp)


class EffortInput:
    """Motor efforts from a command topic.

    Attributes:
        efforts: Of the last usable message, (motors,), in N or N·m.
        watchdog: Fed by usable messages.
    """

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        problems: MessageProblems,
        *,
        topic: str,
        by_joint: bool = False,
        accept: Callable[[Time], str] | None = None,
        on_command: Callable[[], None] | None = None,
    ) -> None:
        """Subscribe.

        Args:
            node: Who listens.
            mechanism: Whose motors are commanded.
            problems: Remembers messages that cannot be used.
            topic: Name of the topic.
            by_joint: Whether efforts come by joint name in a JointState.
            accept: Tells by the stamp of a JointState what is wrong with it, if anything.
            on_command: Called after each usable message.
        """
        reader = EffortReader(mechanism.actuators, mechanism.model.velocity_names)
        self.efforts = reader.efforts
        self.watchdog = Watchdog()
        self._problems = problems
        self._topic = topic
        self._accept = accept
        self._on_command = on_command
        self._read = reader.read_joint_state if by_joint else reader.read_array
        self.subscription = node.create_subscription(
            JointState if by_joint else Float64MultiArray, topic, self._receive, COMMAND_QOS
        )

    def _receive(self, message: JointState | Float64MultiArray) -> None:
        problem = self._read(message)
        if not problem and self._accept is not None:
            problem = self._accept(message.header.stamp)
        if problem:
            self._problems.note(self._topic, problem)
            return
        self.watchdog.feed()
        if self._on_command is not None:
            self._on_command()
