# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Durations of all answers, in a histogram of fixed size."""

from __future__ import annotations

import math
from typing import NamedTuple

_SHORTEST = 1e-6  # s
_BINS_PER_DECADE = 50  # 4.7 % apart
_DECADES = 7  # up to 10 s


class Latencies(NamedTuple):
    """Quantiles of durations, in s; nan where there are none."""

    p50: float
    p99: float
    p999: float
    largest: float
    count: int


class LatencyHistogram:
    """Durations in bins of equal ratio; quantiles are accurate to 5 %, the largest is exact."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._counts = [0] * (_BINS_PER_DECADE * _DECADES + 1)
        self._largest = 0.0
        self._total = 0

    def add(self, duration: float) -> None:
        """Count a duration, in s."""
        place = 0
        if duration > _SHORTEST:
            place = math.ceil(_BINS_PER_DECADE * math.log10(duration / _SHORTEST))
        self._counts[min(place, len(self._counts) - 1)] += 1
        self._largest = max(self._largest, duration)
        self._total += 1

    def report(self) -> Latencies:
        """Quantiles of all durations since :meth:`clear`, as upper ends of their bins."""
        if not self._total:
            nan = float("nan")
            return Latencies(nan, nan, nan, nan, 0)
        found = [self._quantile(part) for part in (0.5, 0.99, 0.999)]
        return Latencies(*found, self._largest, self._total)

    def _quantile(self, part: float) -> float:
        wanted, seen = part * self._total, 0
        for place, count in enumerate(self._counts):
            seen += count
            if seen >= wanted:
                return min(_SHORTEST * 10.0 ** (place / _BINS_PER_DECADE), self._largest)
        return self._largest
