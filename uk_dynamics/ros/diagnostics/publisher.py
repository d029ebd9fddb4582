# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a node reports about itself on /diagnostics, once per second."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile

from uk_dynamics.compilation.verification import wrong_libraries
from uk_dynamics.ros.timing.clock import steady_clock

TIME_ORIGIN = "time_origin"  # value of servo_controller: stamp of t = 0 of its tasks, in ns
_PERIOD = 1.0  # s
_LOG_PERIOD = 1.0  # s
_CAPACITY = 4096
_FEWEST_PERIODS = 3


class Report:
    """One report: values by name in the order they were added, and problems, one phrase each."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.level = DiagnosticStatus.OK
        self.problems: list[str] = []

    def add(self, key: str, value: object) -> None:
        """Add a value; numbers are shown with six digits, booleans in lower case."""
        if isinstance(value, bool):
            value = str(value).lower()
        self.values[key] = f"{value:.6g}" if isinstance(value, float) else str(value)

    def update(self, values: Mapping[str, object]) -> None:
        """Add several values."""
        for key, value in values.items():
            self.add(key, value)

    def warn(self, problem: str) -> None:
        """Add a problem that needs attention."""
        self._note(DiagnosticStatus.WARN, problem)

    def error(self, problem: str) -> None:
        """Add a problem that keeps the node from its work."""
        self._note(DiagnosticStatus.ERROR, problem)

    def _note(self, level: bytes, problem: str) -> None:
        self.level = max(self.level, level)
        self.problems.append(problem)


class DiagnosticsPublisher:
    """Publishes one status of a node at 1 Hz; ``hardware`` is the name of the mechanism."""

    def __init__(
        self, node: Node, subject: str, fill: Callable[[Report], None], hardware: str = ""
    ) -> None:
        """``fill`` fills a report about a subject."""
        self.hardware, self._node = hardware, node
        self._name = f"{node.get_fully_qualified_name().lstrip('/')}: {subject}"
        self._fill = fill
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        node.create_timer(_PERIOD, self._publish, clock=steady_clock())

    def _publish(self) -> None:
        report = Report()
        self._fill(report)
        for problem in wrong_libraries():
            report.warn(problem)
        status = DiagnosticStatus(
            name=self._name,
            hardware_id=self.hardware,
            level=report.level,
            message="; ".join(report.problems) or "OK",
            values=[KeyValue(key=key, value=value) for key, value in report.values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


class MessageProblems:
    """Counts messages that are not valid; logs them, but at most one per second."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._logger = node.get_logger()
        self._count = self._reported = 0
        self._begun = False
        self._last = ""
        self._marked = 0
        self._logged = float("-inf")

    def listen(
        self, kind: type, topic: str, read: Callable[[Any], str], qos: QoSProfile | int = 10
    ) -> None:
        """Subscribe to a topic; ``read`` returns what is wrong with a message, or nothing."""

        def receive(message: Any) -> None:
            if problem := read(message):
                self.note(topic, problem)

        self._node.create_subscription(kind, topic, receive, qos)

    def note(self, topic: str, problem: str, *, before_first: bool = False) -> None:
        """A message on a topic was ignored, perhaps before the first one that was usable.

        Interfaces of ros2_control are NaN until something writes them: then that is no warning.
        """
        self._count += 1
        self._last = f"{topic}: {problem}"
        now = time.monotonic()
        if before_first and problem.endswith(" is nan"):
            if not self._begun:
                self._logger.info(f"nothing usable yet on {self._last}")
            self._begun = True
            return
        if now - self._logged >= _LOG_PERIOD:
            self._logged = now
            self._logger.warning(f"ignored a message on {self._last}")

    def mark(self) -> None:
        """From here on problems are those that :attr:`since_mark` tells of."""
        self._marked = self._count

    @property
    def since_mark(self) -> str:
        """The last problem since :meth:`mark`; empty for none."""
        return self._last if self._count > self._marked else ""

    def report(self, report: Report) -> None:
        """Add the number of ignored messages and the last problem; warn of new ones."""
        report.add("ignored_messages", self._count)
        report.add("last_message_problem", self._last or "none")
        if fresh := self._count - self._reported:
            report.warn(f"{fresh} messages ignored, the last: {self._last}")
            self._reported = self._count


class RateMonitor:
    """Counts events; keeps their times only until the next report."""

    def __init__(self, nominal_period: float | None = None) -> None:
        """Start counting; without ``nominal_period``, in s, the median of those measured counts."""
        self.nominal_period = nominal_period
        self.missed = 0
        self._times = np.empty(_CAPACITY)
        self._count = self._kept = 0
        self._start = time.perf_counter()

    def tick(self, count: int = 1) -> None:
        """An event now, or several at once when the node catches up."""
        self._count += count
        if self._kept < _CAPACITY:
            self._times[self._kept] = time.perf_counter()
            self._kept += 1

    def pause(self) -> None:
        """The next event is not late: the node was idle."""
        self._kept = 0

    def report(self) -> dict[str, object]:
        """How regularly the node has done its work since the last call, for its diagnostics.

        ``rate`` in events per second, ``period_error_p99`` the 99th percentile of
        |period − nominal period| in s, ``missed_ticks`` whole periods without an event.
        """
        now = time.perf_counter()
        rate = self._count / max(now - self._start, 1e-9)
        periods = np.diff(self._times[: self._kept])
        error = float("nan")
        if len(periods) >= _FEWEST_PERIODS:
            nominal = self.nominal_period or float(np.median(periods))
            error = float(np.percentile(np.abs(periods - nominal), 99))
            self.missed += int(np.sum(np.maximum(np.round(periods / nominal) - 1, 0)))
        if self._kept == _CAPACITY:  # the last events were not kept
            self._kept = 0
        elif self._kept:  # the next period starts with the last event
            self._times[0] = self._times[self._kept - 1]
            self._kept = 1
        self._start, self._count = now, 0
        return {"rate": rate, "period_error_p99": error, "missed_ticks": self.missed}
