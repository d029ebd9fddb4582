# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joints that stick, against closed forms of dry friction.

Events are located to rounding; what is integrated between them agrees to ten times 1e-9.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import ServoController, Tasks
from uk_dynamics.cli.output.simulation_summary import summarize, summary_table
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate

G = 9.81
MASS = 2.0
SLIDE = (
    link("base") + link("mass", MASS) + joint("x", "base", "mass", kind="prismatic", axis="1 0 0")
)


def sliding(text: str, parts: str = SLIDE) -> Mechanism:
    return mechanism(parts, text)


def changes(trajectory, name: str, on: bool) -> list[float]:
    return [one.t for one in trajectory.switchings if one.changes.get(name) is on]


def test_a_joint_sticks_below_its_static_friction_and_slides_above() -> None:
    slide = sliding("joints: {x: {friction: 3.0, stiction: 5.0}}")
    still = simulate(slide, slide.start(), 60.0, tau={"x": 4.999}, sample_period=1.0)
    assert not still.q.any()
    assert not still.v.any()
    np.testing.assert_allclose(still.multipliers, -4.999, rtol=0, atol=1e-12)
    moves = simulate(slide, slide.start(), 1.0, tau={"x": -5.001})
    way = -0.5 * (5.001 - 3.0) / MASS
    assert moves.position("x")[-1] == pytest.approx(way, abs=1e-12)


def test_it_stops_and_stays() -> None:
    slide = sliding("joints: {x: {friction: 3.0, stiction: 3.0}}")
    found = simulate(slide, State(0.0, np.zeros(1), np.array([1.5])), 2.0)
    (stop,) = changes(found, "x.sticking", True)
    assert stop == pytest.approx(1.5 * MASS / 3.0, abs=1e-12)
    assert found.position("x")[-1] == pytest.approx(0.5 * MASS * 1.5**2 / 3.0, abs=1e-12)
    assert found.v[-1] == 0.0


@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_steps_tell_of_sticking_once_and_of_no_energy(backend) -> None:
    slide = sliding("joints: {x: {friction: 3.0, stiction: 3.0}}")
    start = State(0.0, np.zeros(1), np.array([1.5]))
    found = simulate(slide, start, 2.0, method="moreau", backend=backend)
    (stop,) = found.switchings
    assert stop.changes == {"x.sticking": True}
    assert stop.t == pytest.approx(1.5 * MASS / 3.0, abs=2e-3)  # two steps
    assert np.isnan(stop.energy_lost)
    slides = found.t < stop.t - 2e-3
    np.testing.assert_allclose(found.qdd[slides], -3.0 / MASS, rtol=1e-12)
    assert "dissipated" not in summary_table(summarize(found, conservative=False))


