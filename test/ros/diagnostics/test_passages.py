# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Diagnostics name singular configurations that states have passed."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")

from diagnostic_msgs.msg import DiagnosticStatus
from support.mechanism_builder import shipped
from support.recorded import PARALLELOGRAM

from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.ros.diagnostics import motion
from uk_dynamics.ros.diagnostics.motion import MotionReport
from uk_dynamics.ros.diagnostics.publisher import Report

pytestmark = pytest.mark.ros


SETTINGS = {"residual_warning": 1e-3}


def test_a_passage_is_a_warning_until_another_motion_begins(monkeypatch) -> None:
    monkeypatch.setattr(motion, "_SHARE", 1e9)  # however slow this processor is
    machine = shipped("five_bar")  # its parallelograms are flat at crank = 0
    dynamics = machine.dynamics()
    motion_report = MotionReport(machine, dynamics, SETTINGS)

    def told() -> Report:
        report, state = Report(), machine.start()
        motion_report.report(report, state, dynamics.evaluate(state))
        return report

    def move(begin: float, rate: float) -> None:
        for k in range(1000):  # 1 s at 1 kHz
            angle = begin + rate * 1e-3 * k
            motion_report.see(State(1e-3 * k, angle * PARALLELOGRAM, rate * PARALLELOGRAM))

    move(0.61, -1.0)
    report = told()
    assert report.level == DiagnosticStatus.WARN
    (problem,) = report.problems
    assert "a singular configuration was passed near crank" in problem
    assert float(problem.partition("t = ")[2].partition(" s")[0]) == pytest.approx(0.61, abs=0.02)
    move(1.2, -0.5)  # time goes back: begun again
    assert told().level == DiagnosticStatus.OK
    assert told().values["singular_passage"] == "none"
