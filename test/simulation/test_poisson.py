# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Impacts by Poisson's law, beside Newton's: where both agree, where one gains energy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics.checks.checklist import check
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.contact import ContactDynamics
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate

G = 9.81
MASS, INERTIA, HALF = 2.0, 0.06, 0.3  # of a uniform rod
FALLS = (
    link("base")
    + link("carriage", 0.0)
    + link("lift", 0.0)
    + link("rod", MASS, INERTIA)
    + joint("x", "base", "carriage", kind="prismatic", axis="1 0 0")
    + joint("z", "carriage", "lift", kind="prismatic", axis="0 0 1")
    + joint("turn", "lift", "rod", axis="0 1 0")
)
TIP = f"""
solver: {{impacts: %s}}
contacts:
  tip:
    parent: {{link: world}}
    child: {{link: rod, xyz: [{HALF}, 0, 0]}}
    friction: %r
    restitution: %r
"""


def rod(law: str, friction: float, restitution: float, gravity: str = "") -> Mechanism:
    """A rod whose tip strikes the ground; its axis is along x where it is not turned."""
    return mechanism(FALLS, gravity + TIP % (law, float(friction), float(restitution)))


class Strike(NamedTuple):
    """The tip as it touches, and what its impulses do to the rod."""

    start: State
    W: np.ndarray  # (2, 2): along the normal and along x
    jacobian: np.ndarray  # (2, 3)

    @classmethod
    def at(cls, rod: Mechanism, angle: float, v: tuple[float, float, float]) -> Strike:
        """Of a rod that is turned down by an angle, with velocities along x and z, and turning."""
        x, z = HALF * np.cos(angle), -HALF * np.sin(angle)
        jacobian = np.array([[0.0, 1.0, -x], [1.0, 0.0, z]])
        W = jacobian @ np.diag([1 / MASS, 1 / MASS, 1 / INERTIA]) @ jacobian.T
        return cls(State(0.0, np.array([0.0, -z, angle]), np.array(v)), W, jacobian)


def tangential(W: np.ndarray, u: np.ndarray, normal: float, friction: float) -> float:
    """Coulomb's impulse along x that goes with one along the normal, from motions u."""
    sticks = -(u[1] + W[1, 0] * normal) / W[1, 1]
    return float(np.clip(sticks, -friction * normal, friction * normal))


def by_poisson(W: np.ndarray, u: np.ndarray, friction: float, e: float) -> np.ndarray:
    """Motion (2,) of the tip after an impact."""
    pressed = -np.linalg.solve(W, u)  # if it sticks
    if abs(pressed[1]) > friction * pressed[0]:
        for side in (1.0, -1.0):  # of the friction
            normal = -u[0] / (W[0, 0] + side * friction * W[0, 1])
            trial = np.array([normal, side * friction * normal])
            if normal > 0.0 and side * (u + W @ trial)[1] < 0.0:
                pressed = trial
    u = u + W @ pressed
    more = e * pressed[0]
    return u + W @ [more, tangential(W, u, more, friction)]


def random_strikes(law: str, friction: float, e: float, count: int):
    """Impacts of the rod at random: strike, and velocities before and after it."""
    machine = rod(law, friction, e)
    contacts, rng = ContactDynamics(machine), np.random.default_rng(7)
    for _ in range(count):
        strike = Strike.at(machine, rng.uniform(0.2, 1.4), tuple(rng.uniform(-2.0, 2.0, 3)))
        if (strike.jacobian @ strike.start.v)[0] < -0.1:
            found = contacts.impact(strike.start, Inputs(), machine.hierarchy.initial)
            assert found is not None
            yield strike, found


@pytest.mark.parametrize("friction", [0.1, 0.4, 1.0])
def test_an_oblique_rod_strikes_as_poisson_says(friction):
    slid = stuck = 0
    for strike, found in random_strikes("poisson", friction, 0.6, 60):
        before, after = (strike.jacobian @ v for v in (strike.start.v, found.state.v))
        expected = by_poisson(strike.W, before, friction, 0.6)
        np.testing.assert_allclose(after, expected, rtol=0, atol=1e-11)  # m/s; rounding of W
        slid, stuck = slid + (abs(after[1]) > 1e-9), stuck + (abs(after[1]) < 1e-9)
        assert found.energy_lost > -1e-12  # J of some
    assert slid > 3
    assert stuck > 3 or friction < 0.4


