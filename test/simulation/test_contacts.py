# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What contacts do: their forces at a state, over time, in files and in pictures."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import link, mechanism

from uk_dynamics import Trajectory, forward_dynamics
from uk_dynamics.core.contact import Mode
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate
from uk_dynamics.simulation.plots.panels import contents

G = 9.81
PLANK = """
model: {root: floating}
contacts:
  foot:
    parent: {link: world}
    child: {link: plank, xyz: [%r, 0, 0]}
    points: {left: [-0.1, 0.05, 0], middle: [0, 0.05, 0], right: [0.1, 0.05, 0],
             rear_left: [-0.1, -0.05, 0], rear_right: [0.1, -0.05, 0]}
    friction: 0.5
"""


def plank(offset: float) -> tuple[Mechanism, State]:
    """A plank on five feet, whose centre of mass is left of the middle one by an offset."""
    found = mechanism(link("plank", 2.0, 0.02), PLANK % offset)
    return found, found.start()


def test_redundant_contacts_share_what_the_motion_asks_for() -> None:
    block, start = plank(0.02)
    found = block.contacts(start)
    forces = np.array([one.force for one in found.values()])
    # of 20 N; solved to 1e-12
    np.testing.assert_allclose(forces.sum(axis=0), [2.0 * G, 0.0, 0.0], rtol=0, atol=1e-9)
    assert {one.mode for one in found.values()} == {Mode.STICK}
    assert not any(one.unique for one in found.values())
    assert all(one.slip_margin == pytest.approx(1.0, abs=1e-9) for one in found.values())
    np.testing.assert_allclose(forward_dynamics(block, start).qdd, 0.0, rtol=0, atol=1e-9)


def test_no_contact_pulls_where_forces_of_least_norm_would() -> None:
    block, start = plank(-0.09)
    forces = {name: one.force[0] for name, one in block.contacts(start).items()}
    x = {"left": -0.1, "middle": 0.0, "right": 0.1, "rear_left": -0.1, "rear_right": 0.1}
    places = np.array([x[name.removeprefix("foot.")] for name in forces]) - 0.09
    loads = np.array(list(forces.values()))
    least = np.linalg.pinv(np.array([np.ones(5), places])) @ [2.0 * G, 0.0]
    assert least.min() < -0.4  # N
    assert loads.min() >= 0.0
    np.testing.assert_allclose([loads.sum(), loads @ places], [2.0 * G, 0.0], rtol=0, atol=1e-9)


def test_what_slides_has_friction_against_it() -> None:
    block, start = plank(0.0)
    start.v[:2] = 0.3, 0.4
    found = block.contacts(start)
    for one in found.values():
        assert one.mode is Mode.SLIP
        assert one.slip_margin == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(one.force[1:], -0.5 * one.force[0] * np.array([0.6, 0.8]))
    qdd = forward_dynamics(block, start).qdd
    np.testing.assert_allclose(qdd[:3], [-0.3 * G, -0.4 * G, 0.0], rtol=0, atol=1e-9)


def test_a_contact_that_strikes_or_is_inside_has_no_acceleration() -> None:
    block, start = plank(0.0)
    start.v[2] = -0.25
    with pytest.raises(InputError, match=r"foot\.left: strikes its surface at 0\.25 m/s"):
        forward_dynamics(block, start)
    start.v[2], start.q[2] = 0.0, -0.01
    with pytest.raises(InputError, match=r"foot\.left: is 0\.01 m or rad inside"):
        block.contacts(start)


def test_what_is_above_falls() -> None:
    block, start = plank(0.0)
    start.q[2] = 0.5
    one = block.contacts(start)["foot.middle"]
    assert (one.mode, one.gap, one.slip_margin) == (Mode.OPEN, 0.5, np.inf)
    np.testing.assert_allclose(forward_dynamics(block, start).qdd[2], -G, rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def landing() -> Trajectory:
    return simulate(leg(), leg().start(), 1.0)


def leg() -> Mechanism:
    """A leg with springs that falls on a rough floor."""
    spring = {"stiffness": 60.0, "rest": -0.785}
    knee = {"stiffness": 60.0, "rest": -1.571}
    shank = {"link": "shank", "xyz": [0.3, 0.0, 0.0]}
    ground = {"parent": {"link": "ground"}}
    return Mechanism.from_data(
        {
            "model": {"urdf": "package://uk_dynamics/urdf/landing_leg.urdf.xacro"},
            "joints": {
                "hip": {"spring": spring, "damping": 0.5},
                "knee": {"spring": knee, "damping": 0.5},
            },
            "initial_guess": {"height": 0.866, "hip": -0.785, "knee": -1.571},
            "contacts": {
                "foot": {**ground, "child": shank, "friction": 0.3},
                "body": {**ground, "child": {"link": "thigh"}, "radius": 0.05},
            },
        }
    )


def test_a_motion_has_gaps_and_forces_of_its_contacts(landing: Trajectory) -> None:
    foot = landing.contact("foot")
    assert landing.contacts == ("foot", "body")
    # The gap is the height of the foot, by the geometry of the leg.
    height, hip, knee = landing.q.T
    gap = height + 0.3 * np.sin(hip) + 0.3 * np.sin(hip + knee)
    np.testing.assert_allclose(foot.gap, gap, rtol=0, atol=1e-12)
    assert (foot.normal[~foot.closed] == 0.0).all()
    assert foot.normal.min() >= 0.0
    strength = np.linalg.norm(foot.friction, axis=1)
    assert (strength <= 0.3 * foot.normal + 1e-9).all()
    slides = foot.closed & ~foot.sticks
    assert slides.any()
    assert foot.sticks.any()
    np.testing.assert_allclose(strength[slides], 0.3 * foot.normal[slides], rtol=0, atol=1e-9)
    power = (foot.friction * foot.slip).sum(axis=1)
    assert power.max() <= 1e-9  # W: friction takes energy
    with pytest.raises(UnknownNameError, match="foot, body"):
        landing.contact("hand")


@pytest.mark.parametrize("suffix", ["npz", "csv", "mcap"])
def test_files_keep_contacts(landing: Trajectory, suffix: str, tmp_path) -> None:
    file = tmp_path / f"leg.{suffix}"
    landing.save(file)
    again = Trajectory.load(file)
    assert again.contacts == landing.contacts
    for name in ("contact_gaps", "contact_rates", "contact_forces"):
        np.testing.assert_array_equal(getattr(again, name), getattr(landing, name))


def test_pictures_show_when_a_contact_touches_and_sticks(landing: Trajectory, tmp_path) -> None:
    shown = contents(landing)
    panels = {panel.title: panel for panel in shown.panels}
    foot = landing.contact("foot")
    (bar,) = panels["contacts"].curves
    np.testing.assert_array_equal(bar.values, 1 * foot.closed + foot.sticks)
    assert {"contact gaps", "normal forces", "friction of contacts"} <= panels.keys()
    assert "never closed: body" in shown.notes
    landing.plot(tmp_path / "leg.png")
    words = [one.text(landing.contacts) for one in landing.switchings]
    assert words[0] == "foot closes"  # it slides first
    assert "foot sticks" in words
    assert "foot opens" in words
