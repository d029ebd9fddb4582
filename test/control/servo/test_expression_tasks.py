# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motors that follow expressions: of positions, of rates, with references of t."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import mechanism_builder
from support.mechanism_builder import joint, link

from uk_dynamics import ServoController, simulate
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism

MASS = 2.0
PARTS = (
    link("base")
    + link("carrier", mass=0.0)
    + link("load", mass=MASS)
    + joint("x", "base", "carrier", kind="prismatic", axis="1 0 0")
    + joint("y", "carrier", "load", kind="prismatic", axis="0 1 0")
)
MOTORS = "actuators: {mx: {joint: x, effort_limit: 500.0}, my: {joint: y, effort_limit: 500.0}}"


def servo(tasks: str) -> tuple[Mechanism, ServoController]:
    mechanism = mechanism_builder.mechanism(PARTS, MOTORS)
    slow = "defaults: {stabilization: {frequency: 1.0}}"  # the slower, the fewer the steps
    spec = TasksSpec.from_text(f"schema: 1\n{slow}\ntasks:\n{tasks}")
    return mechanism, ServoController(mechanism, Tasks(spec, mechanism))


def test_a_circle_at_a_constant_rate_is_uniform_circular_motion() -> None:
    """One row of order position, one of order velocity; efforts are −m ω² q."""
    mechanism, controller = servo(
        "  circle: {type: expression, expression: x**2 + y**2 - 1}\n"
        "  rate: {type: expression, expression: x*d(y) - y*d(x),"
        " reference: {type: constant, value: 2.0}}\n"
    )
    start = mechanism.state({"x": 1.0}, {"y": 2.0})
    moved = simulate(mechanism, start, 1.0, controller=controller, sample_period=0.1)
    expected = np.column_stack((np.cos(2.0 * moved.t), np.sin(2.0 * moved.t)))
    # 1e-9 is the relative tolerance of the steps; the rows hold the motion to about that.
    np.testing.assert_allclose(moved.q, expected, rtol=0, atol=1e-7)
    np.testing.assert_allclose(moved.efforts, -4.0 * MASS * expected, rtol=0, atol=1e-6)
    assert moved.warnings == ()


def test_expressions_of_t_are_followed() -> None:
    mechanism, controller = servo(
        "  path:\n"
        "    type: expression\n"
        "    expressions: [x - y, x*y]\n"
        "    reference: {type: expression, value: [2 + sin(t), 3*cos(t/2)]}\n"
    )
    # x − y = 2 and x y = 3 hold at (3, 1); the rates there follow from 1 and 0.
    rate = np.linalg.solve([[1.0, -1.0], [1.0, 3.0]], [1.0, 0.0])
    start = mechanism.state([3.0, 1.0], rate)
    moved = simulate(mechanism, start, 1.0, controller=controller, sample_period=0.1)
    x, y = moved.q.T
    np.testing.assert_allclose(x - y, 2.0 + np.sin(moved.t), rtol=0, atol=1e-7)
    np.testing.assert_allclose(x * y, 3.0 * np.cos(moved.t / 2.0), rtol=0, atol=1e-7)


@pytest.mark.parametrize("frequency", [0.5, 2.0])
def test_a_wrong_rate_decays_at_the_frequency_of_its_stabilisation(frequency: float) -> None:
    mechanism, controller = servo(
        "  rate: {type: expression, expression: d(x) - t*d(y) - 1,"
        f" stabilization: {{frequency: {frequency}}}}}\n"
    )
    state = mechanism.state(v={"x": 4.0})
    moved = simulate(mechanism, state, 1.0, controller=controller, sample_period=0.1)
    error = moved.v[:, 0] - moved.t * moved.v[:, 1] - 1.0
    omega = 2.0 * math.pi * frequency
    np.testing.assert_allclose(error, 3.0 * np.exp(-omega * moved.t), rtol=0, atol=1e-7)


def test_an_acceleration_is_what_is_asked_for() -> None:
    mechanism, controller = servo(
        "  pull: {type: expression, expressions: [dd(x) - cos(t), dd(y) + 3*d(y)]}\n"
    )
    state = mechanism.state(v={"y": 1.0})
    moved = simulate(mechanism, state, 1.0, controller=controller, sample_period=0.1)
    np.testing.assert_allclose(moved.q[:, 0], 1.0 - np.cos(moved.t), rtol=0, atol=1e-8)
    np.testing.assert_allclose(moved.v[:, 1], np.exp(-3.0 * moved.t), rtol=0, atol=1e-8)
