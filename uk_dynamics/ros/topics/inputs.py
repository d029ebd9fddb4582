"""Subscriptions of the nodes: states of the joints and efforts of the motors."""

from __future__ import annotations

from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.ros.diagnostics.publisher import MessageProblems, Report
from uk_dynamics.ros.timing.clock import Watchdog
from uk_dynamics.ros.topics.messages import EffortReader, StateReader
from uk_dynamics.ros.topics.qos import COMMAND_QOS, STATE_QOS


class StateInput:
    """Complete states from ``joint_states``: ``reader`` has the last valid one."""

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        problems: MessageProblems,
        on_state: Callable[[Time], None],
    ) -> None:
        """Subscribe; ``on_state`` is called with the stamp after each valid message."""
        self.reader = StateReader(mechanism.model)
        self.watchdog = Watchdog()
        self._problems = problems
        self._on_state = on_state
        self.subscription = node.create_subscription(
            JointState, "joint_states", self._receive, STATE_QOS
        )

    def state(self, t: float) -> State:
        """A copy of the last state, for a time in s."""
        return State(t, self.reader.q.copy(), self.reader.v.copy())

    def report(self, report: Report, timeout: float) -> None:
        """Add the age of the last valid state; an error when it exceeds ``timeout``, in s."""
        age = self.watchdog.age
        report.add("state_age", age)
        if age > timeout:
            report.error("no usable joint_states" + (f" for {age:.3g} s" if age < 1e9 else " yet"))
        if self.reader.unknown:
            report.add("unknown_joints", ", ".join(self.reader.unknown[:8]))

    def _receive(self, message: JointState) -> None:
        if problem := self.reader.read(message):
            self._problems.note("joint_states", problem)
            return
        self.watchdog.feed()
        self._on_state(message.header.stamp)


class EffortInput:
    """Motor efforts from a command topic: ``efforts`` (motors,) of the last valid message."""

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
        """``accept`` returns what is wrong with the stamp of a command ``by_joint``."""
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
