# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whether servo_controller may command the motors: the lease that it renews by heartbeats.

Plain Python without messages or timers. The rules of both sides and why they hold are in
``docs/command_path.md``; the other side is ``command_takeover.py``.
"""

import secrets
import time
from collections.abc import Callable
from typing import NamedTuple


class Heartbeat(NamedTuple):
    """What a controller says of itself, in the order of ``~/heartbeat``."""

    generation: int  # number of this activation; no other has the same
    sent: int  # when it was sent, in ns of the sender's own steady clock
    driving: int  # 1 while it commands the motors or is about to, 0 when it has ended


class Grant(NamedTuple):
    """What the watchdog answers, in the order of ``~/heartbeat/acknowledged``."""

    generation: int  # as in the heartbeat
    sent: int  # as in the heartbeat
    # time from ``sent`` on in which the watchdog will not command, in ns; 0: the commands have been
    # taken over
    duration: int


class CommandAuthority:
    """The lease of one controller, asked before every command.

    It is counted from when a heartbeat was *sent*, and the watchdog counts from when it was
    *received*, which is later: at every instant of the lease the watchdog is still silent, however
    long messages take and whichever process was suspended. An old answer renews nothing.
    """

    def __init__(
        self,
        *,
        # whether nothing may be commanded before a watchdog has answered. Otherwise a lease begins
        # with the first answer
        required: bool,
        # called with the reason when a command is refused because the lease has ended
        on_loss: Callable[[str], None],
        clock: Callable[[], int] = time.monotonic_ns,  # steady clock, in ns
    ) -> None:
        """Prepare."""
        self.driving = False  # whether this activation commands the motors or is about to
        self._required, self._on_loss, self._clock = required, on_loss, clock
        self._generation = 0
        self._end: int | None = None
        self._revoked = False

    def begin(self) -> None:
        """A new activation, with a generation of its own."""
        self._generation = secrets.randbits(63)
        self._end, self._revoked = None, False
        self.driving = True

    def end(self) -> None:
        """The activation has ended, and its last command is zero."""
        self.driving = False

    @property
    def heartbeat(self) -> Heartbeat:
        """The heartbeat of this instant."""
        return Heartbeat(self._generation, self._clock(), int(self.driving))

    def receive(self, grant: Grant) -> None:
        """An answer of the watchdog has come."""
        if grant.generation != self._generation:
            return
        self._revoked |= grant.duration == 0
        end = grant.sent + grant.duration
        if end > self._clock():  # the first one has to be in time to begin anything
            self._end = max(self._end or 0, end)

    @property
    def waiting(self) -> bool:
        """Whether a watchdog has yet to answer."""
        return self._required and self._end is None and not self._revoked

    @property
    def held(self) -> bool:
        """Whether motors may be commanded at this instant."""
        if self._end is None:
            return not (self._required or self._revoked)
        return not self._revoked and self._clock() < self._end

    def check(self) -> bool:
        """Whether motors may be commanded; where the lease has ended, its loss is reported."""
        if self.held:
            return True
        if self.driving and not self.waiting:
            self._on_loss(
                "command_watchdog has taken over"
                if self._revoked
                else "command_watchdog does not answer, or this process was suspended"
            )
        return False
