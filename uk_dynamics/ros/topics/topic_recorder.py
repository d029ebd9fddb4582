# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Records the topics of running nodes as MCAP, as they are serialized."""

import functools
import time
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import optional_library
from uk_dynamics.ros.parameters.parameter import EFFORT_COMMANDS
from uk_dynamics.ros.timing.clock import steady_clock
from uk_dynamics.ros.topics.qos import RECORDING_QOS
from uk_dynamics.simulation.recording import (
    CHUNK,
    MISSING,
    START,
    GrowingFile,
    MachineData,
    description,
    odom_topic,
    schemas,
)

# The writer keeps an index entry for every chunk until the end: large chunks keep the index small,
# and a timer ends them. Writers that cannot end a chunk (mcap before 1.5) get small chunks.
_CHUNK = 1 << 20  # bytes
_LONGEST = 1.0  # s, from a message to the file
_TOPICS: tuple[tuple[str, type], ...] = (
    ("joint_states", JointState),
    (EFFORT_COMMANDS, Float64MultiArray),
    ("forward_dynamics/dynamics", JointTrajectory),
    ("forward_dynamics/constraint_states", JointState),
    ("forward_dynamics/constraint_forces", JointState),
    ("servo_controller/task_states", JointState),
    ("servo_controller/task_references", JointTrajectory),
    ("servo_controller/task_bounds", JointState),
    ("servo_controller/estimates", JointState),
    ("simulator/contacts", JointState),
    ("/diagnostics", DiagnosticArray),
    ("/clock", Clock),
)


class TopicRecorder:
    """Writes all messages that a node receives, and counts them by topic; close it at the end."""

    def __init__(self, node: Node, mechanism: Mechanism, path: Path) -> None:
        """Start recording to an ``.mcap``; relative topics are in the namespace of the node."""
        Writer = optional_library("mcap.writer", MISSING, path).Writer
        self.counts: dict[str, int] = {}
        self._file = GrowingFile(path)
        self._open = True
        ends = hasattr(Writer, "flush")
        self._writer: Any = Writer(self._file, chunk_size=_CHUNK if ends else CHUNK)
        self._writer.start(profile="ros2", library="uk_dynamics")
        limits = mechanism.actuators.effort_limits
        self._writer.add_metadata(
            START, description(mechanism.name, MachineData.of(mechanism), limits)
        )
        registered: dict[str, int] = {}
        bases = mechanism.model.bases
        topics = [*_TOPICS, *((odom_topic(bases, base), Odometry) for base in bases)]
        if bases:
            topics.append(("forward_dynamics/base_dynamics", MultiDOFJointTrajectory))
        for topic, kind in topics:
            name = f"{kind.__module__.partition('.')[0]}/msg/{kind.__name__}"
            if name not in registered:
                text = schemas()[name].encode()
                registered[name] = self._writer.register_schema(name, "ros2msg", text)
            full = node.resolve_topic_name(topic)
            self.counts[full] = 0
            channel = self._writer.register_channel(full, "cdr", registered[name])
            receive = functools.partial(self._receive, full, channel)
            node.create_subscription(kind, topic, receive, RECORDING_QOS, raw=True)
        if ends:
            node.create_timer(_LONGEST, self._flush, clock=steady_clock())

    def close(self) -> None:
        """Complete the file."""
        self._open = False
        self._writer.finish()
        self._file.close(finished=True)

    def _flush(self) -> None:
        if self._open:
            self._writer.flush()

    def _receive(self, topic: str, channel: int, message: bytes) -> None:
        if self._open:
            now = time.time_ns()
            self._writer.add_message(channel, now, message, now)
            self.counts[topic] += 1
