# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""When command_watchdog decides that commands have stopped, and how it takes over.

Plain Python without messages or timers; the diagram of the phases is in ``docs/command_path.md``.
"""

import math
import time
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from uk_dynamics.ros.servo.command_authority import Grant, Heartbeat

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
        self._deactivates, self._clock = deactivates, clock
        self._generation: int | None = None
        self._heard: int | None = None
        self._deadline = self._looked = 0
        self._stalled = False
        self._silent: int | None = None
        self._ended = False
        self._zeros = self._asked = 0
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
