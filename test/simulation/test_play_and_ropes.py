# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Backlash, freewheels, and ropes that lead round a peg, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import Inputs, Mechanism, simulate
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.exceptions import MechanismFileError, UnknownNameError
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import InterpretedDynamics

G = 9.81
EXACT = {"rtol": 1e-12, "atol": 1e-13}


def shafts(text: str) -> Mechanism:
    """Two shafts on the z axis, of 1 and 2 kg m²."""
    parts = "".join(
        joint(name, "world", name, axis="0 0 1") + link(name, 1.0, inertia)
        for name, inertia in (("a", 1.0), ("b", 2.0))
    )
    return mechanism(parts, text)


def test_a_gear_with_backlash_strikes_its_flanks_in_turn() -> None:
    play, e = 0.02, 0.8
    gear = shafts(
        "constraints: {gear: {type: joint_coupling, joints: {a: 1, b: -1}, offset: 0.1,"
        f" backlash: {play}, restitution: {e}}}}}"
    )
    start = gear.state({"a": 0.1, "b": 0.0})
    start.v[:] = 1.0, 0.0
    found = simulate(gear, start, 0.15)
    # from the middle to a flank, then from flank to flank, more slowly each time
    times = 0.5 * play + play * np.cumsum([0.0, *(e ** -np.arange(1.0, 5.0))])
    strikes = [one for one in found.switchings if one.energy_lost]
    np.testing.assert_allclose([one.t for one in strikes][:4], times[:4], rtol=0, atol=1e-11)
    assert [*strikes[0].changes] == ["gear.upper"]
    assert [*strikes[1].changes] == ["gear.lower"]
    apart = found.position("a") - found.position("b") - 0.1
    assert np.abs(apart).max() <= 0.5 * play + 1e-9
    np.testing.assert_allclose(found.v @ [1.0, 2.0], 1.0, rtol=0, atol=1e-12)


FREEWHEEL = """
constraints: {clutch: {type: speed_coupling, joints: {b: 1, a: -1}, one_sided: at_least}}
forces: {pedal: {type: expression, joints: {a: 1}, expression: cos(t) + 0.1}}
"""


def test_a_freewheel_drives_overruns_and_engages_again() -> None:
    found = simulate(shafts(FREEWHEEL), shafts(FREEWHEEL).start(), 7.9, **EXACT)
    free = np.arccos(-0.1)  # no torque to drive with

    def gained(t: float) -> float:
        return np.sin(t) + 0.1 * t - np.sin(free) - 0.1 * free

    again = brentq(gained, 6.0, 8.0, xtol=1e-14)
    assert [one.t for one in found.switchings if one.t] == pytest.approx([free, again], abs=1e-9)
    speed = (np.sin(free) + 0.1 * free) / 3.0  # of both, 3 kg m² together
    coasting = (found.t > free) & (found.t < again)
    np.testing.assert_allclose(found.velocity("b")[coasting], speed, rtol=0, atol=1e-9)
    assert (found.velocity("b") - found.velocity("a")).min() >= -1e-9
    ahead = found.t > again + 0.01
    np.testing.assert_allclose(found.v[ahead, 0], found.v[ahead, 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["DOP853", "moreau"])
def test_a_freewheel_that_is_turned_back_takes_the_other_shaft_along(method: str) -> None:
    clutch = shafts(FREEWHEEL.partition("forces")[0])
    start = clutch.state({})
    start.v[:] = 1.0, -0.5
    found = simulate(clutch, start, 0.1, method=method)
    np.testing.assert_allclose(found.v[-1], [0.0, 0.0], rtol=0, atol=1e-12)  # of momentum zero


@pytest.mark.slow
def test_steps_over_a_freewheel_are_the_same_in_c() -> None:
    clutch = shafts(FREEWHEEL)
    ends = []
    for dynamics in (CompiledDynamics(clutch), InterpretedDynamics(clutch)):
        state, _ = ContactStepping(clutch).advance(
            clutch.start(), 9.0, 900, dynamics, Inputs(stabilize=False)
        )
        assert (np.diff(state.v) >= -1e-9).all()
        ends.append(state.v)
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-12)


