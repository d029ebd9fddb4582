"""Python's garbage collector beside a control loop: when it suits, not when it likes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_INTERVAL = 1.0  # s


class QuietCollector:
    """Collects once per second right after a command, while the next state is awaited.

    By itself Python would collect at any instant, now and then through all there is, which takes
    tens of milliseconds. What exists when the loop starts is therefore left out (frozen), and what
    the loop makes is freed by reference counts: no cycles are left for the collector to find, so
    each collection takes some 0.1 ms.

    Attributes:
        longest: Longest collection since :meth:`start`, in s.
        found: Unreachable objects that were found since then; above zero somebody makes cycles.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """Prepare.

        Args:
            clock: Real time, in s.
        """
        self.longest = 0.0
        self.found = 0
        self._clock = clock
        self._last: float | None = None

    def start(self) -> None:
        """Take over from Python."""
        gc.disable()
        gc.collect()
        gc.freeze()
        self.longest, self.found = 0.0, 0
        self._last = self._clock()

    def stop(self) -> None:
        """Leave it to Python again."""
        if self._last is not None:
            self._last = None
            gc.unfreeze()
            gc.enable()

    def idle(self) -> None:
        """There is time to collect now, if it is due."""
        if self._last is None:
            return
        now = self._clock()
        if now - self._last < _INTERVAL:
            return
        self.found += gc.collect()
        self._last = self._clock()
        self.longest = max(self.longest, self._last - now)
