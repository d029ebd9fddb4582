# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The delay of a loop, by efforts that come back and by stamps, and what is said of gains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from support.mechanism_builder import shipped

from uk_dynamics.control.servo.servo_modes import ServoModes
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.ros.servo.live_settings import GainCheck
from uk_dynamics.ros.servo.servo_timing import LoopDelay

pytestmark = pytest.mark.ros

PERIOD = 0.005
START = 1_000_000_000_000  # ns


class Loop:
    """States every 5 ms, 2 ms old when they come; efforts act some periods after their state."""

    def __init__(self, late: int, command_delay: float = 0.0, *, echo: bool = True) -> None:
        settings: Any = {"command_delay": command_delay, "longest_prediction": 0.1}
        self.now = START
        # two motors on three joints, one of them passive
        matrix = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 2.0]])
        self.delay = LoopDelay(settings, matrix, PERIOD, lambda: self.now)
        self.late, self.echo, self.matrix = late, echo, matrix
        self.sent: list[np.ndarray] = []

    def run(self, periods: int, *, same: bool = False) -> float:
        rng = np.random.default_rng(1)
        for _ in range(periods):
            k = len(self.sent)
            stamp = START + round(k * PERIOD * 1e9)
            self.now = stamp + 2_000_000
            acted = k - 1 - self.late  # since the state before, the efforts for a still older one
            tau = np.zeros(3)
            if acted >= 0 and self.echo:
                tau = self.matrix @ self.sent[acted]
            found = self.delay.of_state(stamp)
            self.sent.append(np.ones(2) if same else rng.normal(size=2))
            self.delay.answered(stamp, self.sent[-1], tau)
        return found


@pytest.mark.parametrize("late", [0, 1, 3])
def test_efforts_that_come_back_tell_the_delay(late: int):
    loop = Loop(late)
    assert loop.run(4) == pytest.approx(0.002, abs=1e-9), "the age of the state, at first"
    assert loop.run(20) == pytest.approx(late * PERIOD, abs=1e-9)
    assert loop.delay.returned


def test_without_returns_it_is_the_age_and_what_is_configured():
    assert Loop(3, 0.004, echo=False).run(30) == pytest.approx(0.006, abs=1e-9)
    assert Loop(3, 0.004).run(30) == pytest.approx(3 * PERIOD + 0.004, abs=1e-9)


def test_efforts_that_never_change_tell_nothing():
    loop = Loop(3)
    assert loop.run(30, same=True) == pytest.approx(0.002, abs=1e-9)
    assert not loop.delay.returned


def test_a_state_that_is_late_is_predicted_further_and_a_strange_clock_is_not_believed():
    loop = Loop(1)
    loop.run(20)
    stamp = START + round(20 * PERIOD * 1e9)
    loop.now = stamp + 30_000_000
    assert loop.delay.of_state(stamp) == pytest.approx(0.030 - PERIOD, abs=1e-9)
    loop.now = stamp - 10**12
    assert loop.delay.of_state(stamp + 1) == pytest.approx(PERIOD, abs=1e-9)


def test_gains_are_compared_again_when_something_has_changed():
    machine = shipped("five_bar")
    modes = ServoModes(machine, Tasks.from_file("five_bar_sweep", machine), 0.01)
    settings: Any = {"hold_frequency": 50.0, "hold_damping_ratio": 1.0}
    check = GainCheck(modes, settings)
    (warning,) = check.look(0.035, 0.01)  # 3.5 periods at 100 Hz
    assert warning.startswith("gains.sweep.frequency is 5 Hz, but with a delay of 45 ms")
    assert "at most 3 Hz are safe" in warning
    assert not check.look(0.0351, 0.01), "said already"
    assert check.look(0.035, 0.02)
    modes.servo.gains.set("sweep", 2.0, 1.0)
    assert not check.look(0.035, 0.01)
    modes.select("hold")
    (warning,) = check.look(0.035, 0.01)
    assert warning.startswith("hold_frequency is 50 Hz")
