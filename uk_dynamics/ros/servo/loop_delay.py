# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Measures the delay of the loop: from the stamp of a state to the effect of its command."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.parameters.parameter import Parameters

_REMEMBERED = 64  # commands whose return is awaited
_WINDOW, _FEWEST = 15, 5  # returns of which the median is taken
_SAME = 1e-9  # relative difference of efforts that came back unchanged


class LoopDelay:
    """The delay of each state, measured in the first way that is available.

    1. Where the efforts of ``joint_states`` repeat the commands, as those of drives that report
       what they were told: a state's efforts are those that acted since the state before it, so
       the delay is the time from the answered state to that one. The median of the last returns
       within ``longest_prediction`` counts, but at least the age of the state less a period: no
       command acts in the past.
    2. Else the age of the state: from its stamp until now. One beyond ``longest_prediction`` is
       not believed: the stamp is of another clock, or of a simulation that has fallen behind.

    The parameter ``command_delay``, for what neither sees, comes on top.
    """

    def __init__(
        self,
        settings: Parameters,  # with ``command_delay``, in s
        matrix: Array,  # generalized forces of the motors, (nv, motors)
        period: float | None,  # between states, in s; None: as their stamps say
        now: Callable[[], int],  # the clock of the stamps, in ns
    ) -> None:
        """Prepare."""
        self._settings = settings
        self._driven = np.flatnonzero(matrix.any(axis=1))
        self._matrix = matrix[self._driven]
        self._now = now
        self._nominal = period
        self.start()

    def start(self) -> None:
        """Forget what was measured: the loop starts."""
        self._stamps = np.zeros(_REMEMBERED, dtype=np.int64)  # ns, of the states answered
        self._efforts = np.full((_REMEMBERED, len(self._driven)), np.nan)  # the answers
        self._sent = self._returned = 0  # commands so far; those up to a return are not awaited
        self._returns: deque[float] = deque(maxlen=_WINDOW)
        self._usual = 0.0  # s, their median
        self._before: int | None = None
        self._period = self._nominal or 0.0
        self._states = 0
        self.delay = 0.0  # s, of the last state

    @property
    def returned(self) -> bool:
        """Whether commands come back."""
        return len(self._returns) >= _FEWEST

    @property
    def settled(self) -> bool:
        """Whether the measurement has had the time to begin."""
        return self._states >= _WINDOW

    def remaining(self, predicted: float) -> float:
        """Delay that a prediction, in s, does not cover, in s.

        Half a period for which efforts are held; and what is not predicted, or else as much again
        for the error of the measurement.
        """
        half = 0.5 * self._period
        return half + (half if predicted else self.delay)

    def of_state(self, stamp: int) -> float:
        """The delay of the command for a new state, in s; ``stamp`` is that of the state, in ns."""
        age = (self._now() - stamp) * 1e-9
        if not 0.0 <= age <= self._settings["longest_prediction"]:
            age = 0.0
        if self.returned:
            age = max(self._usual, age - self._period)
        self.delay = age + self._settings["command_delay"]
        return self.delay

    def answered(self, stamp: int, efforts: Array, tau: Array) -> None:
        """A state has been answered; what it says of earlier answers counts from the next one on.

        Args:
            stamp: Of the state, in ns.
            efforts: The answer, (motors,), in N or N·m.
            tau: Measured generalized forces of the state, (nv,), in N or N·m; zero where not
                measured.
        """
        if self._before is not None and stamp > self._before:
            self._states += 1
            if self._nominal is None:
                self._period = (stamp - self._before) * 1e-9
            self._recognize(self._before, tau[self._driven])
        self._before = stamp
        place = self._sent % _REMEMBERED
        self._stamps[place] = stamp
        self._efforts[place] = self._matrix @ efforts
        self._sent += 1

    def report(self, report: Report) -> None:
        """Add the delay, and how it is measured."""
        report.add("loop_delay", self.delay)
        report.add("loop_delay_source", "efforts" if self.returned else "stamps")

    def _recognize(self, acted_from: int, tau: Array) -> None:
        """Note the return of a command, where exactly one of those sent is meant."""
        if not tau.any():  # not measured, or a start
            return
        oldest = max(self._returned, self._sent - _REMEMBERED)
        awaited = np.arange(oldest, self._sent)
        sent = self._efforts[awaited % _REMEMBERED]
        scale = np.abs(sent).max(axis=1, initial=0.0)
        found = awaited[np.abs(sent - tau).max(axis=1, initial=0.0) <= _SAME * scale]
        if len(found) != 1:  # none; or the same efforts for a while, which tell nothing
            return
        stamp = int(self._stamps[found[0] % _REMEMBERED])
        self._returned = int(found[0]) + 1  # it will act on, but it began here
        delay = max(acted_from - stamp, 0) * 1e-9
        # a longer one is of a start or a pause: nothing is commanded at it, so none would follow
        if delay <= self._settings["longest_prediction"]:
            self._returns.append(delay)
            self._usual = statistics.median(self._returns)
