# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts that hold more while they stick than while they slide, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import inverse_dynamics, standing
from uk_dynamics.conversion import export_mechanism
from uk_dynamics.exceptions import MechanismFileError, UkDynamicsError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate

G, MASS, FRICTION, STATIC = 9.81, 2.0, 0.3, 0.5
LIMIT = np.arctan(STATIC)
SLIDE = (
    link("base")
    + link("lift", 0.0)
    + link("mass", MASS)
    + joint("x", "base", "lift", kind="prismatic", axis="1 0 0")
    + joint("z", "lift", "mass", kind="prismatic", axis="0 0 1")
)


def on_slope(slope: float, friction: float = FRICTION, static: float = STATIC) -> Mechanism:
    """A block on four corners, three of them too many, in axes of the slope."""
    text = f"""
model: {{root: floating, gravity: [{G * np.sin(slope)}, 0, {-G * np.cos(slope)}]}}
contacts:
  corner:
    parent: {{link: world}}
    child: {{link: block}}
    points: [[0.1, 0.1, -0.05], [0.1, -0.1, -0.05], [-0.1, 0.1, -0.05], [-0.1, -0.1, -0.05]]
    friction: {friction}
    static_friction: {static}
initial_guess: {{root.z: 0.05}}
"""
    return mechanism(link("block", MASS, 0.02), text)


def on_one_foot(slope: float) -> Mechanism:
    """The same on one foot, which slides along the slope alone."""
    text = f"""
model: {{gravity: [{G * np.sin(slope)}, 0, {-G * np.cos(slope)}]}}
contacts:
  foot:
    parent: {{link: world}}
    child: {{link: mass}}
    friction: {FRICTION}
    static_friction: {STATIC}
"""
    return mechanism(SLIDE, text)


def down(slope: float, friction: float = FRICTION) -> float:
    return G * (np.sin(slope) - friction * np.cos(slope))


@pytest.mark.parametrize("method", ["DOP853", "moreau"])
def test_a_block_sticks_up_to_the_angle_of_static_friction(method: str) -> None:
    block = on_slope(LIMIT - 1e-6)
    seconds = 10.0 if method == "DOP853" else 0.1
    still = simulate(block, block.start(), seconds, sample_period=0.1 * seconds, method=method)
    np.testing.assert_allclose(still.q, np.tile(still.q[0], (11, 1)), rtol=0, atol=1e-13)
    assert np.abs(still.v).max() < 1e-13
    if method == "moreau":
        contact = block.contacts(block.start())["corner.1"]
        assert contact.friction == STATIC
        assert contact.slip_margin == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(("method", "near"), [("DOP853", 1e-9), ("moreau", 2e-3)])
def test_beyond_it_a_block_slides_with_less(method: str, near: float) -> None:
    slope = LIMIT + 1e-3
    block = on_one_foot(slope)
    found = simulate(block, block.start(), 0.5, method=method)
    assert found.q[-1, 0] == pytest.approx(0.5 * down(slope) * 0.25, abs=near)
    assert found.v[-1, 0] == pytest.approx(0.5 * down(slope), abs=near)


def test_all_corners_slide_where_one_of_them_leaves_its_cone() -> None:
    block = on_slope(LIMIT + 1e-3)
    found = simulate(block, block.start(), 0.2)
    assert found.v[-1, 0] == pytest.approx(0.2 * down(LIMIT + 1e-3), abs=1e-8)


@pytest.mark.parametrize(("method", "near"), [("DOP853", 1e-9), ("moreau", 2e-3)])
def test_between_both_what_slides_goes_on_and_what_rests_stays(method: str, near: float) -> None:
    slope = 0.5 * (np.arctan(FRICTION) + LIMIT)
    block = on_one_foot(slope)
    start = block.start()
    assert not simulate(block, start, 0.5, method=method).v[:, 0].max() > 1e-13
    v = start.v.copy()
    v[0] = 0.1
    found = simulate(block, State(0.0, start.q, v), 0.5, method=method)
    assert found.v[-1, 0] == pytest.approx(0.1 + 0.5 * down(slope), abs=near)
    v[0] = -1.0  # up the slope it is braked by the lesser one, too, then held by the other
    found = simulate(block, State(0.0, start.q, v), 0.5, method=method)
    brake = down(slope, -FRICTION)
    assert found.q[-1, 0] - start.q[0] == pytest.approx(-0.5 / brake, abs=near)
    assert np.abs(found.v[-1]).max() < 1e-12


