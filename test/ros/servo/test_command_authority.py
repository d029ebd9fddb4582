# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The lease of servo_controller and the take-over of command_watchdog, without ROS.

Both are put between queues, processes that stop at any instant, and a controller that keeps its
last command: whatever the order of events, nothing but zero remains after a hand-over.
"""

from __future__ import annotations

from collections import deque

import pytest

pytest.importorskip("rclpy")  # the folder's other modules; these two do without

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from uk_dynamics.ros.servo.command_authority import CommandAuthority, Grant, Heartbeat
from uk_dynamics.ros.servo.command_takeover import ZEROS, CommandTakeover, Phase

MS = 1_000_000
TIMEOUT = 0.1
EFFORT = 7.0


class Watched:
    """A watchdog with a clock that is set by hand."""

    def __init__(self, *, deactivates: bool = True) -> None:
        self.now = 0
        self.takeover = CommandTakeover(deactivates=deactivates, clock=lambda: self.now)

    def beat(self, generation: int = 1, driving: int = 1) -> Grant | None:
        return self.takeover.heartbeat(Heartbeat(generation, self.now, driving), TIMEOUT)

    def look(self, count: int = 1) -> list[tuple[bool, bool]]:
        actions = []
        for _ in range(count):
            self.now += 10 * MS
            actions.append(tuple(self.takeover.look()))
        return actions

    def take_over(self) -> None:
        self.beat()
        self.look(12)
        assert self.takeover.phase is Phase.ZEROING


def test_zeros_come_first_and_go_on_until_the_deactivation_is_answered_and_after() -> None:
    watched = Watched()
    watched.beat()
    actions = watched.look(40)
    (asked,) = [at for at, (_, deactivate) in enumerate(actions) if deactivate]
    first = next(at for at, (zero, _) in enumerate(actions) if zero)
    assert first * 0.01 <= TIMEOUT + 0.02
    assert asked - first == ZEROS
    assert all(zero for zero, _ in actions[first:])
    assert not watched.takeover.may_end
    watched.takeover.answered(ok=False)
    assert (True, True) in watched.look(101), "asked again"
    watched.takeover.answered(ok=True)
    assert watched.takeover.may_end
    assert watched.look(200) == [(True, False)] * 200


def test_a_heartbeat_that_is_back_prevents_the_deactivation_and_gets_nothing() -> None:
    watched = Watched()
    watched.take_over()
    for _ in range(30):
        assert watched.beat() == Grant(1, watched.now, 0), "revoked"
        assert watched.look() == [(True, False)]
    assert watched.beat(driving=0) is None
    assert watched.look() == [(False, False)]
    assert watched.takeover.phase is Phase.IDLE


def test_what_has_ended_by_itself_gets_all_ten_zeros_and_is_not_deactivated() -> None:
    watched = Watched()
    watched.take_over()
    watched.beat(driving=0)
    assert watched.look(20).count((True, False)) == ZEROS - 1  # one came with the take-over
    assert watched.takeover.phase is Phase.IDLE


def test_an_end_while_the_manager_switches_waits_for_its_answer() -> None:
    watched = Watched()
    watched.take_over()
    assert (True, True) in watched.look(12)
    watched.beat(driving=0)
    assert watched.look() == [(True, False)]
    watched.takeover.answered(ok=True)
    assert watched.takeover.phase is Phase.IDLE


def test_one_controller_at_a_time() -> None:
    watched = Watched()
    assert watched.beat(1)
    assert watched.beat(2) is None
    watched.beat(2, driving=0)
    assert watched.takeover.phase is Phase.WATCHING, "another one's end is not the end"
    watched.look(13)
    assert watched.takeover.phase is Phase.ZEROING
    assert watched.beat(2) is None, "not before the hand-over is complete"
    watched.look(12)
    watched.takeover.answered(ok=True)
    grant = watched.beat(2)
    assert grant
    assert grant.duration > 0
    assert watched.look() == [(False, False)]


def test_efforts_that_the_drives_still_report_put_off_the_deactivation() -> None:
    watched = Watched()
    watched.takeover.effort(zero=False)
    watched.take_over()
    assert (True, True) not in watched.look(100), "not reported any more, which is no zero"
    for _ in range(20):
        watched.takeover.effort(zero=False)
        assert watched.look() == [(True, False)]
    watched.takeover.effort(zero=True)
    assert watched.look() == [(True, True)]


def test_a_watchdog_that_was_stalled_hears_what_waits_before_it_acts() -> None:
    watched = Watched()
    watched.beat()
    watched.now += 5000 * MS
    assert watched.look() == [(False, False)]
    watched.beat()
    assert watched.look(9) == [(False, False)] * 9
    watched.look(1)
    watched.now += 60 * MS  # between the two looks that have to agree
    assert watched.look() == [(False, False)]
    watched.beat()
    assert watched.look() == [(False, False)]


def test_a_watchdog_that_is_always_late_takes_over_all_the_same() -> None:
    watched = Watched()
    watched.beat()
    zeros = []
    for _ in range(4):
        watched.now += 70 * MS
        zeros.append(watched.takeover.look().zero)
    assert zeros[-1]


def test_without_ros2_control_ten_zeros_complete_the_hand_over() -> None:
    watched = Watched(deactivates=False)
    watched.take_over()
    actions = watched.look(20)
    assert actions == [(True, False)] * 20
    assert watched.takeover.phase is Phase.RELEASED


class Leased:
    """A controller's lease with a clock that is set by hand."""

    def __init__(self, *, required: bool) -> None:
        self.now = 1000 * MS
        self.losses: list[str] = []
        self.authority = CommandAuthority(
            required=required, on_loss=self.losses.append, clock=lambda: self.now
        )
        self.authority.begin()

    def grant(self, beat: Heartbeat, duration: float = 90 * MS) -> None:
        self.authority.receive(Grant(beat.generation, beat.sent, int(duration)))


