"""Steps of long studies, for callers that show progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[], object] | None] = ContextVar("listener", default=None)


@contextmanager
def heard(listener: Callable[[], object]) -> Iterator[None]:
    """Call a function after every step of the studies redone meanwhile."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def step_done() -> None:
    """Say that one of many steps is done."""
    listener = _listener.get()
    if listener is not None:
        listener()
