"""Simulated time for a controller_manager: one step of the machine for each of its updates."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Bool, Float64MultiArray

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.parameters.tables import EFFORT_COMMANDS
from uk_dynamics.ros.topics.qos import COMMAND_QOS

MANAGER, SERVO = "controller_manager", "servo_controller"
HEARTBEAT = "servo_controller/heartbeat"

_SETTLING = 0.2  # s of real time without a message, after which no answer is under way any more
_REPEAT = 0.1  # s of real time; /clock is best effort, and may be lost
_LARGEST_LAG = 0.05  # s of real time that is caught up


class ManagerLockstep:
    """Decides when ``/clock`` goes on by one step.

    On simulated time controller_manager sleeps until the clock has gone on by its period, reads the
    states, updates its controllers once and sends commands. The clock goes on when these have
    come and, while servo_controller drives, its answer to the states too: a busy computer slows
    the run and changes nothing in it. It never goes faster than ``real_time_factor``, and at that
    pace before the manager has been heard for the first time, since the manager needs time to go on
    while it activates controllers.

    Attributes:
        unexpected: Commands of controller_manager that answer no update that was waited for.
        delayed: Updates that did not pass on the last command of servo_controller, which had been
            sent before; the efforts at the machine are one period older then.
    """

    def __init__(
        self,
        node: Node,
        *,
        patience: Callable[[], float],
        step: Callable[[], bool],
        tick: Callable[[], None],
        repeat: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Subscribe to what servo_controller sends.

        Args:
            node: Node to subscribe with.
            patience: Real time after which an answer that has not come is an error, in s.
            step: Moves the machine by one step, publishes its state, and returns whether it
                succeeded.
            tick: Publishes the time of the machine on ``/clock``.
            repeat: Publishes state and time once more.
            clock: Real time in s.
        """
        self.unexpected = self.delayed = 0
        self.period = 0.0  # s of real time that a step takes at least
        self._log = node.get_logger()
        self._patience, self._step, self._tick, self._repeat = patience, step, tick, repeat
        self._clock = clock
        self._known: set[str] = set()
        self._awaited: set[str] = set()
        self._moved = True  # whether the machine has moved since the last tick
        self._paused = False
        self._late = False
        self._settled = self._due = self._since = self._repeated = 0.0
        self._newest: Array | None = None
        self._passed_on: Array | None = None
        node.create_subscription(Float64MultiArray, EFFORT_COMMANDS, self._on_efforts, COMMAND_QOS)
        node.create_subscription(Bool, HEARTBEAT, self._on_heartbeat, COMMAND_QOS)

    @property
    def waiting_for(self) -> str:
        """Who has not answered the present time, as text; empty where nobody is waited for."""
        return " and ".join(name for name in (MANAGER, SERVO) if name in self._awaited)

    def pause(self, paused: bool) -> None:
        """Let time stand still, or go on."""
        self._paused = paused
        self._since = self._repeated = self._due = self._clock()
        self._late = False

    def single(self) -> bool:
        """Let a paused time go on by one step; return whether all have answered the last one."""
        if self._awaited or self._clock() < self._settled:
            return False
        return self._go()

    def on_update(self, efforts: Array) -> None:
        """controller_manager has sent its commands; ``efforts`` (motors,) are the valid ones."""
        if self._join(MANAGER, "one step for each of its updates"):
            return
        if MANAGER not in self._awaited:
            self.unexpected += self._clock() >= self._settled
            return
        self._awaited.discard(MANAGER)
        if self._passed_on is not None and not np.array_equal(self._passed_on, efforts):
            self.delayed += 1
        self._moved = self._step()
        self.look()

    def look(self) -> None:
        """Let time go on if it may."""
        now = self._clock()
        if self._paused or now < self._settled or now < self._due:
            return
        if now >= self._settled > self._since:  # a servo_controller that has just begun is quiet
            self._awaited.discard(SERVO)
        if self._awaited:
            self._wait(now)
        elif self._go():
            self._due = max(self._due, now - _LARGEST_LAG) + self.period

    def report(self, report: Report) -> None:
        """Add who is waited for, an error where that takes too long, and the counts."""
        report.add("waiting_for", self.waiting_for or "nobody")
        report.add("unexpected_commands", self.unexpected)
        report.add("delayed_commands", self.delayed)
        if self._late:
            report.error(self._overdue)

    @property
    def _overdue(self) -> str:
        return f"no answer of {self.waiting_for} for {self._age:.3g} s: time stands still"

    def _go(self) -> bool:
        if not self._moved and not self._step():
            return False
        self._moved = False
        self._awaited = set(self._known)
        self._passed_on = self._newest if SERVO in self._known else None
        self._since = self._repeated = self._clock()
        self._late = False
        self._tick()
        return True

    @property
    def _age(self) -> float:
        return self._clock() - self._since

    def _wait(self, now: float) -> None:
        if now - self._repeated > _REPEAT:
            self._repeated = now
            self._repeat()
        if self._late or self._age <= self._patience():
            return
        if self._awaited == {SERVO}:
            self._log.error(f"no answer of {SERVO} for {self._age:.3g} s: time goes on without it")
            self._leave()
            return
        self._late = True
        self._log.error(self._overdue)

    def _join(self, name: str, what: str) -> bool:
        """Whether it is heard for the first time; time stands still until it is quiet."""
        first = name not in self._known
        now = self._clock()
        if first:
            self._known.add(name)
            self._log.info(f"{name} answers: {what}")
        if first or now < self._settled:
            self._settled = now + _SETTLING
        return first

    def _leave(self) -> None:
        self._known.discard(SERVO)
        self._awaited.discard(SERVO)
        self._newest = None

    def _on_efforts(self, message: Float64MultiArray) -> None:
        self._newest = np.array(message.data)
        if not self._join(SERVO, f"each step waits for {EFFORT_COMMANDS}"):
            self._awaited.discard(SERVO)
            self.look()

    def _on_heartbeat(self, message: Bool) -> None:
        if not message.data and SERVO in self._known:
            self._log.info(f"{SERVO} is inactive: time goes on without it")
            self._leave()
            self.look()
