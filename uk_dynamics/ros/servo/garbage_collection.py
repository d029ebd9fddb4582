"""Python's garbage collector, run while a control loop waits."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_INTERVAL = 1.0  # s


class QuietCollector:
    """Collects once per second right after a command, while the loop waits for the next state.

    Automatic collection happens at any instant, now and then over all objects, which takes tens of
    milliseconds. Objects that exist when the loop starts are therefore frozen, and those made by
    the loop are freed by reference counting: without cycles a collection takes some 0.1 ms.

    Attributes:
        longest: Longest collection since :meth:`start`, in s.
        found: Unreachable objects found since then; above zero the loop makes cycles.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """Prepare; ``clock`` gives real time in s."""
        self.longest = 0.0
        self.found = 0
        self._clock = clock
        self._last: float | None = None

    def start(self) -> None:
        """Replace automatic collection."""
        gc.disable()
        gc.collect()
        gc.freeze()
        self.longest, self.found = 0.0, 0
        self._last = self._clock()

    def stop(self) -> None:
        """Return to automatic collection."""
        if self._last is not None:
            self._last = None
            gc.unfreeze()
            gc.enable()

    def idle(self) -> None:
        """Collect now if a collection is due."""
        if self._last is None:
            return
        now = self._clock()
        if now - self._last < _INTERVAL:
            return
        self.found += gc.collect()
        self._last = self._clock()
        self.longest = max(self.longest, self._last - now)
