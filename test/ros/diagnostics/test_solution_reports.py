# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What diagnostics say of a solution that cannot be trusted in full."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")

from diagnostic_msgs.msg import DiagnosticStatus
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.ros.diagnostics.motion import MotionReport
from uk_dynamics.ros.diagnostics.publisher import Report

pytestmark = pytest.mark.ros


def told(machine, state, inputs=None):
    report, dynamics = Report(), machine.dynamics()
    solution = dynamics.evaluate(state, inputs)
    MotionReport(machine, dynamics, {"residual_warning": 1e-3}).report(report, state, solution)
    return report


def test_friction_with_a_load_that_nobody_knows_is_a_warning():
    parts = link("base") + link("body", 2.0, 0.3, com="0.4 0 0")
    parts += '<joint name="free" type="planar"><parent link="base"/><child link="body"/>'
    parts += '<axis xyz="0 1 0"/></joint>'
    pin = (
        "{type: frame, axes: [x, z], parent: {link: base}, child: {link: body},"
        " friction: {coulomb: 0.2, radius: 0.02}}"
    )
    machine = mechanism(parts, f"constraints: {{one: {pin}, two: {pin}}}\n")
    report = told(machine, machine.state(None, [0.0, 0.0, 1.0]))
    assert report.values["status"] == "undetermined_load"
    assert report.level == DiagnosticStatus.WARN
    assert any("one, two" in problem for problem in report.problems)
    assert told(machine, machine.state()).level == DiagnosticStatus.OK  # at rest nothing rubs


def test_a_jam_is_a_warning_that_names_the_joint():
    parts = link("base") + link("cart") + link("body")
    parts += joint("x", "base", "cart", kind="prismatic", axis="1 0 0")
    parts += joint("z", "cart", "body", kind="prismatic", axis="0 0 1")
    machine = mechanism(
        parts,
        "model: {gravity: [0, 0, 0]}\nconstraints:\n  rail:\n    {type: planar,"
        " axis: [-0.9, 0, 0.4], parent: {link: base}, child: {link: body},"
        " friction: {coulomb: 20, velocity: 1e-6}}\n",
    )
    problems = []
    for rate in (1.0, -1.0):
        state = machine.state({}, {"x": 0.4 * rate, "z": 0.9 * rate})
        report = told(machine, state, Inputs(tau=[-5.0, 0.0]))
        problems += report.problems
    assert any("jammed" in problem and "rail" in problem for problem in problems)
