# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motions over round surfaces against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipk
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import Mechanism, simulate
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism.resolution import State

G = 9.81


def ball_on(surface: str, radius: float, friction: float) -> Mechanism:
    """A ball of 2 kg, floating, over a surface about the y axis of the world."""
    return mechanism(
        link("ball", 2.0, 0.4 * 2.0 * radius**2),
        "model: {root: floating}\n"
        "contacts: {touch: {parent: {link: world, rpy: [-1.5707963267948966, 0, 0]},"
        f" child: {{link: ball}}, radius: {radius}, surface: {surface}, friction: {friction}}}}}",
    )


def at(ball: Mechanism, distance: float, angle: float) -> State:
    """The ball at a distance from the axis, by its angle from the vertical."""
    state = ball.start()
    state.q[:3] = distance * np.sin(angle), 0.0, distance * np.cos(angle)
    return state


@pytest.mark.parametrize("surface", [pytest.param("cylinder", marks=pytest.mark.slow), "sphere"])
def test_a_smooth_ball_leaves_a_round_top_at_two_thirds_of_its_height(surface: str) -> None:
    ball = ball_on(f"{{type: {surface}, radius: 0.5}}", 0.1, 0.0)
    found = simulate(ball, at(ball, 0.6, 0.2), 1.0, rtol=1e-12, atol=1e-13)
    (event,) = found.switchings[1:] if found.switchings[0].changes["touch"] else found.switchings
    state = simulate(ball, at(ball, 0.6, 0.2), event.t, rtol=1e-12, atol=1e-13)
    # located to 1e-12 s, of a motion with tolerances of 1e-12
    height = state.q[-1, 2] / 0.6
    assert height == pytest.approx(2.0 / 3.0 * np.cos(0.2), rel=1e-8)
    speed = np.linalg.norm(state.v[-1, :3])
    assert speed**2 == pytest.approx(2.0 * G * 0.6 * (np.cos(0.2) - height), rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("surface", ["cylinder", "sphere"])
def test_a_ball_rolls_in_a_bowl_with_the_period_of_its_closed_form(surface: str) -> None:
    ball = ball_on(f"{{type: {surface}, radius: 0.5, hollow: true}}", 0.1, 0.9)
    period = 4.0 * ellipk(np.sin(0.5) ** 2) * np.sqrt(7.0 * 0.4 / (5.0 * G))
    start = at(ball, 0.4, np.pi - 1.0)
    options = {"rtol": 1e-12, "atol": 1e-13, "sample_period": 0.5 * period}
    found = simulate(ball, start, 2.0 * period, **options)
    # at rest after every half period, on either side
    for k, side in enumerate((1.0, -1.0, 1.0, -1.0, 1.0)):
        wanted = [side * start.q[0], 0.0, start.q[2]]
        np.testing.assert_allclose(found.q[k, :3], wanted, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found.v[k], 0.0, rtol=0, atol=1e-7)
    assert found.contact("touch").sticks.all()


def test_two_balls_strike_as_newton_says() -> None:
    slide = {"kind": "prismatic", "axis": "1 0 0", "limits": (-9.0, 9.0)}
    parts = "".join(joint(x, "world", x, **slide) + link(x, m) for x, m in (("a", 1.0), ("b", 3.0)))
    balls = mechanism(
        parts,
        "contacts: {touch: {parent: {link: a}, child: {link: b}, radius: 0.1, restitution: 0.5,"
        " surface: {type: sphere, radius: 0.2}}}",
    )
    start = balls.state({"a": 0.0, "b": 1.0})
    start.v[:] = 2.0, -1.0
    found = simulate(balls, start, 1.0)
    # momentum of −1 N s, approach 3 m/s, so 1.5 m/s apart
    np.testing.assert_allclose(found.v[-1], [-0.25 - 1.125, -0.25 + 0.375], rtol=0, atol=1e-12)
    assert found.switchings[0].t == pytest.approx(0.7 / 3.0, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["compiled", "interpreted"])
def test_friction_of_steps_knows_the_load_of_a_curved_way(backend: Backend) -> None:
    """A mass slides in a ring without gravity, where its way alone presses it: v₀/(1 + μ v₀ t/R).

    Half of that load would be missing if velocities were put onto the surface without friction.
    """
    parts = joint("x", "world", "x", kind="prismatic", axis="1 0 0", limits=(-1, 1)) + link("x", 0)
    parts += joint("z", "x", "mass", kind="prismatic", axis="0 0 1", limits=(-1, 1)) + link("mass")
    ring = mechanism(
        parts,
        "model: {gravity: [0, 0, 0]}\n"
        "contacts: {ring: {parent: {link: world, rpy: [1.5707963267948966, 0, 0]}, friction: 0.2,"
        " child: {link: mass}, surface: {type: cylinder, radius: 0.5, hollow: true}}}",
    )
    start = ring.state({"z": -0.5})
    start.v[0] = 2.0
    off = []
    for step in (4e-3, 1e-3):
        options = {"step": step, "backend": backend, "sample_period": 0.2}
        found = simulate(ring, start, 1.0, method="moreau", **options)
        off.append(np.linalg.norm(found.v[-1]) - 2.0 / (1.0 + 0.2 * 2.0 / 0.5))
    assert abs(off[1]) < 5e-3  # m/s: steps have order one; half the load would be 0.32 off
    assert abs(off[1]) < 0.3 * abs(off[0])


@pytest.mark.parametrize("method", [pytest.param("DOP853", marks=pytest.mark.slow), "moreau"])
def test_a_pin_with_clearance_stays_in_its_bearing(method: str) -> None:
    """A bar hangs by a pin in a bearing that is 1 mm wider, and swings."""
    parts = joint("x", "world", "x", kind="prismatic", axis="1 0 0", limits=(-1, 1)) + link("x", 0)
    parts += joint("z", "x", "z", kind="prismatic", axis="0 0 1", limits=(-1, 1)) + link("z", 0)
    parts += joint("turn", "z", "bar") + link("bar", 1.0, 0.02, "0 0 -0.2")
    bearing = "parent: {link: world, rpy: [1.5707963267948966, 0, 0]}, child: {link: bar}"
    bar = mechanism(
        parts,
        f"contacts: {{pin: {{{bearing}, radius: 0.01, friction: 0.1, restitution: 0.3,"
        " surface: {type: cylinder, radius: 0.011, hollow: true}}}",
    )
    start = bar.state({"x": 0.0, "z": -0.001, "turn": 0.5})
    found = simulate(bar, start, 0.5, method=method)
    apart = np.hypot(*found.q[:, :2].T)
    assert apart.max() <= 1e-3 + 1e-9  # the projection's tolerance
    pin = found.contact("pin")
    assert pin.closed.any()
    loads = np.hypot(*pin.friction.T)
    assert (loads <= 0.1 * pin.normal + 1e-9 * pin.normal.max()).all()
    energy = [
        bar.energy(State(t, q, v)).total for t, q, v in zip(found.t, found.q, found.v, strict=True)
    ]
    assert np.diff(energy).max() <= (1e-8 if method == "DOP853" else 1e-3)  # J; of order one
    assert energy[-1] < energy[0] - 0.01


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("radius: 0.2, surface: {type: sphere, radius: 0.2, hollow: true}", "has no room"),
        ("surface: {type: sphere, radius: 0.0}", "two lines or points never touch"),
        ("length: 0.1, surface: {type: sphere, radius: 0.2, hollow: true}", "at both ends"),
        ("surface: {type: capsule, radius: 0.2}", "length"),
        ("surface: {type: sphere, radius: 0.2, length: 1.0}", "length"),
        ("surface: {type: box, radius: 0.1}", "size"),
        ("surface: {type: sphere, radius: 0.1, size: [1, 1, 1]}", "no size"),
        ("surface: {type: box, size: [1, 1, 0]}", "size"),
        ("surface: {type: box, size: [1, 1, 1], hollow: true}", "not hollow"),
        ("length: 0.2, surface: {type: box, size: [1, 1, 1]}", "give points or spheres"),
        ("surface: {type: cone, radius: 0.2}", "cone"),
    ],
)
def test_mistakes_are_said_in_one_line(text: str, problem: str) -> None:
    contact = f"contacts: {{touch: {{parent: {{link: world}}, child: {{link: ball}}, {text}}}}}"
    with pytest.raises(MechanismFileError, match=problem) as caught:
        mechanism(link("ball"), f"model: {{root: floating}}\n{contact}")
    assert "\n" not in str(caught.value)
    assert "contacts.touch" in str(caught.value)


