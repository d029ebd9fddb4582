# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the package logs, on the terminal."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def log_on_stderr() -> Iterator[None]:
    """Write what the package logs to standard error: what is compiled, and what is not and why."""
    log = logging.getLogger("uk_dynamics")
    level, handler = log.level, logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("uk_dynamics: %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
