# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Hears every motor command on the wire, and counts those that must never be there.

An own process that knows nothing of the package: what it needs to know comes on its command line.

    python studies/measurements/command_recorder.py REPORT LIMIT...
"""

from __future__ import annotations

import json
import math
import signal
import sys
from pathlib import Path

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Float64MultiArray


class Recorder(Node):
    """Counts commands.

    Attributes:
        report: What has been heard so far.
    """

    def __init__(self, limits: list[float]) -> None:
        """Listen.

        Args:
            limits: Of the motors, in the order of the commands, in N or N·m.
        """
        super().__init__("command_recorder")
        self._limits = limits
        self.report = {"messages": 0, "wrong_size": 0, "not_finite": 0, "over_limit": 0}
        self.largest = 0.0
        self.create_subscription(
            Float64MultiArray, "effort_controller/commands", self._hear, QoSProfile(depth=1000)
        )

    def _hear(self, message: Float64MultiArray) -> None:
        report = self.report
        report["messages"] += 1
        report["wrong_size"] += len(message.data) != len(self._limits)
        report["not_finite"] += not all(map(math.isfinite, message.data))
        pairs = list(zip(message.data, self._limits, strict=False))
        report["over_limit"] += any(abs(effort) > limit for effort, limit in pairs)
        self.largest = max(self.largest, *(abs(effort) / limit for effort, limit in pairs))


def main() -> None:
    """Listen until told to end, then write the report."""
    asked: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: asked.append(number))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    recorder = Recorder([float(limit) for limit in sys.argv[2:]])
    while not asked:
        rclpy.spin_once(recorder, timeout_sec=0.1)
    report = {**recorder.report, "largest_part_of_limit": recorder.largest}
    Path(sys.argv[1]).write_text(json.dumps(report))
    recorder.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
