# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Pace, regularity and time origins of the nodes, with clocks that are told the time."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from hypothesis import given
from hypothesis import strategies as st

from uk_dynamics.ros.diagnostics import publisher
from uk_dynamics.ros.diagnostics.publisher import RateMonitor
from uk_dynamics.ros.simulation.simulation_time import Pacer
from uk_dynamics.ros.timing.clock import TimeOrigin, nanoseconds, write_stamp

pytestmark = pytest.mark.ros


class ToldClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@given(
    st.lists(st.floats(-0.45, 0.45), min_size=2, max_size=50),
    st.floats(1e-4, 1e-2),
    st.floats(0.01, 100.0),
)
def test_a_timer_that_jitters_gets_one_step_per_tick(
    jitter: list[float], step_size: float, factor: float
) -> None:
    clock = ToldClock()
    pacer = Pacer(step_size, factor, clock)
    assert pacer.due() == 1, "the first step defines the phase"
    start = clock.now
    for k, offset in enumerate(jitter, start=1):
        clock.now = start + (k + offset) * step_size / factor
        assert pacer.due() == 1
    assert pacer.missed == 0


@given(st.lists(st.floats(0.0, 0.2), min_size=1, max_size=40), st.floats(0.1, 10.0))
def test_steps_follow_real_time_but_for_those_given_up(waits: list[float], factor: float) -> None:
    clock = ToldClock()
    pacer = Pacer(0.002, factor, clock)
    steps = pacer.due()
    for wait in waits:
        clock.now += wait
        due = pacer.due()
        assert 0 <= due <= 2, "commands are read between steps"
        steps += due
    while due := pacer.due():
        steps += due
    elapsed = sum(waits) / pacer.period + 1
    assert abs(steps + pacer.missed - elapsed) <= 0.5 + 1e-6  # rounding to the nearest step
    if max(waits) < 0.05 / 40:
        assert pacer.missed == 0, "short delays are caught up"


def test_time_without_steps_does_not_count_after_a_restart() -> None:
    clock = ToldClock()
    pacer = Pacer(0.002, 1.0, clock)
    pacer.due()
    pacer.restart()
    clock.now += 3600.0
    assert pacer.due() == 1
    assert pacer.missed == 0


def test_rate_monitor_finds_rate_error_and_missed_periods(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ToldClock()
    monkeypatch.setattr(publisher.time, "perf_counter", clock)
    monitor = RateMonitor(nominal_period=0.01)
    for k in range(101):
        if k not in (40, 41, 60):
            monitor.tick()
        clock.now += 0.01
    report = monitor.report()
    assert report["missed_ticks"] == 3
    assert report["rate"] == pytest.approx(98 / 1.01, abs=1e-6)  # rounding of summed periods
    assert report["period_error_p99"] == pytest.approx(0.01, abs=0.011)  # between 0.01 and 0.02 s
    monitor.tick()
    assert monitor.report()["missed_ticks"] == 3, "the count goes on from the last event"


def test_rate_monitor_takes_the_median_where_no_period_is_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = ToldClock()
    monkeypatch.setattr(publisher.time, "perf_counter", clock)
    monitor = RateMonitor()
    assert math.isnan(monitor.report()["period_error_p99"]), "nothing is known of nothing"
    for wait in (0.02, 0.02, 0.02, 0.06, 0.02):
        monitor.tick()
        clock.now += wait
    assert monitor.report()["missed_ticks"] == 2
    monitor.pause()
    clock.now += 10.0
    monitor.tick()
    assert monitor.report()["missed_ticks"] == 2, "a pause is no delay"


@given(st.integers(0, 2**31 - 1), st.integers(0, 999_999_999))
def test_stamps_are_exact(seconds: int, fraction: int) -> None:
    stamp = Time()
    write_stamp(stamp, nanoseconds(Time(sec=seconds, nanosec=fraction)))
    assert (stamp.sec, stamp.nanosec) == (seconds, fraction)


def test_time_origin_is_zero_under_clock_and_the_first_stamp_otherwise() -> None:
    wall, simulated = TimeOrigin(simulated=False), TimeOrigin(simulated=True)
    first, later = Time(sec=1_700_000_000, nanosec=1), Time(sec=1_700_000_002, nanosec=500_000_001)
    assert wall.since(first) == 0.0
    assert wall.since(later) == 2.5, "no digit is lost to fifty years"
    assert simulated.since(Time(sec=3, nanosec=250_000_000)) == 3.25
    wall.reset()
    simulated.reset()
    assert wall.since(later) == 0.0
    assert simulated.since(Time(sec=4)) == 4.0
    wall.latch(nanoseconds(first))
    assert wall.since(later) == 2.5
    wall.reset()
    assert wall.since(later) == 2.5, "what is known stays so"
