"""The memory of a compiled servo law: that of its mechanism, and what tasks and motors add."""

from __future__ import annotations

from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.mechanism.tasks import Tasks


class ServoLayout(Layout):
    """Fields of the mechanism first; the two answers of the law are contiguous.

    Attributes:
        motors: Number of motors.
        task_rows: Rows of the tasks.
        errors: Where the answers of ``uk_errors`` are.
        decision: Where those of ``uk_servo`` are, behind those of the mechanism.
        allocation: Where those of ``uk_allocate`` are.
    """

    def __init__(self, tasks: Tasks) -> None:
        """Lay out tasks of a mechanism."""
        mechanism = tasks.mechanism
        nq, nv, m = mechanism.model.nq, mechanism.model.nv, len(mechanism.constraints)
        super().__init__(nq, nv, m, followed=mechanism.follows_references)
        motors, rows = len(mechanism.actuators), len(tasks.constraints)
        self.motors, self.task_rows = motors, rows
        for name, count, comment in (
            ("weights", motors, "diagonal of W"),
            ("preload", motors, "efforts to come close to"),
            ("pull", rows, "b_t is this less what the rows have without joint acceleration"),
            ("lower", motors, "smallest efforts"),
            ("upper", motors, "largest efforts"),
            ("warm", 1, "whether there are last efforts"),
            ("task_followed", 3 * rows, "references of the tasks: values, rates, accelerations"),
        ):
            self._add(name, count, comment)
        begin = self._start
        for name, count, comment in (
            ("tracking_error", rows, "residuals of the tasks"),
            ("tracking_rate", rows, "their rates"),
        ):
            self._add(name, count, comment)
        self.errors = slice(begin, self._start)
        begin = self._start
        for name, count, comment in (
            ("efforts", motors, "u"),
            ("shortfall", rows, "b_t - A_t qdd with these efforts"),
            ("motor_rank", 1, "of A_t N S"),
            ("task_rank", 1, "of A_t in the admissible motions"),
            ("controllable", rows, "1 where motors serve whatever is asked"),
            ("reachable", rows, "1 where they serve what is asked now"),
            ("size", rows, "what is large for a row"),
            ("map", rows * motors, "A_t N S, row by row"),
            ("wanted", rows, "b_t - A_t a_s"),
            ("response", nv * motors, "N S, row by row"),
        ):
            self._add(name, count, comment)
        self.decision = slice(begin, self._start)
        begin = self._start
        self._add("limited", motors, "efforts within the limits")
        self._add("finished", 1, "1 where there are no better ones")
        self.allocation = slice(begin, self._start)
        for name, count in (("A_t", rows * nv), ("bias_t", rows), ("last", motors)):
            self._add(name, count, "")
        self.size = self._start