PITCH, BACK = 0.07, 2.0  # rad; N m on a shaft of 1 kg m²
RATCHET = """
constraints:
  winch: {type: ratchet, joints: {a: %r}, pitch: 0.07, offset: 0.01, restitution: %r, one_sided: %s}
forces: {load: {type: expression, joints: {a: 1}, expression: "%s"}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "e", "speed"), [(1.0, 0.0, 0.3), (1.0, 0.5, 1.9), (-1.0, 0.5, 1.9), (1.0, 0.0, 4.0)]
)
def test_a_ratchet_falls_back_to_the_last_tooth_it_passed(side, e, speed) -> None:
    """Thrown up by its speed past up to 57 teeth, it falls until it strikes."""
    bound = "at_least" if side > 0.0 else "at_most"
    drum = shafts(RATCHET % (1.0, e, bound, -side * BACK))
    start = drum.state({"a": 0.01})
    start.v[0] = side * speed
    tooth = np.floor(speed**2 / (2.0 * BACK) / PITCH)
    strikes = np.sqrt(speed**2 - 2.0 * BACK * tooth * PITCH)  # at this speed
    first = (speed + strikes) / BACK
    rests = first + (2.0 * strikes / BACK * e / (1.0 - e))  # of all bounces
    found = simulate(drum, start, rests + 0.5, backend="interpreted", **EXACT)
    events = [one for one in found.switchings if one.t]
    assert events[0].t == pytest.approx(first, abs=1e-11)
    assert events[-1].t == pytest.approx(rests, abs=1e-8)
    assert found.position("a")[-1] == pytest.approx(0.01 + side * tooth * PITCH, abs=1e-12)
    assert found.contact("winch").normal[-1] == pytest.approx(BACK, abs=1e-9)
    assert len(events) == 1 if e == 0.0 else len(events) > 10  # none at teeth that it passes
    steps = simulate(drum, start, rests + 0.5, backend="interpreted", method="moreau", step=1e-3)
    assert steps.position("a")[-1] == pytest.approx(0.01 + side * tooth * PITCH, abs=1e-9)
    assert steps.v[-1, 0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_a_ratchet_that_is_pumped_climbs_by_whole_teeth() -> None:
    """What it is lifted by beyond a tooth it loses, in events and in steps, in C and in Python."""
    drum = shafts(RATCHET % (1.0, 0.0, "at_least", "3 * sin(7 * t) - 1"))
    found = simulate(drum, drum.state({"a": 0.01}), 5.0, **EXACT)
    teeth = (found.position("a") - 0.01) / PITCH
    highest = np.maximum.accumulate(np.floor(teeth + 1e-9))
    assert highest[-1] > 5.0
    assert (teeth - highest).min() >= -1e-9
    ends = []
    for dynamics in (CompiledDynamics(drum), InterpretedDynamics(drum)):
        stepping = ContactStepping(drum)
        state, _ = stepping.advance(
            drum.state({"a": 0.01}), 5.0, 5000, dynamics, Inputs(stabilize=False)
        )
        ends.append(np.append(state.q, state.v))
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-12)
    assert ends[0][0] == pytest.approx(found.position("a")[-1], abs=5e-3)  # of 1 ms steps


def test_a_tooth_has_a_pitch() -> None:
    with pytest.raises(MechanismFileError, match=r"winch\.pitch"):
        shafts("constraints: {winch: {type: ratchet, joints: {a: 1}, pitch: 0}}")


LENGTH, RADIUS, DEPTH = 1.2, 0.1, 0.5
BOB = (
    joint("x", "world", "x", kind="prismatic", axis="1 0 0", limits=(-9, 9))
    + link("x", 0.0)
    + joint("z", "x", "bob", kind="prismatic", axis="0 0 1", limits=(-9, 9))
    + link("bob", 2.0)
)
ROPE = f"""
constraints:
  rope:
    type: rope
    length: {LENGTH}
    one_sided: at_most
    points:
      - {{link: world}}
      - {{link: world, xyz: [%r, 0, -{DEPTH}], radius: %r, axis: [0, -1, 0], side: right,
          lifts_off: true}}
      - {{link: bob}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.0, RADIUS])
def test_a_rope_pendulum_wraps_round_a_peg(radius: float) -> None:
    """It swings from the right, meets the peg when it hangs straight, and turns on the left."""
    pendulum = mechanism(BOB, ROPE % (-radius, radius))
    angle = 0.8
    top = -LENGTH * np.cos(angle)

    def place(phi: float) -> np.ndarray:
        left = LENGTH - DEPTH - radius * phi
        tangent = np.array([-radius + radius * np.cos(phi), -DEPTH - radius * np.sin(phi)])
        return tangent - left * np.array([np.sin(phi), np.cos(phi)])

    highest = brentq(lambda phi: place(phi)[1] - top, 0.1, 1.57, xtol=1e-15)

    def lasts(length, height, end: float) -> float:
        def rate(u: float) -> float:  # φ = end sin u, which takes the speed's root away
            phi = end * np.sin(u)
            return length(phi) * end * np.cos(u) / np.sqrt(2.0 * G * (top - height(phi)))

        return quad(rate, 0.0, 0.5 * np.pi, epsabs=1e-13, epsrel=1e-13)[0]

    down = lasts(lambda phi: LENGTH, lambda phi: -LENGTH * np.cos(phi), angle)
    up = lasts(lambda phi: LENGTH - DEPTH - radius * phi, lambda phi: place(phi)[1], highest)
    start = pendulum.state({"x": LENGTH * np.sin(angle), "z": top})
    found = simulate(pendulum, start, down + up, **EXACT)
    np.testing.assert_allclose(found.q[-1], place(highest), rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.v[-1], 0.0, rtol=0, atol=1e-7)
    assert not [one for one in found.switchings if one.t]  # the rope stays taut


