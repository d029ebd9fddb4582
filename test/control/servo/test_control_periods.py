# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Control periods in C, one call each, next to the same ones in Python."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import shipped

from uk_dynamics.control.delay_compensation import DelayPrediction
from uk_dynamics.control.servo.servo_modes import ControlPeriods, ServoModes
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation.simulate import simulate

PERIOD = 0.002


class Both:
    """The same controller twice; one of them in C."""

    def __init__(self, delay: float = 0.0) -> None:
        self.machine = machine = shipped("five_bar")
        tasks = Tasks.from_file("five_bar_sweep", machine)
        self.modes = [
            ServoModes(machine, tasks, PERIOD, backend=backend)
            for backend in ("interpreted", "compiled")
        ]
        self.predictions = [
            DelayPrediction(machine, PERIOD, delay, backend="compiled") for _ in range(2)
        ]
        self.in_c = ControlPeriods(self.modes[1], self.predictions[1])
        run = simulate(machine, machine.start(), 0.2, sample_period=PERIOD, backend="compiled")
        self.states = iter(map(State, run.t.tolist(), run.q, run.v))

    def compare(self, periods: int) -> list[np.ndarray]:
        found = []
        for state, _ in zip(self.states, range(periods), strict=False):
            effective = self.predictions[0].at_effect(state)
            self.command = self.modes[0].command(effective)
            self.predictions[0].sent(effective.t, self.command.efforts)
            efforts = self.in_c.efforts(state)
            assert efforts is not None
            # equal but for the order of operations; efforts are up to 60 N·m
            np.testing.assert_allclose(efforts, self.command.efforts, atol=1e-9, rtol=0)
            found.append(efforts)
        return found


@pytest.mark.parametrize("delay", [0.0, 0.003])
def test_efforts_are_those_of_python_before_and_after_settings_change(delay: float):
    both = Both(delay)
    before = both.compare(20)
    for modes in both.modes:
        modes.transfer_time = 0.02
        modes.servo.gains.set("sweep", 9.0, 1.0)
        modes.start_transfer()
    first = both.compare(20)[0]
    assert abs(first - before[-1]).max() < 2.0, "bumpless"
    assert both.modes[0].servo.gains["sweep"].frequency == 9.0
    assert not both.modes[1].in_transfer, "it ended in C"
    both.modes[1].select("hold")
    assert both.in_c.efforts(next(both.states)) is None, "Python's"


def test_the_last_command_tells_what_python_tells():
    both = Both()
    for modes in both.modes:
        modes.restrict(np.array([5.0]))
    both.compare(20)
    found, expected = both.in_c.command(), both.command
    assert expected.limited_by == found.limited_by == {"crank_motor": "effort"}
    assert found.missing.keys() == expected.missing.keys() == {"sweep"}
    for name in ("efforts", "requested", "qdd", "tracking_error", "tracking_rate", "residual"):
        # accelerations are up to 1e3
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), atol=1e-8, rtol=0, err_msg=name
        )
    assert found.servo.rank == expected.servo.rank
    assert (found.unreachable, found.settled) == (expected.unreachable, expected.settled)
