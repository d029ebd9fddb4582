"""Progress of long computations: a bar on a terminal, nothing in a pipe or a log."""

from __future__ import annotations

import sys
from typing import Any


def progress_bar(total: float, unit: str, shape: str | None = None) -> Any:
    """A tqdm bar as a context; ``shape`` is its format, None the usual one."""
    from tqdm import tqdm

    return tqdm(
        total=total, unit=unit, file=sys.stderr, disable=None, leave=False, bar_format=shape
    )