def test_a_taut_rope_off_the_plane_is_a_geodesic() -> None:
    """Unrolled it is straight: √((t₀ + R w + t)² + z²)."""
    parts = joint("bob", "world", "bob", kind="floating") + link("bob", 1.0)
    rope = mechanism(
        parts,
        "constraints: {rope: {type: rope, length: 1.0, points: [{link: world}, {link: world,"
        " xyz: [1.0, 0.5, 0], radius: 0.5, side: left, lifts_off: true}, {link: bob}]}}",
    )
    state = rope.start()
    state.q[:3] = 1.5, 0.9, 0.7  # met at its lowest point, left at its rightmost one
    residual = rope.dynamics().residual(state, Inputs()).position
    way = 1.0 + 0.5 * 0.5 * np.pi + 0.4
    assert residual[0] == pytest.approx(np.hypot(way, 0.7) - 1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{type: hinge, axis: [0, 0, 1], backlash: 0.1}", "no single number"),
        ("{type: joint_coupling, joints: {a: 1}, backlash: 0.1, one_sided: at_most}", "backlash"),
        ("{type: joint_coupling, joints: {a: 1}, restitution: 0.1}", "backlash"),
        ("{type: joint_coupling, joints: {a: 1}, backlash: 0.1, compliance: 1e-6}", "compliance"),
        ("{type: distance, distance: 0.1, backlash: 0.3}", "no flanks"),
        ("{type: distance, distance: 1, peg: {xy: [0, 0.1], side: left}}", "type: rope, whose"),
        ("{type: expression, expressions: [dd(a)], one_sided: at_least}", "acceleration"),
    ],
)
def test_mistakes_are_said_in_one_line(text: str, problem: str) -> None:
    if "hinge" in text or "distance" in text:
        text = text.replace("{type", "{parent: {link: world}, child: {link: b}, type", 1)
    with pytest.raises(MechanismFileError, match=problem) as caught:
        shafts(f"constraints: {{k: {text}}}")
    assert "\n" not in str(caught.value)
    assert "constraints.k" in str(caught.value)


HOOK, WEIGHT = 3.0, 1.0  # kg


def hoist(length: float, more: str = ", one_sided: at_most", top: str = "world") -> Mechanism:
    """A rope from the ceiling round a hook that slides down, back over the ceiling, to a weight."""
    parts = link("base") + "".join(
        link(name, mass, 0.01) + joint(f"{name}_z", "base", name, kind="prismatic", axis="0 0 1")
        for name, mass in (("hook", HOOK), ("weight", WEIGHT))
    )
    points = f"[{{link: {top}}}, {{link: hook}}, {{link: base}}, {{link: weight}}]"
    return mechanism(
        parts, f"constraints: {{rope: {{type: rope, length: {length}, points: {points}{more}}}}}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", ", one_sided: at_most"])
@pytest.mark.parametrize("method", ["DOP853", "moreau"])
@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_a_rope_over_pulleys_moves_the_weight_twice_as_far(
    more: str, method: str, backend: str
) -> None:
    """2T holds the hook, T the weight: a = (m_A − 2 m_B) g/(m_A + 4 m_B)."""
    machine = hoist(3.0, more)
    if method == "moreau" and not more:
        method = "rk4"  # there is nothing one-sided
    run = simulate(machine, machine.state([-1.0, -1.0]), 0.3, method=method, backend=backend)
    fallen = 0.5 * (HOOK - 2.0 * WEIGHT) * G / (HOOK + 4.0 * WEIGHT) * 0.3**2
    # m: the motion is a parabola, which all of them integrate exactly
    np.testing.assert_allclose(run.q[-1], [-1.0 - fallen, -1.0 + 2.0 * fallen], rtol=0, atol=1e-9)


def test_a_slack_rope_over_pulleys_becomes_tight() -> None:
    """Both fall until 2 g t²/2 + g t²/2 is the slack; the impulse 3v/(4/m_A + 1/m_B) stops it."""
    machine = hoist(3.1)
    run = simulate(machine, machine.state([-1.0, -1.0]), 0.1, **EXACT)
    (tight,) = run.switchings
    at = np.sqrt(2.0 * 0.1 / (3.0 * G))
    assert tight.t == pytest.approx(at, abs=1e-10)
    lost = 0.5 * (3.0 * G * at) ** 2 / (4.0 / HOOK + 1.0 / WEIGHT)
    assert tight.energy_lost == pytest.approx(lost, abs=1e-9)


def test_a_rope_names_the_link_that_is_not_there() -> None:
    with pytest.raises(UnknownNameError, match=r"constraints\.rope\.points: .*\"ceiling\""):
        hoist(3.0, top="ceiling")