def test_newtons_law_gains_energy_where_poissons_does_not():
    newton, poisson = (
        min(found.energy_lost for _, found in random_strikes(law, 0.6, 0.9, 60))
        for law in ("newton", "poisson")
    )
    assert newton < -0.1
    assert poisson > -1e-12


def test_both_agree_without_friction():
    pairs = (random_strikes(law, 0.0, 0.7, 50) for law in ("newton", "poisson"))
    for (_, newton), (_, poisson) in zip(*pairs, strict=True):
        np.testing.assert_allclose(newton.state.v, poisson.state.v, rtol=0, atol=1e-12)


def test_two_ends_at_once_gain_nothing():
    ends = TIP.replace(
        "    friction", "    points: [[0, 0, 0], [%r, 0, 0]]\n    friction" % (-2 * HALF)
    )
    machine = mechanism(FALLS, ends % ("poisson", 0.5, 0.9))
    contacts, rng, least, both = ContactDynamics(machine), np.random.default_rng(3), np.inf, 0
    for v in rng.uniform(-2.0, 2.0, (60, 3)):
        found = contacts.impact(State(0.0, np.zeros(3), v), Inputs(), machine.hierarchy.initial)
        if found is not None:
            least, both = min(least, found.energy_lost), both + (len(found.struck) == 2)
    assert least > -1e-12  # J of some
    assert both > 10


CORNER = """
model: {gravity: [0, 0, 0]}
solver: {impacts: %s}
contacts:
  floor:
    parent: {link: world, xyz: [0, 0, -0.1]}
    child: {link: rod, xyz: [0.5, 0, -0.1]}
    friction: %r
    restitution: 0.9
  wall:
    parent: {link: world, xyz: [0.9, 0, 0], rpy: [0, %r, 0]}
    child: {link: rod, xyz: [0.9, 0, -0.5]}
    friction: %r
    restitution: %r
"""


def corner(law: str, frictions: tuple[float, float], restitution: float) -> Mechanism:
    """A body whose two points strike a floor and a wall at once."""
    first, second = frictions
    text = CORNER % (law, first, 0.5 * np.pi, second, restitution)
    return mechanism(FALLS.replace("0.06", "0.18"), text)


@pytest.mark.parametrize(
    ("law", "frictions", "restitution", "gains"),
    [
        ("poisson", (0.5, 2.0), 0.0, True),
        ("poisson", (0.5, 2.0), 0.9, False),
        ("poisson", (0.0, 0.0), 0.0, False),
        ("newton", (0.5, 2.0), 0.0, None),
    ],
)
def test_a_corner_of_two_restitutions_may_gain_energy_and_a_warning_says_so(
    law, frictions, restitution, gains
):
    """Friction of the wall stops the body with the floor's impulse, of which 0.9 come again."""
    machine = corner(law, frictions, restitution)
    told = [one for one in machine.warnings if getattr(one, "code", "") == "restitution"]
    assert len(told) == (gains is True)
    if told:
        assert "0 of wall; 0.9 of floor" in told[0]
        (finding,) = (one for one in check(machine) if "restitution" in one.problem)
        assert (finding.severity, finding.problem) == ("warning", told[0])
    contacts, rng, least = ContactDynamics(machine), np.random.default_rng(5), np.inf
    for v in (*rng.uniform(-2.0, 2.0, (40, 3)), np.array([0.1, -1.8, 1.6 / HALF])):
        found = contacts.impact(State(0.0, np.zeros(3), v), Inputs(), machine.hierarchy.initial)
        least = least if found is None else min(least, found.energy_lost)
    assert gains is None or (least < -1.0 if gains else least > -1e-12)  # J