def test_the_lease_counts_from_when_the_heartbeat_was_sent() -> None:
    leased = Leased(required=True)
    assert leased.authority.waiting
    assert not leased.authority.check()
    beat = leased.authority.heartbeat
    leased.now += 80 * MS
    leased.grant(beat)
    assert leased.authority.check()
    leased.now += 10 * MS
    assert not leased.losses
    assert not leased.authority.check()
    assert len(leased.losses) == 1
    leased.grant(beat)  # again
    assert not leased.authority.held


def test_a_first_answer_that_is_late_begins_nothing_and_ends_nothing() -> None:
    for required in (True, False):
        leased = Leased(required=required)
        beat = leased.authority.heartbeat
        leased.now += 95 * MS
        leased.grant(beat)
        assert leased.authority.check() is not required
        assert not leased.losses


def test_what_is_revoked_stays_revoked_until_the_next_activation() -> None:
    leased = Leased(required=False)
    old = leased.authority.heartbeat
    leased.grant(old)
    leased.grant(old, 0)
    assert not leased.authority.check()
    assert "taken over" in leased.losses[0]
    leased.grant(leased.authority.heartbeat)
    assert not leased.authority.held
    leased.authority.begin()
    assert leased.authority.held
    leased.grant(old, 0)  # of the former generation
    assert leased.authority.held


def test_a_take_over_before_the_first_lease_is_a_fault_and_not_waited_out() -> None:
    leased = Leased(required=True)
    leased.grant(leased.authority.heartbeat, 0)
    assert not leased.authority.waiting
    assert not leased.authority.check()
    assert leased.losses == ["command_watchdog has taken over"]


class Path(RuleBasedStateMachine):
    """Controller, watchdog and manager, between queues that deliver in order but at any time.

    A process that is frozen or dead is one whose rules are not chosen. A controller may be stopped
    between its two looks at the clock, where a command is published that is out of date; the zero
    follows it at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.authority = CommandAuthority(required=True, on_loss=self.lose, clock=lambda: self.now)
        self.takeover = CommandTakeover(deactivates=True, clock=lambda: self.now)
        self.beats: deque[Heartbeat] = deque()
        self.grants: deque[Grant] = deque()
        self.commands: deque[list[float]] = deque()  # as they reach the manager; what is at once
        self.requests = 0
        self.zeros = 0  # from the watchdog, since it took over
        self.publishing = False
        self.active = True
        self.interface = 0.0
        self.activate()
        self.beat()
        self.hear_heartbeat()
        self.hear_grant()

    def lose(self, reason: str) -> None:
        self.commands.append([0.0])
        self.authority.end()

    @rule(milliseconds=st.sampled_from([5, 50, 300]))
    def wait(self, milliseconds: int) -> None:
        self.now += milliseconds * MS

    @precondition(lambda self: not self.publishing)
    @rule()
    def beat(self) -> None:
        self.authority.check()
        self.beats.append(self.authority.heartbeat)

    @precondition(lambda self: self.grants and not self.publishing)
    @rule()
    def hear_grant(self) -> None:
        self.authority.receive(self.grants.popleft())

    @precondition(lambda self: self.authority.driving)
    @rule()
    def look_before_publishing(self) -> None:
        self.publishing = self.authority.check()
        if self.publishing:
            assert not self.takeover.taken_over, "nothing is decided after a take-over"

    @precondition(lambda self: self.publishing)
    @rule()
    def publish(self) -> None:
        before = len(self.commands)
        self.commands.append([EFFORT])
        self.publishing = False
        self.authority.check()
        self.commands.append([self.commands.pop()[0] for _ in range(len(self.commands) - before)])
        self.commands[-1].reverse()

    @precondition(lambda self: not self.authority.driving)
    @rule()
    def activate(self) -> None:
        self.authority.begin()

    @precondition(lambda self: self.beats)
    @rule()
    def hear_heartbeat(self) -> None:
        grant = self.takeover.heartbeat(self.beats.popleft(), TIMEOUT)
        if grant:
            self.grants.append(grant)

    @rule(count=st.sampled_from([1, 3, 15, 30]))
    def watch(self, count: int) -> None:
        for _ in range(count):
            self.now += 10 * MS
            action = self.takeover.look()
            self.zeros = self.zeros + 1 if action.zero else 0
            if action.zero:
                self.commands.append([0.0])
            if action.deactivate:
                assert self.zeros > ZEROS
                assert self.takeover.silence > TIMEOUT, "not when the heartbeat is back"
                self.requests += 1

    @rule()
    def deliver(self) -> None:
        """The manager hears what has come, in order."""
        while self.commands:
            (*_, effort) = self.commands.popleft()
            if self.active:
                self.interface = effort

    @precondition(lambda self: self.requests)
    @rule()
    def switch(self) -> None:
        """Deactivate; zeros that came a cycle before have been heard, nothing else need be."""
        if self.commands:
            self.commands.pop()
        self.deliver()
        self.requests -= 1
        self.active = False
        self.takeover.answered(ok=True)
        assert self.interface == 0.0, "what remains after the switch"

    @invariant()
    def an_inactive_controller_keeps_zero(self) -> None:
        assert self.active or self.interface == 0.0


Path.TestCase.settings = settings(max_examples=200, stateful_step_count=30, deadline=None)
test_any_order_of_events = Path.TestCase
