# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Ground along a line of points, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from support.mechanism_builder import link, mechanism

from uk_dynamics import Mechanism, simulate
from uk_dynamics.exceptions import MechanismFileError

G = 9.81
R, H, MASS = 0.2, 0.03, 2.0
INERTIA = 0.5 * MASS * R**2


def wheel(points, friction: float = 1.0, radius: float = R, more: str = "") -> Mechanism:
    """A round body in the x-z plane, over a profile."""
    text = (
        "model: {root: floating}\n"
        "contacts: {ground: {parent: {link: world}, child: {link: body}, "
        f"radius: {radius}, friction: {friction}, surface: {{type: profile, points: {points}}}"
        f"{more}}}}}"
    )
    return mechanism(link("body", MASS, INERTIA), text)


def at(machine: Mechanism, x: float, z: float, speed: float = 0.0, turning: float = 0.0):
    return machine.state([x, 0.0, z, 0.0, 0.0, 0.0, 1.0], [speed, 0.0, 0.0, 0.0, turning, 0.0])


@pytest.mark.slow
def test_a_wheel_rolls_over_a_step() -> None:
    """It turns about the edge, which takes the part of its momentum that went into it.

    On top it rolls over where the riser ends under the tread: two rows that agreed part there.
    """
    machine = wheel(f"[[-2, 0], [0, 0], [0, {H}], [2, {H}]]")
    omega = 4.0
    start = at(machine, -0.3, R, R * omega, omega)
    about_edge = INERTIA + MASS * R**2
    after = omega * (INERTIA + MASS * R * (R - H)) / about_edge
    struck = (0.3 - np.sqrt(R**2 - (R - H) ** 2)) / (R * omega)
    above = np.sqrt(after**2 - 2.0 * MASS * G * H / about_edge)
    run = simulate(machine, start, 0.8, rtol=1e-9, atol=1e-10)
    assert run.q[-1, 2] == pytest.approx(R + H, abs=1e-12)
    assert run.v[-1, 4] == pytest.approx(above, abs=1e-8)  # rad/s
    assert not run.contact("ground.2").closed[-1]
    assert run.contact("ground.3").closed[-1]
    impact = next(event for event in run.switchings if abs(event.t - struck) < 1e-9)
    lost = 0.5 * about_edge * (omega**2 - after**2)
    assert impact.energy_lost == pytest.approx(lost, abs=1e-8)
    run = simulate(machine, start, 1.0, method="moreau", step=2e-4)
    assert run.q[-1, 2] == pytest.approx(R + H, abs=1e-12)
    assert run.v[-1, 4] == pytest.approx(above, abs=5e-3)  # rad/s, by steps of order one


@pytest.mark.slow
@pytest.mark.parametrize(("tolerance", "off"), [(1e-3, 5e-3), (1e-6, 1e-7)])
@pytest.mark.parametrize("surface", ["profile", "box"])
def test_loose_tolerances_find_the_step(surface: str, tolerance: float, off: float) -> None:
    """A step up to an event ends elsewhere than the interpolant of the one that passed it."""
    box = {
        "floor": {"radius": R},
        "step": {"radius": R, "surface": {"type": "box", "size": [2.0, 2.0, 2.0 * H]}},
    }
    places = {"floor": [0.0, 0.0, 0.0], "step": [1.0, 0.0, 0.0]}
    contacts = {
        name: {
            "parent": {"link": "world", "xyz": places[name]},
            "child": {"link": "body"},
            "friction": 1.0,
            **keys,
        }
        for name, keys in box.items()
    }
    machine = (
        wheel(f"[[-2, 0], [0, 0], [0, {H}], [2, {H}]]")
        if surface == "profile"
        else mechanism(
            link("body", MASS, INERTIA),
            yaml.safe_dump({"model": {"root": "floating"}, "contacts": contacts}),
        )
    )
    omega = 4.0
    about_edge = INERTIA + MASS * R**2
    after = omega * (INERTIA + MASS * R * (R - H)) / about_edge
    above = np.sqrt(after**2 - 2.0 * MASS * G * H / about_edge)
    start = at(machine, -0.3, R, R * omega, omega)
    options = {"rtol": tolerance, "atol": tolerance, "backend": "interpreted"}
    run = simulate(machine, start, 0.7, **options)
    assert run.q[-1, 2] == pytest.approx(R + H, abs=1e-9)
    # rad/s: what integration to this tolerance leaves, of which 1.4e-3 and 2e-8 were measured
    assert run.v[-1, 4] == pytest.approx(above, abs=off)
    times = [event.t for event in run.switchings]
    assert times == sorted(times)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_a_point_on_a_slope_of_pieces_is_one_on_a_plane(backend: str) -> None:
    angle = 0.5
    rise = float(np.tan(angle))
    points = [[-1.0, -rise], [0.0, 0.0], [0.3, 0.3 * rise], [4.0, 4.0 * rise]]
    machine = wheel(str(points), friction=0.3, radius=0.0)
    start = at(machine, 0.29, 0.29 * rise, 2.0 * np.cos(angle))
    start.v[2] = 2.0 * np.sin(angle)
    options = {"rtol": 1e-11, "atol": 1e-12, "backend": backend, "method": "DOP853"}
    run = simulate(machine, start, 0.2, **options)
    along = run.q[-1, :3] @ [np.cos(angle), 0.0, np.sin(angle)] - 0.29 / np.cos(angle)
    braked = G * (np.sin(angle) + 0.3 * np.cos(angle))
    assert along == pytest.approx(2.0 * 0.2 - 0.5 * braked * 0.2**2, abs=1e-5)
    # m: over a joint, of which the rounded edge is closed 1e-9 m before its top
    assert len(run.switchings) < 10  # the same event again and again is stepped over


def test_a_ball_rests_in_a_valley() -> None:
    """Both flanks carry it, W/2 cos α each, in steps and between events."""
    machine = wheel("[[-1, 1], [0, 0], [1, 1]]", friction=0.0)
    start = at(machine, 0.0, R * np.sqrt(2.0))
    for method in ("moreau", "DOP853"):
        run = simulate(machine, start, 0.01, method=method)
        for name in ("ground.1", "ground.2"):
            expected = MASS * G / (2.0 * np.cos(np.pi / 4))
            assert run.contact(name).normal[-1] == pytest.approx(expected, abs=1e-9)
        assert np.abs(run.q[-1] - start.q).max() < 1e-12


@pytest.mark.parametrize(
    ("points", "more", "problem"),
    [
        ("[[0, 0], [0, 0]]", "", r"contacts\.ground\.surface\.points\[1\]: the same as the point"),
        ("[[0, 0]]", "", r"contacts\.ground\.surface\.points"),
        ("[[0, 0], [1, 0], [1, -1]], radius: 2.0", "", r"surface\.radius: 2 m is more than there"),
        ("[[0, 0], [1, 0]]", ", length: 0.1", r"contacts\.ground\.length: a capsule and a box"),
    ],
)
def test_mistakes_are_named(points: str, more: str, problem: str) -> None:
    with pytest.raises(MechanismFileError, match=problem):
        wheel(points, more=more)