def test_a_capsule_lies_on_a_plane_by_its_ends() -> None:
    rod = mechanism(
        link("rod", 2.0),
        "model: {root: floating}\n"
        "contacts: {floor: {parent: {link: world}, child: {link: rod, rpy: [0, 1.5707963267948966,"
        " 0]}, radius: 0.05, length: 0.4}}",
    )
    state = rod.start()
    state.q[2] = 0.05
    found = rod.contacts(state)
    assert list(found) == ["floor.lower", "floor.upper"]
    np.testing.assert_allclose([one.force[0] for one in found.values()], G, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_a_block_stops_on_a_table() -> None:
    """A box touches as a plane where corners are over its face."""
    points = [[x, y, -0.05] for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    block = mechanism(
        link("block", 2.0, 0.02),
        "model: {root: floating}\n"
        "contacts: {table: {parent: {link: world}, child: {link: block}, friction: 0.5,"
        f" surface: {{type: box, size: [2, 1, 0.2]}}, points: {points}}}}}",
    )
    start = block.start()
    start.q[2] = 0.15
    start.v[0] = 2.0
    found = simulate(block, start, 0.6)
    way = 2.0**2 / (2.0 * 0.5 * G)
    np.testing.assert_allclose(found.q[-1, :3], [way, 0.0, 0.15], rtol=0, atol=1e-9)


def test_a_smooth_ball_leaves_the_edge_of_a_table_at_two_thirds() -> None:
    ball = mechanism(
        link("ball", 2.0, 0.008),
        "model: {root: floating}\n"
        "contacts: {table: {parent: {link: world}, child: {link: ball}, radius: 0.1,"
        " surface: {type: box, size: [2, 1, 0.2]}}}",
    )
    start = ball.start()
    start.q[:3] = 1.0 + 0.1 * np.sin(0.2), 0.0, 0.1 + 0.1 * np.cos(0.2)
    found = simulate(ball, start, 0.5, rtol=1e-12, atol=1e-13)
    (event,) = [one for one in found.switchings if not one.changes["table"]]
    state = simulate(ball, start, event.t, rtol=1e-12, atol=1e-13)
    # located to 1e-12 s, of a motion with tolerances of 1e-12
    assert (state.q[-1, 2] - 0.1) / 0.1 == pytest.approx(2.0 / 3.0 * np.cos(0.2), rel=1e-8)
