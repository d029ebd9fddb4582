# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which states are doubtful after those before them, without any messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from support.mechanism_builder import arm, mechanism

from uk_dynamics.ros.servo.fault_reactions import Fault
from uk_dynamics.ros.servo.state_guard import StateGuard

pytestmark = pytest.mark.ros

SETTINGS: Any = {
    "position_jump": 0.1,
    "speed_factor": 1.2,
    "state_timeout": 0.1,
    "update_rate": 100.0,
}
PERIOD = 0.01  # s


class Watched:
    """A joint whose states come every 10 ms by both clocks, unless said otherwise."""

    def __init__(self, *, simulated: bool = False, limited: bool = False) -> None:
        model = mechanism(arm([1.0], [(-1e3, 1e3)] if limited else None)).model
        self.now, self.stamp, self.q, self.v = 7.0, 3.0, 0.5, 0.0
        self.guard = StateGuard(
            model,
            SETTINGS,
            reach=lambda q, v: np.array([REACH]),
            simulated=simulated,
            clock=lambda: self.now,
        )
        assert self.guard.silence() is None, "before the first state nothing is late"
        assert self.state() is None

    def state(self) -> Fault | None:
        doubt = self.guard.check(round(self.stamp * 1e9), np.array([self.q]), np.array([self.v]))
        return None if doubt is None else doubt.fault

    def next(self, passed: float = PERIOD, elapsed: float = PERIOD) -> Fault | None:
        self.now += passed
        self.stamp += elapsed
        self.q += elapsed * self.v
        return self.state()

    @property
    def silent(self) -> bool:
        doubt = self.guard.silence()
        return doubt is not None and doubt.fault is Fault.STALE_STATE


def test_a_state_that_comes_too_late_is_stale_and_without_looks_it_was_a_pause():
    joint = Watched()
    assert joint.next(0.09, 0.09) is None
    assert joint.next(0.11, 0.11) is Fault.PAUSE, "nobody looked: the process did not run"
    joint = Watched()
    for _ in range(5):
        joint.now += 0.02
        assert not joint.silent
    assert joint.next(0.01, 0.11) is Fault.STALE_STATE


REACH = 200.0  # rad/s², of the motor below


@pytest.mark.parametrize("pause", [0.06, 0.09])
def test_a_pause_in_which_the_motor_acted_on_is_no_jump(pause: float):
    """Forth and back again at full effort: velocities at both ends do not tell of it."""
    joint = Watched()
    for _ in range(20):
        assert joint.next() is None
    away = 0.25 * REACH * pause**2
    joint.q += away
    assert joint.next(pause, pause) is None
    assert [joint.next() for _ in range(60)] == [None] * 60, "nor is what follows"
    joint.q += away + 1.01 * SETTINGS["position_jump"]
    assert joint.next(pause, pause) is Fault.PAUSE, "further than the motor can take it"
    joint = Watched()
    assert joint.next() is None
    joint.q += away + 1.01 * SETTINGS["position_jump"]
    assert joint.next() is Fault.POSITION_JUMP, "without a pause"


@pytest.mark.parametrize(("later", "fault"), [(10, Fault.PAUSE), (60, Fault.OVER_SPEED)])
def test_a_joint_that_is_too_fast_soon_after_a_pause(later: int, fault: Fault):
    joint = Watched(limited=True)
    joint.guard.forget()
    joint.v = 110.0
    assert joint.state() is None
    assert joint.next(0.08, 0.08) is None
    assert [joint.next() for _ in range(later)] == [None] * later
    joint.v = 121.0  # above 1.2 times 100 rad/s
    assert joint.next() is fault


def test_the_same_instant_again_and_again_is_no_new_state():
    joint = Watched()
    for _ in range(20):  # a simulation that is paused yet
        assert joint.next(elapsed=0.0) is None
    joint.next()
    assert [joint.next(elapsed=0.0) for _ in range(9)] == [None] * 9
    joint.now += 2 * PERIOD
    assert joint.silent


def test_under_clock_time_may_stand_and_run():
    joint = Watched(simulated=True)
    joint.next()
    for _ in range(20):
        assert joint.next(elapsed=0.0) is None
    assert not joint.silent
    assert joint.next(elapsed=5.0) is None
    assert joint.next(elapsed=-5.0) is Fault.TIME_BACKWARDS


def test_stamps_ahead_of_the_time_that_has_passed():
    joint = Watched()
    assert joint.next(elapsed=0.1) is None  # less than state_timeout too far
    assert joint.next(elapsed=0.2) is Fault.TIME_JUMP


def test_positions_that_stand_still_while_velocities_go_on():
    joint = Watched()
    joint.v = 0.5
    for _ in range(100):
        assert joint.next() is None, "a steady motion"
    stuck, faults = joint.q, []
    while not any(faults) and len(faults) < 100:
        joint.q = stuck - PERIOD * joint.v
        faults.append(joint.next())
    assert faults[-1] is Fault.POSITION_JUMP
    # 0.1 rad at 0.5 rad/s, in the next window at the latest
    assert PERIOD * len(faults) < 0.1 / 0.5 + 0.2 + 2 * PERIOD


def test_a_fast_start_is_no_jump():
    """The mean of two velocities is exact under constant acceleration, one of them is not."""
    joint = Watched()
    elapsed, acceleration = 0.09, 40.0
    assert 0.5 * acceleration * elapsed**2 > SETTINGS["position_jump"]
    for _ in range(20):
        joint.q += 0.5 * acceleration * elapsed**2
        before = joint.v
        joint.v += acceleration * elapsed
        joint.q -= elapsed * (joint.v - before)  # next() moves on with the new velocity
        assert joint.next(elapsed, elapsed) is None


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_too_fast_is_too_fast_either_way(sign: float):
    limit = 100.0 * SETTINGS["speed_factor"]  # rad/s
    joint = Watched(limited=True)
    joint.v = sign * 0.999 * limit
    assert joint.next() is not Fault.OVER_SPEED
    joint.v = sign * 1.001 * limit
    assert joint.next() is Fault.OVER_SPEED
