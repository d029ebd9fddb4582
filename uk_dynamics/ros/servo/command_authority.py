# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Who may command the motors: servo_controller renews a lease, command_watchdog takes over.

Plain Python without messages or timers. The rules of both sides, why they hold, and the diagram of
the phases are in ``docs/command_path.md``.
"""

import math
import secrets
import time
from collections.abc import Callable
from enum import Enum
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
        self._required = required
        self._on_loss = on_loss
        self._clock = clock
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


LOOK_PERIOD = 0.01  # s between two looks
ZEROS = 10  # published before the controller of ros2_control is deactivated
_STALLED = 5 * LOOK_PERIOD  # s between two looks, after which messages may wait unheard
_AGREEMENT = 0.5 * LOOK_PERIOD  # s at least between two looks that find the same
_ASK_AGAIN = 1.0  # s
_ECHO_AGE = 0.1  # s after which a reported effort says nothing about this instant
_SECOND = 1_000_000_000


class Phase(Enum):
    """Who is in command."""

    IDLE = "no controller drives"
    WATCHING = "a controller drives"
    ZEROING = "zero efforts are commanded"
    SWITCHING = "zero efforts are commanded, and the controller of the motors is being deactivated"
    RELEASED = "zero efforts are commanded, and the hand-over is complete"


class Action(NamedTuple):
    """What the node has to do, in this order."""

    zero: bool = False  # publish zero efforts
    deactivate: bool = False  # ask for the deactivation of the controller of ros2_control


class CommandTakeover:
    """Follows one controller, and takes over when its heartbeat stops."""

    def __init__(self, *, deactivates: bool, clock: Callable[[], int] = time.monotonic_ns) -> None:
        """``deactivates``: a controller of ros2_control is named; ``clock``: steady, in ns."""
        self.phase = Phase.IDLE  # who is in command
        self._deactivates = deactivates
        self._clock = clock
        self._generation: int | None = None
        self._heard: int | None = None
        self._deadline = 0
        self._looked = 0
        self._stalled = False
        self._silent: int | None = None
        self._ended = False
        self._zeros = 0
        self._asked = 0
        self._echo: tuple[int, bool] | None = None

    @property
    def taken_over(self) -> bool:
        """Whether zeros are commanded in the place of a controller."""
        return self.phase in (Phase.ZEROING, Phase.SWITCHING, Phase.RELEASED)

    @property
    def silence(self) -> float:
        """Time since the last heartbeat, in s; infinite before the first."""
        return math.inf if self._heard is None else (self._clock() - self._heard) / _SECOND

    @property
    def may_end(self) -> bool:
        """Whether nobody relies on this watchdog."""
        return self.phase in (Phase.IDLE, Phase.RELEASED)

    def heartbeat(self, beat: Heartbeat, timeout: float, *, connected: bool = True) -> Grant | None:
        """Answer a heartbeat; it is missed after ``timeout`` s.

        Another generation is not answered until the present one has ended or its hand-over is
        complete, so at most one controller drives. Nothing is granted where zeros would not arrive,
        because the controller of the motors is not ``connected``.
        """
        now = self._clock()
        if beat.generation != self._generation or self.phase is Phase.IDLE:
            if not (beat.driving and self.may_end):
                return None
            self._generation = beat.generation
            self.phase = Phase.WATCHING
        self._heard = now
        if not beat.driving:
            self._end()
            return None
        duration = round(timeout * _SECOND)
        self._deadline = now + duration
        self._silent = None
        if self.taken_over:
            return Grant(beat.generation, beat.sent, 0)
        if not connected:
            return None
        # it ends early: a command that was decided within the lease arrives before the first zero
        return Grant(beat.generation, beat.sent, duration - round(LOOK_PERIOD * _SECOND))

    def effort(self, *, zero: bool) -> None:
        """The drives report their efforts: all are zero, or not."""
        self._echo = (self._clock(), zero)

    def look(self) -> Action:
        """Say what has to be done at this instant; called every ``LOOK_PERIOD``."""
        now = self._clock()
        late = now - self._looked > _STALLED * _SECOND
        self._looked = now
        if self.phase is Phase.WATCHING and self._missed(now, late):
            self.phase = Phase.ZEROING
            self._zeros, self._ended = 0, False
        if not self.taken_over:
            return Action()
        deactivate = self._advance(now)
        self._zeros += 1
        return Action(self.taken_over, deactivate)

    def answered(self, *, ok: bool) -> None:
        """The controller manager has answered; it is asked again where it refused."""
        if ok and self.phase is Phase.SWITCHING:
            self.phase = Phase.IDLE if self._ended else Phase.RELEASED

    def _end(self) -> None:
        """The controller has ended by itself: what was begun is finished, and nothing more."""
        if self.phase in (Phase.ZEROING, Phase.SWITCHING):
            self._ended = True
        else:
            self.phase = Phase.IDLE

    def _missed(self, now: int, late: bool) -> bool:
        """Whether two looks in a row have found that the heartbeat has stopped.

        After a stall of this process heartbeats may wait that have not been heard. A late look
        therefore counts as the first, and messages are heard before the second.
        """
        restart = late and not self._stalled  # always late: better a hasty watchdog than none
        self._stalled = late
        if now <= self._deadline:
            self._silent = None
            return False
        if self._silent is None or restart:
            self._silent = now
            return False
        return now - self._silent >= _AGREEMENT * _SECOND

    def _advance(self, now: int) -> bool:
        """Go on with the hand-over; whether to ask for deactivation now."""
        if self.phase is Phase.ZEROING and self._zeros >= ZEROS:
            if self._ended:
                self.phase = Phase.IDLE
            elif now > self._deadline and self._confirmed(now):
                self.phase = Phase.SWITCHING if self._deactivates else Phase.RELEASED
                self._asked = now
                return self._deactivates
        elif self.phase is Phase.SWITCHING and now - self._asked > _ASK_AGAIN * _SECOND:
            if self._ended:  # the request was lost, and nobody needs it any more
                self.phase = Phase.IDLE
            elif now > self._deadline:
                self._asked = now
                return True
        return False

    def _confirmed(self, now: int) -> bool:
        """Whether the drives report zero; where they never reported, ten zeros have to do."""
        if self._echo is None:
            return True
        at, zero = self._echo
        return zero and now - at <= _ECHO_AGE * _SECOND
