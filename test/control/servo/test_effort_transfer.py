# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bumpless transfer of efforts: no step, no kink, and within the limits of the motors."""

from __future__ import annotations

import numpy as np
from support.mechanism_builder import shipped

from uk_dynamics.control.servo.servo_modes import EffortTransfer

OLD, NEW = np.array([2.0]), np.array([-1.0])  # N·m; the five-bar's crank motor has 20
DURATION = 0.4  # s


def commanded(times: np.ndarray) -> np.ndarray:
    """Efforts over time of a law that asks for the same always, after one that gave other ones."""
    mechanism = shipped("five_bar")
    transfer = EffortTransfer(mechanism, None)
    transfer.start(OLD, DURATION)
    still = np.zeros(mechanism.model.nv)
    return np.array([transfer.apply(NEW, float(t), still)[0] for t in times])


def test_efforts_go_over_without_a_step_or_a_kink() -> None:
    times = 3.0 + np.linspace(0.0, 1.5 * DURATION, 601)
    efforts = commanded(times)
    assert efforts[0] == OLD[0]
    assert (efforts[times >= 3.0 + DURATION] == NEW[0]).all()
    rates = np.diff(efforts) / np.diff(times)
    assert (rates <= 1e-9).all(), "straight from one to the other"
    # 1.5 of the gap per duration in the middle, and nothing at both ends: with steps of 1 ms the
    # rate may change by 6 · 3 N·m / (0.4 s)² · 1 ms = 0.12 N·m/s
    gap = float(NEW[0] - OLD[0])
    assert abs(rates.min() - 1.5 * gap / DURATION) < 1e-3
    assert np.abs(np.diff(rates, prepend=0.0, append=0.0)).max() < 0.12
    middle = np.interp(3.0 + DURATION / 2, times, efforts)
    assert abs(middle - 0.5 * (OLD[0] + NEW[0])) < 1e-9


def test_nothing_is_added_without_a_last_command_or_a_duration() -> None:
    mechanism = shipped("five_bar")
    transfer = EffortTransfer(mechanism, None)
    still = np.zeros(mechanism.model.nv)
    for last, duration in ((None, DURATION), (OLD, 0.0)):
        transfer.start(last, duration)
        assert not transfer.under_way
        assert transfer.apply(NEW, 0.0, still) is NEW