KANE = "".join(
    joint(name, parent, name, xyz=f"0 0 {below!r}") + link(name, 1.0, 1.0 / 12.0, com="0 0 -0.5")
    for name, parent, below in (("upper", "base", 0.0), ("lower", "upper", -1.0))
)


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_the_double_pendulum_of_kane_gains_energy_by_newtons_law_alone(law):
    """Two rods of 1 m and 1 kg, at 20 and 30 degrees and −0.1 and −0.2 rad/s, strike the ground.

    The puzzle of Kane (Kane and Levinson, Dynamics: Theory and Applications, 1985): friction stops
    the sliding. Angles are from the vertical; the joint axes turn the other way.
    """
    q, rates = np.radians([20.0, 30.0]), np.array([-0.1, -0.2])
    M = np.array([[4 / 3, 0.5 * np.cos(q[1] - q[0])], [0.5 * np.cos(q[1] - q[0]), 1 / 3]])
    J = np.array([np.sin(q), np.cos(q)])  # of the tip, upwards and along x
    W, u, e, friction = J @ np.linalg.solve(M, J.T), J @ rates, 0.5, 0.5
    if law == "poisson":
        after = by_poisson(W, u, friction, e)
    else:
        sticks = np.linalg.solve(W, np.array([-e * u[0], 0.0]) - u)
        assert abs(sticks[1]) < friction * sticks[0]
        after = np.array([-e * u[0], 0.0])
    spins = rates + np.linalg.solve(M, J.T @ np.linalg.solve(W, after - u))
    gained = 0.5 * (spins @ M @ spins - rates @ M @ rates)
    pendulum = mechanism(
        link("base") + KANE,
        f"solver: {{impacts: {law}}}\n"
        f"contacts: {{tip: {{parent: {{link: world, xyz: [0, 0, {-float(np.cos(q).sum())!r}]}},"
        f" child: {{link: lower, xyz: [0, 0, -1]}}, friction: {friction}, restitution: {e}}}}}",
    )
    start = State(0.0, -np.array([q[0], q[1] - q[0]]), -np.array([rates[0], rates[1] - rates[0]]))
    contacts = ContactDynamics(pendulum)
    found = contacts.impact(start, Inputs(), pendulum.hierarchy.initial)
    assert found is not None
    np.testing.assert_allclose(-np.cumsum(found.state.v), spins, rtol=0, atol=1e-12)
    assert -found.energy_lost == pytest.approx(gained, abs=1e-12)
    # J, of 0.0232 before: more than half as much again, or nearly half of it lost
    assert gained == pytest.approx(0.01362 if law == "newton" else -0.01055, abs=1e-5)


@pytest.mark.parametrize("method", ["DOP853", "moreau"])
def test_a_ball_bounces_until_it_rests(method):
    ball = mechanism(
        link("base")
        + link("ball", 2.0)
        + joint("z", "base", "ball", kind="prismatic", axis="0 0 1"),
        "solver: {impacts: poisson}\n"
        "contacts: {floor: {parent: {link: world}, child: {link: ball}, restitution: 0.5}}",
    )
    fall = np.sqrt(2.0 / G)
    rest = 3.0 * fall
    found = simulate(ball, ball.state({"z": 1.0}), rest + 0.2, sample_period=0.1, method=method)
    last = max(one.t for one in found.switchings)
    # steps of 1 ms know no flights that are shorter
    assert last == pytest.approx(rest, abs=1e-9 if method == "DOP853" else 5e-2)
    # what rests is carried by its contact, whose impulses are no impact
    assert np.abs(found.position("z")[-1]) < 1e-12
    assert np.abs(found.v[-1]).max() < 1e-12


def test_steps_lead_to_the_motion_between_events():
    machine = rod("poisson", 0.4, 0.6)
    begin = Strike.at(machine, 0.7, (1.5, -1.0, 2.0)).start
    start = State(0.0, begin.q + np.array([0.0, 0.1, 0.0]), begin.v)
    exact = simulate(machine, start, 0.1)
    assert exact.switchings
    off = [
        np.abs(simulate(machine, start, 0.1, method="moreau", step=h).v[-1] - exact.v[-1]).max()
        for h in (4e-4, 4e-5)
    ]
    assert off[1] < 0.02  # rad/s of 10; the impact is up to a step early
    assert off[1] < 0.3 * off[0]


def test_the_law_is_told_and_its_name_checked():
    machine = rod("poisson", 0.5, 0.6)
    assert [str(one) for one in machine.one_sided] == ["friction 0.5, restitution of impulses 0.6"]
    with pytest.raises(MechanismFileError, match=r"solver\.impacts.*newton.*poisson") as raised:
        MechanismSpec.from_text("schema: 1\n" + TIP % ("hertz", 0.5, 0.6))
    assert "\n" not in str(raised.value)
