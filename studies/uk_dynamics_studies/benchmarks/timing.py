# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Medians of short calls, measured in turns so that all of them see the same machine.

The clock is the processor time of this process: on a busy machine it leaves out what others take.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

_SHORTEST = 3e-3  # s: one measurement takes at least this long, so that how it begins counts little


def medians(
    functions: Mapping[str, Callable[[], object]], *, rounds: int = 40, seconds: float = 4.0
) -> dict[str, float]:
    """Median time of one call of each function, in s; three rounds, more up to ``seconds``.

    Returns:
        In s, by name.
    """
    calls = {name: _calls(function) for name, function in functions.items()}
    times: dict[str, list[float]] = {name: [] for name in functions}
    begin = time.process_time()
    for done in range(rounds):
        if done >= 3 and time.process_time() - begin > seconds:
            break
        for name, function in functions.items():
            count = calls[name]
            function()  # finds the caches full of what another engine needs
            start = time.process_time()
            for _ in range(count):
                function()
            times[name].append((time.process_time() - start) / count)
    return {name: float(np.median(row)) for name, row in times.items()}


def _calls(function: Callable[[], object]) -> int:
    """How many calls take the shortest time; the first ones are slower than all later ones."""
    function()
    count = 1
    while True:
        start = time.process_time()
        for _ in range(count):
            function()
        if time.process_time() - start >= _SHORTEST:
            return count
        count *= 2