@pytest.mark.slow
def test_an_oscillator_loses_four_friction_over_stiffness_a_period() -> None:
    k, F, start = 200.0, 3.0, 0.2
    text = f"joints: {{x: {{friction: {F}, stiction: {F}, spring: {{stiffness: {k}}}}}}}"
    slide = sliding(text)
    found = simulate(slide, State(0.0, np.array([start]), np.zeros(1)), 3.0, sample_period=0.001)
    half = np.pi * np.sqrt(MASS / k)
    swings = int((start - F / k) // (2 * F / k)) + 1
    end = (start - 2 * F / k * swings) * (-1) ** swings
    assert abs(end) < F / k
    assert changes(found, "x.sticking", True)[-1] == pytest.approx(swings * half, abs=1e-8)
    assert found.position("x")[-1] == pytest.approx(end, abs=1e-8)
    assert found.v[-1] == 0.0
    energy = found.energy[0] - found.energy[-1]
    assert energy == pytest.approx(0.5 * k * (start**2 - end**2), abs=1e-8)


def test_a_mass_that_a_spring_pulls_steadily_sticks_and_slips() -> None:
    k, coulomb, static, speed = 300.0, 3.0, 5.0, 0.05
    parts = (
        SLIDE + link("hook", 0.5) + joint("pull", "base", "hook", kind="prismatic", axis="1 0 0")
    )
    text = f"""
joints: {{x: {{friction: {coulomb}, stiction: {static}}}}}
constraints:
  winch: {{type: joint, joint: pull, reference: {{type: expression, value: ["{speed}*t"]}}}}
forces:
  rope: {{type: joint_spring, joints: {{pull: 1, x: -1}}, stiffness: {k}}}
"""
    pulled = sliding(text, parts)
    found = simulate(pulled, pulled.start(), 4.0)
    slips = np.array(changes(found, "x.sticking", False))
    sticks = np.array(changes(found, "x.sticking", True))
    omega = np.sqrt(k / MASS)
    wait = 2.0 * (static - coulomb) / (k * speed)
    slide = 2.0 / omega * (np.pi - np.arctan((static - coulomb) * omega / (k * speed)))
    assert len(slips) > 3
    assert slips[0] == pytest.approx(static / (k * speed), abs=1e-9)
    np.testing.assert_allclose(np.diff(slips), wait + slide, rtol=0, atol=1e-8)
    sticks = sticks[sticks > slips[0]]
    np.testing.assert_allclose(sticks - slips[: len(sticks)], slide, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_a_mass_on_a_belt_sticks_and_slips() -> None:
    """The belt takes it along until its spring breaks it away; there it catches it again."""
    k, static, coulomb, speed = 300.0, 5.0, 3.0, 0.2
    parts = (
        link("base")
        + link("belt", 1.0)
        + link("mass", MASS)
        + joint("run", "base", "belt", kind="prismatic", axis="1 0 0")
        + joint("x", "belt", "mass", kind="prismatic", axis="1 0 0")
    )
    text = f"""
joints: {{x: {{friction: {coulomb}, stiction: {static}}}}}
constraints:
  drive: {{type: joint, joint: run, reference: {{type: expression, value: ["{speed}*t"]}}}}
forces:
  spring: {{type: joint_spring, joints: {{run: 1, x: 1}}, stiffness: {k}}}
"""
    belt = sliding(text, parts)
    start = belt.start()
    start.v[0] = speed
    found = simulate(belt, start, 4.0)
    slips = np.array(changes(found, "x.sticking", False))
    sticks = np.array(changes(found, "x.sticking", True))
    omega, over = np.sqrt(k / MASS), (static - coulomb) / k
    slide = 2.0 / omega * (np.pi - np.arctan(over * omega / speed))
    assert len(slips) > 3
    assert slips[0] == pytest.approx(static / (k * speed), abs=1e-9)
    np.testing.assert_allclose(np.diff(slips), 2.0 * over / speed + slide, rtol=0, atol=1e-8)
    sticks = sticks[sticks > slips[0]]
    np.testing.assert_allclose(sticks - slips[: len(sticks)], slide, rtol=0, atol=1e-8)
    # while it slides it swings about where friction holds the spring
    place = found.q.sum(axis=1)
    furthest = coulomb / k + np.hypot(over, speed / omega)
    assert place.max() <= furthest + 1e-9
    assert place.max() == pytest.approx(furthest, abs=1e-3)  # of samples every 10 ms


@pytest.mark.slow
def test_fixed_steps_agree_to_order_one() -> None:
    k, F = 200.0, 3.0
    text = f"joints: {{x: {{friction: {F}, stiction: {F}, spring: {{stiffness: {k}}}}}}}"
    slide, errors = sliding(text), []
    start = State(0.0, np.array([0.2]), np.zeros(1))
    exact = simulate(slide, start, 1.0)
    steps = (4e-3, 1e-3, 2.5e-4, 6.25e-5)
    for step in steps:
        found = simulate(slide, start, 1.0, method="moreau", step=step)
        errors.append(np.abs(found.q - exact.q).max())
    # between two of them it depends on where the steps lie in the swings
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 0.8 < order < 1.4
    assert errors[-1] < 5e-5
    still = simulate(slide, State(0.0, np.array([0.01]), np.zeros(1)), 10.0, method="moreau")
    np.testing.assert_allclose(still.q, 0.01, rtol=0, atol=1e-14)


def test_a_closed_loop_sticks_where_its_joints_do() -> None:
    """A slider-crank that friction of its slider holds against gravity on the crank."""
    parts = (
        link("base")
        + link("crank", 1.0, 0.01, "0.5 0 0")
        + link("slider", 1.0)
        + joint("turn", "base", "crank", axis="0 1 0")
        + joint("slide", "base", "slider", kind="prismatic", axis="0 0 1", xyz="1 0 0")
    )
    text = """
joints: {slide: {friction: %r, stiction: %r}}
constraints:
  groove: {type: frame, axes: [z], parent: {link: crank, xyz: [1, 0, 0]}, child: {link: slider}}
"""
    # Lever arms 0.5 and 1 m: the groove carries half of the crank's weight, and the slider's own.
    load = 0.5 * 1.0 * G + 1.0 * G
    for part, moves in ((1.001, False), (0.999, True)):
        machine = sliding(text % (part * load, part * load), parts)
        found = simulate(machine, machine.start(), 0.5)
        assert bool(np.abs(found.v).max() > 1e-9) is moves
        if not moves:
            rows = dict(zip(found.names.constraint_rows, found.multipliers[-1], strict=True))
            assert rows["slide.sticking"] == pytest.approx(load, abs=1e-9)


def test_static_friction_below_sliding_friction_is_refused() -> None:
    with pytest.raises(MechanismFileError, match=r"joints\.x\.stiction: expected at least .* 3"):
        sliding("joints: {x: {friction: 3.0, stiction: 2.0}}")


@pytest.mark.slow
def test_a_controller_moves_what_sticks_instead_of_holding_it() -> None:
    """Told of the sliding it compensates that friction; to break away it needs its feedback."""
    slide = sliding("joints: {x: {friction: 3.0, stiction: 4.0}}\nactuators: {motor: {joint: x}}")
    reference = {"type": "sinusoid", "amplitude": 0.02, "frequency": 1.0}
    task = {"type": "joint", "joint": "x", "reference": reference}
    tasks = Tasks.from_data({"tasks": {"way": task}}, slide)
    controller = ServoController(slide, tasks, control_period=0.002)
    start = slide.start(tasks=tasks)
    found = simulate(slide, start, 1.0, controller=controller, control_period=0.002)
    assert not [one for one in found.warnings if "cannot accelerate" in one]
    assert np.ptp(found.position("x")) > 0.035
    # feedback of 5 Hz needs 4/(2 (2π 5)²) = 2 mm to break 2 kg away from 4 N
    assert np.abs(found.tracking_error).max() < 4e-3
    held = changes(found, "x.sticking", True)
    assert len(held) >= 2  # where it turns round


@pytest.mark.parametrize(
    ("friction", "step", "warned"), [(1.0, 1e-3, False), (60.0, 1e-3, True), (60.0, 1e-5, False)]
)
def test_steps_say_where_friction_is_too_steep_for_them(friction, step, warned) -> None:
    """F tanh(v/v₀) with v₀ = 0.01 rad/s or m/s turns a mass back beyond 2 m v₀/F."""
    rough = SLIDE.replace("</joint>", f'<dynamics friction="{friction}"/></joint>')
    slide = sliding("joints: {x: {stop: {hard: true}}}", rough)
    assert (step > 2.0 * MASS * 1e-2 / friction) is warned
    start = State(0.0, np.zeros(1), np.array([1e-4]))
    found = simulate(slide, start, 10 * step, method="moreau", step=step, backend="interpreted")
    assert any("friction of x is too steep" in said for said in found.warnings) is warned
