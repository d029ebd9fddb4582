# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Glocker's woodpecker toy: a sleeve that jams on a pole, a bird on a spring, a beak that strikes.

Model and numbers are those of Pfeiffer and Glocker (Multibody Dynamics with Unilateral Contacts,
1996): heights and angles are linear in y, φ_M and φ_S. Each contact touches with a point whose two
coordinates are such sums, a link of almost no mass that couplings carry.

The reference is Siconos 4.4.0 with the same three coordinates (``LagrangianLinearTIDS``,
``MoreauJeanOSI(0.5)``, ``NewtonImpactFrictionNSL``, solver ``FRICTION_2D_NSGS`` to 1e-18: with its
own tolerance small impulses of short steps vanish and the sleeve hangs in the air). Its instants
are those of the first step with, or without, an impulse; steps of 3 µs.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import Mechanism, Trajectory, simulate
from uk_dynamics.mechanism.resolution import State

POLE, SLEEVE, HALF_SLEEVE = 0.0025, 0.0031, 0.0058  # m: radii, half height
ARM, NECK, BEAK, TIP = 0.010, 0.015, 0.02, 0.0201  # m: l_M, l_G, h_S, l_S
MASSES, INERTIAS = (0.0003, 0.0045), (5e-9, 7e-7)  # kg, kg m²: sleeve and bird
SPRING = 0.0056  # N m/rad
NO_MASS = 1e-10  # kg
START = {"y": 0.0, "sleeve_turns": -0.0006 / HALF_SLEEVE, "bird_turns": -0.2788}
RATES = {"y": -0.3411, "sleeve_turns": 0.0, "bird_turns": -7.4583}
#: x and z of each contact's point by coordinate, its distance from the pole, its restitution
CONTACTS = {
    "beak": (
        {"bird_turns": -BEAK},
        {"y": 1, "sleeve_turns": ARM, "bird_turns": NECK - TIP},
        ARM + NECK - TIP - POLE,
        0.5,
    ),
    "lower": (
        {"sleeve_turns": HALF_SLEEVE},
        {"y": 1, "sleeve_turns": SLEEVE},
        SLEEVE - POLE,
        0.0,
    ),
    "upper": (
        {"sleeve_turns": -HALF_SLEEVE},
        {"y": 1, "sleeve_turns": SLEEVE},
        SLEEVE - POLE,
        0.0,
    ),
}
#: When the contact touches, leaves or is struck, in s
IN_SICONOS = (
    ("lower", 0.067026),
    ("upper", 0.077880),
    ("beak", 0.080991),
    ("upper", 0.081579),
    ("upper", 0.083409),
    ("lower", 0.118677),
    ("lower", 0.121350),
)
AT_THE_END = {"y": -0.011793, "bird_turns": -0.137355}  # m, rad, after 0.125 s
HEIGHT = {"y": 1, "sleeve_turns": ARM, "bird_turns": NECK}  # of the bird


def sums() -> dict[str, dict[str, float]]:
    """Joints that follow the three coordinates."""
    found = {"bird_height": HEIGHT}
    for name, (x, z, _, _) in CONTACTS.items():
        found |= {f"{name}_x": x, f"{name}_z": z}
    return found


def toy() -> Mechanism:
    slide = {"kind": "prismatic", "limits": (-9.0, 9.0)}
    parts = joint("y", "world", "sleeve", axis="0 0 1", **slide) + link("sleeve", MASSES[0])
    parts += joint("bird_height", "world", "bird", axis="0 0 1", **slide) + link("bird", MASSES[1])
    for name, inertia in zip(("sleeve", "bird"), INERTIAS, strict=True):
        parts += joint(f"{name}_turns", "world", f"{name}_wheel", axis="1 0 0")
        parts += link(f"{name}_wheel", 1e-3, inertia)
    for name in CONTACTS:
        parts += joint(f"{name}_x", "world", f"{name}_slide", axis="1 0 0", **slide)
        parts += link(f"{name}_slide", NO_MASS)
        parts += joint(f"{name}_z", f"{name}_slide", name, axis="0 0 1", **slide)
        parts += link(name, NO_MASS)
    text = "constraints:\n"
    for name, terms in sums().items():
        others = ", ".join(f"{other}: {-factor!r}" for other, factor in terms.items())
        text += f"  follow_{name}: {{type: joint_coupling, joints: {{{name}: 1, {others}}}}}\n"
    text += (
        "forces: {spring: {type: joint_spring, joints: {sleeve_turns: 1, bird_turns: -1},"
        f" stiffness: {SPRING}}}}}\ncontacts:\n"
    )
    for name, (_, _, distance, restitution) in CONTACTS.items():
        text += (
            f"  {name}: {{parent: {{link: world, xyz: [{-distance!r}, 0, 0],"
            f" rpy: [0, {np.pi / 2!r}, 0]}}, child: {{link: {name}}}, friction: 0.3,"
            f" restitution: {restitution}}}\n"
        )
    return mechanism(parts, text)


def start(machine: Mechanism) -> State:
    state = machine.state(_with_sums(START))
    for name, rate in _with_sums(RATES).items():
        state.v[machine.model.velocity_index(name)] = rate
    return state


def _with_sums(of_three: dict[str, float]) -> dict[str, float]:
    others = {n: sum(k * of_three[c] for c, k in terms.items()) for n, terms in sums().items()}
    return of_three | others


@pytest.fixture(scope="module")
def found() -> Trajectory:
    machine = toy()
    return simulate(machine, start(machine), 0.125, sample_period=1e-3)


@pytest.mark.slow
def test_it_jams_falls_and_strikes_as_in_siconos(found):
    assert not found.warnings
    beginning, *events = found.switchings
    assert (beginning.t, dict(beginning.changes)) == (0.0, {"lower": True})
    sticking = [event.t for event in events if "lower.sticking" in event.changes]
    assert len(sticking) == 2
    events = [event for event in events if "lower.sticking" not in event.changes]
    assert [set(event.changes) for event in events] == [{name} for name, _ in IN_SICONOS]
    # instants there are off by less than what its steps of 3 µs and of 10 µs differ by
    for event, (name, instant) in zip(events, IN_SICONOS, strict=True):
        assert event.t == pytest.approx(instant, abs=3e-5), name
    # while it jams nothing but the bird moves
    y = found.velocity("y")
    jammed = (found.t > sticking[0]) & (found.t < sticking[1])
    assert jammed.sum() > 30
    assert np.abs(y[jammed]).max() < 1e-12
    for name, value in AT_THE_END.items():
        assert found.position(name)[-1] == pytest.approx(value, abs=1e-4), name


@pytest.mark.slow
def test_impulses_leave_no_penetration_and_friction_no_gain(found):
    for name in CONTACTS:
        # rounding of sums of 0.6 mm and of angles of 1 rad
        assert found.contact(name).gap.min() > -1e-12
    # 1e-3 J in all, of which motions between events lose or gain a 1e-7th at most
    assert np.diff(found.energy).max() < 1e-10
