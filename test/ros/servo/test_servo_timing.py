# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Latencies, missed periods and the garbage collector of servo_controller."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

pytest.importorskip("rclpy")

from hypothesis import given
from hypothesis import strategies as st
from support.mechanism_builder import shipped
from support.nodes.ros_fixtures import Ros
from support.nodes.servo_bench import Bench

from uk_dynamics.control.servo.servo_modes import ServoModes
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.servo.servo_timing import LatencyHistogram, PeriodMonitor, QuietCollector

pytestmark = pytest.mark.ros


@given(st.lists(st.floats(1e-6, 9.0), min_size=1, max_size=300))
def test_quantiles_are_right_to_five_percent(durations: list[float]) -> None:
    histogram = LatencyHistogram()
    for duration in durations:
        histogram.add(duration)
    seen = histogram.report()
    for name, part in (("p50", 50), ("p99", 99), ("p99.9", 99.9)):
        found = seen[name]
        exact = np.percentile(durations, part, method="inverted_cdf")
        assert exact * (1.0 - 1e-9) <= found <= exact * 1.05
    assert seen["max"] == max(durations)


def test_durations_beyond_the_bins_are_counted() -> None:
    histogram = LatencyHistogram()
    assert not histogram.report()
    for duration in (0.0, 1e-9, 100.0):
        histogram.add(duration)
    assert histogram.report()["max"] == 100.0
    assert histogram.report()["p50"] == 1e-6


def test_stamps_tell_missed_periods_and_another_rate() -> None:
    monitor = PeriodMonitor(0.002)

    def said() -> Report:
        report = Report()
        monitor.report(report)
        return report

    assert said().values["stamp_rate"] == "nan"
    for k in (0, 1, 2, 5, 6):  # two are missing
        monitor.tick(10**9 + k * 2_000_000)
    seen = said()
    assert seen.values["missed_periods"] == "2"
    assert float(seen.values["stamp_rate"]) == pytest.approx(4 / 0.012, abs=1e-3)  # six digits
    assert "update_rate is 500" in seen.problems[0]
    for k in range(7, 20):
        monitor.tick(10**9 + k * 2_000_000 + 100_000 * (k % 2))  # some jitter
    seen = said()
    assert (seen.values["missed_periods"], seen.problems) == ("2", [])


def test_garbage_is_collected_when_there_is_time() -> None:
    now = 50.0
    collector = QuietCollector(lambda: now)
    collector.idle()
    assert gc.isenabled(), "not before the start"
    collector.start()
    try:
        assert not gc.isenabled()
        ring: list[object] = []
        ring.append(ring)
        del ring
        collector.idle()
        assert collector.found == 0, "it is not due yet"
        now = 51.5
        collector.idle()
        assert collector.found >= 1
    finally:
        collector.stop()
    assert gc.isenabled()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "task_file"),
    [("five_bar", "five_bar_sweep"), ("coordinated_robots", "coordinated_robots_lift")],
)
def test_decisions_leave_no_garbage_and_need_no_more_memory(name: str, task_file: str) -> None:
    mechanism = shipped(name)
    modes = ServoModes(mechanism, Tasks.from_file(task_file, mechanism), 2e-3)
    state = mechanism.start()

    def decide(count: int) -> None:
        for k in range(count):
            modes.command(State(2e-3 * k, state.q, state.v))

    decide(20)
    gc.collect()
    gc.disable()
    try:
        before = sys.getallocatedblocks()
        decide(200)
        assert gc.collect() == 0, "no cycles, so that the collector is not needed"
        assert sys.getallocatedblocks() - before < 200, "less than a block per decision"
    finally:
        gc.enable()


def test_the_node_reports_its_timing_and_keeps_the_collector_away(ros: Ros) -> None:
    bench = Bench(ros, autostart=True, state_timeout=60.0, update_rate=100.0)
    clock = iter(range(10**6))

    def said(key: str, text: str = "") -> bool:
        bench.command(next(clock) * 0.02)  # half as many as the node was told
        return key in bench.diagnostics.values and text in bench.diagnostics.message

    ros.until(lambda: said("response_p99.9", "update_rate is 100"), "the timing")
    assert not gc.isenabled()
    values = {
        key: float(value)
        for key, value in bench.diagnostics.values.items()
        if key.startswith("response_p")
    }
    assert 0.0 < values["response_p50"] <= values["response_p99"] <= values["response_p99.9"]
    assert float(bench.diagnostics.values["response_max"]) >= values["response_p50"]
    assert int(bench.diagnostics.values["missed_periods"]) >= 1
    assert "delay_p50" not in bench.diagnostics.values, "these stamps are not of this clock"
    assert bench.change("deactivate")
    assert gc.isenabled()