BELT = link("belt", 1.0) + joint("run", "base", "belt", kind="prismatic", axis="1 0 0") + SLIDE
STIFFNESS, SPEED = 300.0, 0.2


def on_belt() -> tuple[Mechanism, State]:
    text = f"""
constraints:
  drive: {{type: joint, joint: run, reference: {{type: expression, value: ["{SPEED}*t"]}}}}
contacts:
  foot:
    parent: {{link: belt}}
    child: {{link: mass}}
    friction: {FRICTION}
    static_friction: {STATIC}
forces:
  spring: {{type: joint_spring, joints: {{x: 1}}, stiffness: {STIFFNESS}}}
"""
    belt = mechanism(BELT, text)
    start = belt.start()
    start.v[:2] = SPEED
    return belt, start


def test_a_mass_on_a_belt_sticks_and_slips() -> None:
    belt, start = on_belt()
    found = simulate(belt, start, 3.0)
    slips, sticks = (
        np.array([x.t for x in found.switchings if x.changes.get("foot.sticking") is on])
        for on in (False, True)
    )
    omega, over = np.sqrt(STIFFNESS / MASS), (STATIC - FRICTION) * MASS * G / STIFFNESS
    slide = 2.0 / omega * (np.pi - np.arctan(over * omega / SPEED))
    assert len(slips) > 3
    assert slips[0] == pytest.approx(STATIC * MASS * G / (STIFFNESS * SPEED), abs=1e-9)
    np.testing.assert_allclose(np.diff(slips), 2.0 * over / SPEED + slide, rtol=0, atol=1e-8)
    sticks = sticks[sticks > slips[0]]
    np.testing.assert_allclose(sticks - slips[: len(sticks)], slide, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_steps_on_a_belt_are_alike_in_c_and_lead_to_the_same() -> None:
    belt, start = on_belt()
    exact, errors = simulate(belt, start, 1.5), []
    for step in (2e-3, 5e-4):
        in_python, in_c = (
            simulate(belt, start, 1.5, method="moreau", step=step, backend=backend)
            for backend in ("interpreted", "compiled")
        )
        np.testing.assert_allclose(in_c.q, in_python.q, rtol=0, atol=1e-10)
        np.testing.assert_allclose(in_c.v, in_python.v, rtol=0, atol=1e-10)
        errors.append(np.abs(in_c.q - exact.q).max())
    assert errors[1] < 0.4 * errors[0] < 4e-3


def test_what_stands_holds_by_static_friction() -> None:
    pytest.importorskip("clarabel")
    for slope, stands in ((LIMIT - 1e-4, True), (LIMIT + 1e-4, False)):
        block = on_slope(slope)
        found = standing(block, block.start())
        assert found.stands is stands
        found = block.equilibrium(block.start().q) if stands else None
        if found is None:
            with pytest.raises(UkDynamicsError, match="slide"):
                block.equilibrium(block.start().q)
    assert standing(on_slope(0.1), block.start()).friction_needed == pytest.approx(
        np.tan(0.1) / STATIC, abs=1e-5
    )
    # what slides has the friction of sliding
    slope = LIMIT + 0.1
    block = on_slope(slope)
    qdd = np.zeros(6)
    qdd[0] = down(slope)
    found = inverse_dynamics(block, block.start(), qdd)
    assert found.possible
    forces = np.sum([one.force for one in found.contacts.values()], axis=0)
    np.testing.assert_allclose(forces[1], -FRICTION * forces[0], rtol=1e-6)


def test_less_than_that_of_sliding_is_refused() -> None:
    for friction, static in ((0.5, 0.4), (0.0, 0.4)):
        with pytest.raises(MechanismFileError, match=r"contacts.corner.static_friction: expected"):
            on_slope(0.1, friction, static)
    with pytest.raises(MechanismFileError, match=r"static_friction: expected at least"):
        on_slope(0.1).with_parameters({"contacts.corner.friction": 0.6})


def test_mujoco_has_none() -> None:
    remarks = export_mechanism(on_slope(0.1), "mjcf").remarks
    assert any("static friction; that of sliding" in str(one) for one in remarks)
