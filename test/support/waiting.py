# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Waiting for a condition with a deadline, instead of sleeping and hoping."""

from __future__ import annotations

import time
from collections.abc import Callable

DEADLINE = 60.0


def _pause() -> None:
    time.sleep(0.01)


def wait_until(
    condition: Callable[[], object],
    what: str = "",
    timeout: float = DEADLINE,
    meanwhile: Callable[[], object] = _pause,
) -> None:
    """Return as soon as the condition holds.

    Args:
        condition: Called again and again until its result is true.
        what: What is waited for, in words, for the failure's message.
        timeout: Longest wait, in s.
        meanwhile: Called between two looks at the condition.

    Raises:
        AssertionError: The condition did not hold in time.
    """
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout:.0f} s in vain for {what or 'a condition'}")
        meanwhile()
