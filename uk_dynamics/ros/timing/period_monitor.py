"""Rate of states by their stamps, compared with the configured rate."""

from __future__ import annotations

from typing import NamedTuple

_SAME = 0.05  # of the rate


class Periods(NamedTuple):
    """Regularity by stamps.

    Attributes:
        rate: States per second of their stamps since the last report; nan for less than two.
        missed: Periods without an answered state since the start; 0 where no period is configured.
        off: Whether the rate differs from the configured one.
    """

    rate: float
    missed: int
    off: bool


class PeriodMonitor:
    """Compares the stamps of answered states with the configured period."""

    def __init__(self, period: float | None) -> None:
        """Start; ``period`` between states in s, None: not known."""
        self._period = period
        self._last: int | None = None
        self._elapsed = 0
        self._count = 0
        self._missed = 0

    def restart(self) -> None:
        """The next state is the first one."""
        self._last = None
        self._elapsed = self._count = self._missed = 0

    def tick(self, stamp: int) -> None:
        """A state with this stamp, in ns, was answered."""
        if self._last is not None:
            elapsed = stamp - self._last
            self._elapsed += elapsed
            self._count += 1
            if self._period is not None:
                self._missed += max(0, round(elapsed * 1e-9 / self._period) - 1)
        self._last = stamp

    def report(self) -> Periods:
        """Regularity since the last call."""
        if not self._elapsed:
            return Periods(float("nan"), self._missed, off=False)
        rate = self._count / (self._elapsed * 1e-9)
        self._elapsed = self._count = 0
        off = self._period is not None and abs(rate * self._period - 1.0) > _SAME
        return Periods(rate, self._missed, off)
