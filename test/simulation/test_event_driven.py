# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts, stops and ropes against closed forms of mechanics.

Events are located to rounding, so instants agree to 1e-11 s of a few seconds; what is integrated
between them agrees to ten times the tolerances of 1e-9.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics.checks import check_file
from uk_dynamics.control.servo import ServoController
from uk_dynamics.conversion import export_mechanism
from uk_dynamics.derivatives import MotionDerivatives
from uk_dynamics.exceptions import InputError, MechanismFileError, SimulationError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.contact import ContactDynamics
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.simulation.simulated_machine import SimulatedMachine
from uk_dynamics.simulation import event_driven, simulate
from uk_dynamics.simulation.plant import Plant

G = 9.81
BALL = link("base") + link("ball", 2.0) + joint("z", "base", "ball", kind="prismatic", axis="0 0 1")
FLOOR = "{parent: {link: world}, child: {link: ball}, radius: 0.1, restitution: %s}"
PLANAR = (
    link("base")
    + link("carriage", 0.0)
    + link("lift", 0.0)
    + joint("x", "base", "carriage", kind="prismatic", axis="1 0 0")
    + joint("z", "carriage", "lift", kind="prismatic", axis="0 0 1")
)


def instants(trajectory, name, closes=None):
    """When a constraint changed."""
    return [
        one.t
        for one in trajectory.switchings
        if name in one.changes and closes in (None, one.changes[name])
    ]


@pytest.mark.parametrize("restitution", [0.5, pytest.param(0.9, marks=pytest.mark.slow)])
def test_a_ball_bounces_until_it_rests(restitution):
    e, height = restitution, 1.0
    ball = mechanism(BALL, f"contacts: {{floor: {FLOOR % e}}}")
    fall = np.sqrt(2.0 * height / G)
    rest = fall * (1.0 + e) / (1.0 - e)
    found = simulate(ball, ball.state({"z": height + 0.1}), rest + 0.1, sample_period=0.1)
    times = np.array([one.t for one in found.switchings])
    flights = 2.0 * fall * e ** np.arange(1, len(times) - 1)
    bounces = fall + np.concatenate(([0.0], np.cumsum(flights)))
    # the last flights are as low as 1e-12 m, of which positions resolve 1e-5
    np.testing.assert_allclose(times[:-1], bounces, rtol=0, atol=1e-9)
    # the last ones, too low for positions to tell, are added up
    assert abs(times[-1] - rest) < 1e-9
    assert found.position("z")[-1] == pytest.approx(0.1, abs=1e-14)
    assert found.multipliers[-1, 0] == pytest.approx(2.0 * G, rel=1e-12)
    lost = sum(one.energy_lost for one in found.switchings)
    assert lost == pytest.approx(2.0 * G * height, abs=1e-9)


BLOCK = """
model: {root: floating}
contacts:
  corner:
    parent: {link: world, rpy: [0, %r, 0]}
    child: {link: block}
    points: [[0.1, 0.1, -0.05], [0.1, -0.1, -0.05], [-0.1, 0.1, -0.05], [-0.1, -0.1, -0.05]]
    friction: %r
"""


def on_slope(slope, friction, speed=0.0):
    """A block whose four corners touch a slope, three of them too many."""
    block = mechanism(link("block", 2.0, 0.02), BLOCK % (slope, float(friction)))
    start = block.start()
    q, v = start.q.copy(), start.v.copy()
    q[:3] = 0.05 * np.sin(slope), 0.0, 0.05 * np.cos(slope)
    q[3:] = 0.0, np.sin(slope / 2), 0.0, np.cos(slope / 2)
    v[0] = speed  # in axes of the block
    return block, State(0.0, q, v)


def test_a_block_sticks_below_the_angle_of_friction():
    slope = 0.3
    block, start = on_slope(slope, 1.0001 * np.tan(slope))
    found = simulate(block, start, 60.0, sample_period=1.0)
    np.testing.assert_allclose(found.q, np.tile(start.q, (len(found.t), 1)), rtol=0, atol=1e-14)
    assert np.abs(found.v).max() < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.95, 0.3])
def test_a_block_slides_above_it(part):
    slope = 0.3
    friction = part * np.tan(slope)
    block, start = on_slope(slope, friction)
    found = simulate(block, start, 1.0)
    way = 0.5 * G * (np.sin(slope) - friction * np.cos(slope))
    along = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    np.testing.assert_allclose(found.q[-1, :3] - found.q[0, :3], way * along, rtol=0, atol=1e-8)


def test_a_sliding_block_stops():
    friction, speed = 0.3, 2.0
    block, start = on_slope(0.0, friction, speed)
    found = simulate(block, start, 1.0)
    stop = speed / (friction * G)
    assert instants(found, "corner.1.sticking", True) == [pytest.approx(stop, abs=1e-11)]
    moved = found.q[-1, :3] - found.q[0, :3]
    np.testing.assert_allclose(moved, [0.5 * speed * stop, 0.0, 0.0], rtol=0, atol=1e-9)
    assert np.abs(found.v[-1]).max() < 1e-13


def test_the_friction_of_feet_in_line_is_that_of_the_weight_however_they_share_it():
    """Three feet, the centre of mass 0.8 of the way to the last: by least norm the first pulls."""
    parts = PLANAR + joint("turn", "lift", "block", axis="0 1 0") + link("block", 2.0, 0.02)
    feet = "points: [[-0.18, 0, 0], [-0.08, 0, 0], [0.02, 0, 0]]"
    floor = f"parent: {{link: world}}, child: {{link: block}}, {feet}, friction: 0.3"
    block = mechanism(parts, f"contacts: {{foot: {{{floor}}}}}")
    found = simulate(block, block.state(v={"x": 2.0}), 0.8)
    stop = 2.0 / (0.3 * G)
    assert instants(found, "foot.1.sticking", True) == [pytest.approx(stop, abs=1e-11)]
    assert found.q[-1] == pytest.approx([stop, 0.0, 0.0], abs=1e-9)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("beyond", [1e-6, 1e-5, 1e-4, 0.05])  # rad
def test_feet_that_share_a_load_slide_from_rest_just_beyond_their_friction(beyond):
    """The directions of their friction are stiff there, and errors would turn them."""
    friction = 0.5
    slope = np.arctan(friction) + beyond
    a = G * (np.sin(slope) - friction * np.cos(slope))
    gravity = f"[{G * np.sin(slope)}, 0, {-G * np.cos(slope)}]"
    feet = "points: [[-0.2, -0.1, 0], [-0.2, 0.1, 0], [0.2, -0.1, 0], [0.2, 0.1, 0]]"
    floor = f"parent: {{link: world}}, child: {{link: block, xyz: [0, 0, -0.3]}}, {feet}"
    text = f"""
model: {{root: floating, gravity: {gravity}}}
contacts: {{foot: {{{floor}, friction: {friction}}}}}
"""
    block = mechanism(link("block", 2.0, 0.1), text)
    found = simulate(block, block.state([0, 0, 0.3, 0, 0, 0, 1], [0.0] * 6), 0.2)
    way = [0.5 * a * 0.2**2, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]
    assert found.q[-1] == pytest.approx(way, abs=5e-9)  # error control of 1e-9 a step


def test_a_sphere_slides_until_it_rolls():
    mass, radius, friction, speed = 2.0, 0.1, 0.3, 2.0
    text = f"""
model: {{root: floating}}
contacts:
  floor: {{parent: {{link: world}}, child: {{link: ball}}, radius: {radius}, friction: {friction}}}
"""
    ball = mechanism(link("ball", mass, 0.4 * mass * radius**2), text)
    start = ball.start()
    q, v = start.q.copy(), start.v.copy()
    q[2], v[0] = radius, speed
    found = simulate(ball, State(0.0, q, v), 1.0)
    rolls = 2.0 * speed / (7.0 * friction * G)
    assert instants(found, "floor.sticking", True) == [pytest.approx(rolls, abs=1e-9)]
    velocity = np.linalg.norm(found.v[-1, :3])
    assert velocity == pytest.approx(5.0 / 7.0 * speed, abs=1e-8)
    assert found.v[-1, 4] * radius == pytest.approx(velocity, abs=1e-12)


@pytest.mark.parametrize("spin", [10.0, 50.0])
def test_a_ball_that_lands_spinning(spin):
    """Capobianco, Harsch, Eugster and Leine (2021), section 10.1: it rolls at once, or slides."""
    mass, radius, friction, drop = 1.0, 0.1, 0.2, 0.9
    parts = PLANAR + joint("turn", "lift", "ball") + link("ball", mass, 0.4 * mass * radius**2)
    floor = f"radius: {radius}, friction: {friction}"
    text = f"contacts: {{floor: {{parent: {{link: world}}, child: {{link: ball}}, {floor}}}}}"
    ball = mechanism(parts, text)
    start = ball.state({"z": drop + radius})
    start.v[2] = spin
    found = simulate(ball, start, 1.1, backend="interpreted")
    lands, strikes = np.sqrt(2.0 * drop / G), np.sqrt(2.0 * drop * G)
    assert instants(found, "floor", True)[0] == pytest.approx(lands, abs=1e-11)
    slip = spin * radius - 3.5 * friction * strikes  # after the impulse of friction
    rolls = lands + max(slip, 0.0) / (3.5 * friction * G)
    assert instants(found, "floor.sticking", True) == [pytest.approx(rolls, abs=1e-9)]
    rolling = np.array([radius, 0.0, 1.0]) * spin * 2.0 / 7.0
    np.testing.assert_allclose(found.v[-1], rolling, rtol=0, atol=1e-8)
    kinetic = 0.5 * mass * (strikes**2 + 0.4 * (radius * spin) ** 2)
    at_once = min(2.0 / 7.0 * spin * radius, friction * strikes)
    left = 0.5 * mass * (at_once**2 + 0.4 * (radius * spin - 2.5 * at_once) ** 2)
    lost = [one.energy_lost for one in found.switchings if one.energy_lost]
    assert lost == [pytest.approx(kinetic - left, abs=1e-9)]


def test_a_pendulum_strikes_its_hard_stop():
    length, e, start = 0.5, 0.7, 0.9
    parts = link("base") + link("rod", 1.0, 0.0, f"0 0 {-length}")
    parts += joint("swing", "base", "rod", limits=(-0.5, 2.0))
    text = f"joints: {{swing: {{stop: {{hard: true, restitution: {e}}}}}}}"
    pendulum = mechanism(parts, text)
    found = simulate(pendulum, pendulum.state({"swing": start}), 0.7)
    (strike,) = found.switchings
    swings = time_from_rest(2.0 * G / length, lambda angle: -np.cos(angle), start, -0.5)
    assert strike.t == pytest.approx(swings, rel=1e-8)
    before = 2.0 * G / length * (np.cos(0.5) - np.cos(start))  # ω²
    expected = 0.5 * length**2 * before * (1.0 - e * e)
    assert strike.energy_lost == pytest.approx(expected, rel=1e-8)
    assert found.position("swing").min() >= -0.5 - 1e-12
    later = found.t > strike.t
    energy = found.energy[later]
    np.testing.assert_allclose(energy, found.energy[0] - expected, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_a_rope_that_was_slack_holds_what_falls():
    parts = PLANAR + link("bob", 1.0) + joint("turn", "lift", "bob")
    text = """
constraints:
  rope:
    {type: distance, distance: 1.0, one_sided: at_most, parent: {link: world}, child: {link: bob}}
  upright: {type: joint, joint: turn}
"""
    machine = mechanism(parts, text)
    found = simulate(machine, machine.state({"x": 0.5, "z": 0.0}), 1.5, sample_period=0.001)
    drop = np.sqrt(0.75)
    taut = np.sqrt(2.0 * drop / G)
    (strike,) = found.switchings
    assert strike.t == pytest.approx(taut, abs=1e-11)
    assert strike.energy_lost == pytest.approx(0.5 * (G * taut * drop) ** 2, rel=1e-9)
    length = np.hypot(found.position("x"), found.position("z"))
    assert length.max() <= 1.0 + 1e-12
    # afterwards it swings, and the rope pulls with m (v² + g cos)/l
    later = found.t > strike.t
    speed2 = (found.v[:, :2] ** 2).sum(axis=1)[later]
    pull = -found.multipliers[later, 0]
    np.testing.assert_allclose(pull, speed2 - G * found.position("z")[later], rtol=0, atol=1e-7)


@pytest.mark.slow
def test_a_smooth_ladder_leaves_the_wall_at_two_thirds_of_its_height():
    half = 1.0
    inertia = half**2 / 3.0
    parts = PLANAR + link("rod", 1.0, inertia) + joint("lean", "lift", "rod")
    text = f"""
contacts:
  floor: {{parent: {{link: world}}, child: {{link: rod, xyz: [0, 0, {-half}]}}}}
  wall:
    parent: {{link: world, rpy: [0, {np.pi / 2!r}, 0]}}
    child: {{link: rod, xyz: [0, 0, {half}]}}
"""
    ladder = mechanism(parts, text)
    lean = 0.3
    start = {"x": half * np.sin(lean), "z": half * np.cos(lean), "lean": -lean}
    found = simulate(ladder, ladder.state(start), 1.2, sample_period=0.001)
    (left,) = instants(found, "wall", False)
    # until then a uniform rod slides on both ends
    fallen = np.arccos(2.0 / 3.0 * np.cos(lean))
    expected = time_from_rest(3.0 * G / (2.0 * half), np.cos, lean, fallen)
    assert left == pytest.approx(expected, rel=1e-8)
    # the motion there is smooth: height at the instant, from the samples around it
    height = np.interp(left, found.t, found.position("z"))
    assert height == pytest.approx(2.0 / 3.0 * half * np.cos(lean), abs=2e-6)
    energy = found.energy[found.t < left]
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-8)


def time_from_rest(factor, height, start, end):
    """How long an angle turns from rest where ω² is a factor times the height lost, in s."""
    way = end - start

    def per_s(s):  # the angle is start + way s²: its rate is not zero in s
        lost = height(start) - height(start + way * s**2)
        return 2.0 * abs(way) * s / np.sqrt(factor * lost)

    return quad(per_s, 0.0, 1.0, epsabs=1e-13, epsrel=1e-12)[0]


def test_a_rocking_block_loses_what_housner_says():
    b, h = 0.1, 0.4  # half width and height
    inertia = (b**2 + h**2) / 3.0
    alpha, radius = np.arctan2(b, h), np.hypot(b, h)
    parts = PLANAR + link("block", 1.0, inertia) + joint("rock", "lift", "block")
    text = f"""
contacts:
  edge:
    parent: {{link: world}}
    child: {{link: block}}
    points: {{left: [{-b}, 0, {-h}], right: [{b}, 0, {-h}]}}
    friction: 5.0
"""
    block = mechanism(parts, text)
    tilt = 0.1
    # it stands on its right edge, at x = b, turned about y
    start = {
        "rock": tilt,
        "x": b - radius * np.sin(alpha - tilt),
        "z": radius * np.cos(alpha - tilt),
    }
    found = simulate(block, block.state(start), 0.4, sample_period=0.001)
    strike = instants(found, "edge.left", True)[0]
    k = int(np.searchsorted(found.t, strike))
    before = np.interp(strike, found.t[k - 3 : k], found.velocity("rock")[k - 3 : k])
    lost = next(one.energy_lost for one in found.switchings if one.t == strike)
    about_edge = inertia + radius**2
    rate2 = 2.0 * G * radius * (np.cos(alpha - tilt) - np.cos(alpha)) / about_edge
    assert before**2 == pytest.approx(rate2, rel=2e-2)
    square = G * radius / about_edge
    expected = time_from_rest(2.0 * square, lambda angle: np.cos(alpha - angle), tilt, 0.0)
    assert strike == pytest.approx(expected, rel=1e-8)
    # of a slender block; this one is as wide as a quarter of its height
    quarter = np.arccosh(1.0 / (1.0 - tilt / alpha)) / np.sqrt(square)
    assert strike == pytest.approx(quarter, rel=alpha**2 / 4.0)
    kept = 1.0 - 1.5 * np.sin(alpha) ** 2
    assert lost == pytest.approx(0.5 * about_edge * rate2 * (1.0 - kept**2), rel=1e-8)
    assert instants(found, "edge.right", False)[0] == strike


def test_what_nothing_presses_in_free_fall_neither_opens_nor_closes():
    """Loads there are what rounding leaves of weights that cancel."""
    slide = joint("z", "base", "carriage", kind="prismatic", axis="0 0 1")
    parts = link("base") + link("carriage", 2.0) + slide
    for parent, name in (("carriage", "thigh"), ("thigh", "shank")):
        parts += link(name, 1.0, 0.01, "0.15 0 0") + joint(name, parent, name, xyz="0.3 0 0")
    text = """
joints: {thigh: {friction: 0.3, stiction: 0.5}}
constraints: {bound: {type: joint, joint: shank, one_sided: at_least, restitution: 0.3}}
"""
    leg = mechanism(parts, text)
    found = simulate(leg, leg.state({"thigh": 0.8}), 0.02, backend="interpreted", rtol=1e-6)
    assert len(found.switchings) < 5
    np.testing.assert_allclose(found.v[-1], [-G * 0.02, 0.0, 0.0], rtol=0, atol=1e-12)


def test_a_start_inside_is_refused():
    ball = mechanism(BALL, f"contacts: {{floor: {FLOOR % 0.5}}}")
    with pytest.raises(SimulationError, match=r"floor is 0\.05 m or rad inside"):
        simulate(ball, ball.state({"z": 0.05}), 1.0)


def test_check_and_describe_know_contacts(tmp_path):
    block = mechanism(link("block", 2.0, 0.02), BLOCK % (0.0, 0.5))
    facts = block.report()
    assert facts.constraints == {}
    assert facts.one_sided["corner.1"] == "friction 0.5"
    (tmp_path / "block.urdf").write_text(f'<robot name="r">{link("block", 2.0, 0.02)}</robot>')
    text = (BLOCK % (0.0, 0.5)).replace("root: floating", "urdf: block.urdf, root: floating")
    (tmp_path / "block.yaml").write_text(f"schema: 1{text}")
    found = [str(one) for one in check_file(tmp_path / "block.yaml")]
    (inside,) = (one for one in found if "0.05 m or rad inside" in one)
    assert "corner.1" in inside
    assert "as do 3 more" in inside


def test_fixed_steps_are_refused_by_name():
    ball = mechanism(BALL, f"contacts: {{floor: {FLOOR % 0.5}}}")
    with pytest.raises(InputError, match=r'method: .*expected one of DOP853.*found "rk4"'):
        simulate(ball, ball.state({"z": 0.5}), 1.0, method="rk4")


CONE = "contacts: {a: {parent: {link: world}, child: {link: ball}, surface: {type: cone}}}"
WELD = """
constraints: {a: {type: weld, one_sided: at_least, parent: {link: world}, child: {link: ball}}}
"""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("contacts: {a: {parent: {link: world}, child: {link: ball}, friction: -1}}", "friction"),
        ("contacts: {a: {parent: {link: world}, child: {link: nowhere}}}", "nowhere"),
        ("contacts: {a: {parent: {link: ball}, child: {link: ball}}}", "both frames"),
        ("contacts: {a: {parent: {link: world}, child: {link: ball}, points: 3}}", "points"),
        ("joints: {z: {stop: {restitution: 0.5}}}", "either a spring"),
        ("joints: {z: {stop: {hard: true, stiffness: 5}}}", "either a spring"),
        (WELD, "no single number"),
        (CONE, r"surface.type: unknown \"cone\"; valid are: sphere,"),
    ],
)
def test_mistakes_are_said_in_one_line(text, problem):
    with pytest.raises(InputError, match=problem) as caught:
        mechanism(BALL, text)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, MechanismFileError) or "link" in str(caught.value)


def order_of_steps(machine, start, duration):
    """How the mean distance from the event-driven motion falls with the step, and the least."""
    steps = 4e-3 * 0.5 ** np.arange(6)
    exact = simulate(machine, start, duration, method="DOP853")
    off = []
    for h in steps.tolist():
        found = simulate(machine, start, duration, method="moreau", step=h)
        off.append(np.abs(found.q - exact.q).max(axis=1).mean())
    return np.polyfit(np.log(steps), np.log(off), 1)[0], off[-1]


@pytest.mark.slow
def test_steps_converge_at_order_one_over_bounces():
    ball = mechanism(BALL, f"contacts: {{floor: {FLOOR % 0.5}}}")
    order, least = order_of_steps(ball, ball.state({"z": 1.1}), 1.2)
    # each distance is off by up to a factor of two, as impacts fall into steps: 0.25 of the fit
    assert order == pytest.approx(1.0, abs=0.25)
    assert least < 1e-3


@pytest.mark.slow
def test_steps_converge_at_order_one_over_slip():
    """A ball lands spinning, bounces, and slides until it rolls."""
    text = f"model: {{root: floating}}\ncontacts: {{floor: {FLOOR % '0.5, friction: 0.2'}}}"
    ball = mechanism(link("ball", 1.0, 0.02), text)
    start = ball.state([0, 0, 0.3, 0, 0, 0, 1], [0.5, 0.2, 0, 0, -20.0, 0])
    order, least = order_of_steps(ball, start, 0.8)
    assert order == pytest.approx(1.0, abs=0.25)
    assert least < 3e-3


def test_steps_end_where_a_ball_comes_to_rest():
    ball = mechanism(BALL, f"contacts: {{floor: {FLOOR % 0.0}}}")
    found = simulate(ball, ball.state({"z": 1.1}), 1.2, method="moreau", step=4e-3)
    assert found.position("z")[-1] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.slow
def test_time_stepping_neither_sinks_nor_creeps():
    slope = 0.3
    block, start = on_slope(slope, 1.05 * np.tan(slope))
    found = simulate(block, start, 60.0, method="moreau", step=0.01, sample_period=1.0)
    np.testing.assert_allclose(found.q, np.tile(start.q, (len(found.t), 1)), rtol=0, atol=1e-12)
    assert np.abs(found.v).max() < 1e-10


def test_time_stepping_is_for_one_sided_constraints():
    pendulum = mechanism(link("base") + link("rod", 1.0) + joint("swing", "base", "rod"))
    with pytest.raises(InputError, match="moreau is for contacts"):
        simulate(pendulum, pendulum.start(), 1.0, method="moreau")


LEG = """
model: {urdf: "package://uk_dynamics/urdf/landing_leg.urdf.xacro"}
actuators: {knee_motor: {joint: knee, effort_limit: 60.0}}
initial_guess: {height: 0.43, hip: -0.7853981633974483, knee: -1.5707963267948966}
contacts:
  foot: {parent: {link: ground}, child: {link: shank, xyz: [0.3, 0.0, 0.0]}, friction: 0.9}
"""


class Untold:
    """A controller that nobody tells what is closed."""

    def __init__(self, law):
        self.command, self.tracking_error = law.command, law.tracking_error
        self.row_names = law.row_names
        law.active = None


@pytest.mark.parametrize("method", [pytest.param("DOP853", marks=pytest.mark.slow), "moreau"])
def test_a_controller_is_told_on_what_the_machine_stands(method):
    leg = Mechanism.from_spec(MechanismSpec.from_text(f"schema: 1{LEG}"))
    tasks = Tasks.from_file("landing_leg_knee", leg)
    law = ServoController(leg, tasks, control_period=1e-3)
    period = {"control_period": 1e-3, "method": method}
    found = simulate(leg, leg.start(), 0.3, controller=law, **period)
    assert law.active is not None
    assert {"foot", "foot.sticking"} <= law.active.names
    # what the impact left decays with the feedback of 5 Hz: 1e-4 after a quarter of a second
    assert abs(found.tracking_error[-1, 0]) < 2e-4
    # a law that takes the leg as falling does not bear its weight
    falling = simulate(leg, leg.start(), 0.3, controller=Untold(law), **period)
    assert abs(falling.tracking_error[-1, 0]) > 0.5


def test_rollouts_that_pass_over_contacts_and_switches_of_them_are_refused():
    ball = mechanism(BALL, f"contacts: {{floor: {FLOOR % 0.5}}}")
    start = ball.state({"z": 0.5})
    with pytest.raises(InputError, match="rk4 does not know contacts"):
        ball.dynamics().rollout(start.q, start.v, steps=2, dt=0.1)
    with pytest.raises(InputError, match="floor"):
        simulate(ball, start, 1.0, events=[(0.5, {"floor": True})])


def test_exports_say_that_contacts_are_missing():
    text = f"contacts: {{floor: {FLOOR % 0.5}}}\njoints: {{z: {{stop: {{hard: true}}}}}}"
    ball = mechanism(BALL, text)
    remarks = " ".join(map(str, export_mechanism(ball, "sdf").remarks))
    for name in ("floor", "z.lower_stop", "z.upper_stop"):
        assert name in remarks


def test_the_simulated_machine_of_nodes_rests_on_its_contacts():
    ball = mechanism(BALL, f"contacts: {{floor: {FLOOR % 0.0}}}")
    machine = SimulatedMachine(ball, 1e-3, start=ball.state({"z": 0.2}))
    for _ in range(500):
        machine.step()
    assert machine.state.q[0] == pytest.approx(0.1, abs=1e-12)
    assert machine.solution().multipliers[0] == pytest.approx(2.0 * G, rel=1e-9)


def tilted_fall():
    """A block that falls on one of its corners."""
    block, start = on_slope(0.0, 0.5)
    start.q[2] = 0.25
    start.q[3:] = Rotation.from_euler("xyz", [0.2, 0.13, 0.0]).as_quat()
    return block, start


@pytest.mark.slow
def test_a_block_that_falls_on_a_corner_comes_to_rest_on_its_side():
    block, start = tilted_fall()
    found = simulate(block, start, 1.2, method="DOP853")
    steps = simulate(block, start, 1.2, method="moreau")
    for trajectory in (found, steps):
        height, x, y = trajectory.q[-1, 2:5]
        # upright at half its height; its corners are 0.1 m away
        assert height == pytest.approx(0.05, abs=1e-12)
        assert max(abs(x), abs(y)) < 1e-11
        assert np.abs(trajectory.v[-1]).max() < 1e-12
        assert np.diff(trajectory.energy).max() < 1e-12  # J: nothing drives it
        assert trajectory.contact_gaps.min() > -1e-9
    # order one with steps of 1 ms, at 2 m/s
    np.testing.assert_allclose(found.q, steps.q, rtol=0, atol=5e-3)


@pytest.mark.slow
def test_events_without_end_are_stepped_over(monkeypatch):
    block, start = tilted_fall()
    exact = simulate(block, start, 0.6, method="DOP853")
    monkeypatch.setattr(event_driven, "_MOST_EVENTS", 3)
    monkeypatch.setattr(event_driven, "_SHORT_TIME", 0.2)
    found = simulate(block, start, 0.6, method="DOP853")
    assert any("which steps go over (one of 1e-05 s; " in one for one in found.warnings)
    assert found.contact_gaps.min() > -1e-9
    # an impact within a step of 10 µs is late by half of it, at 3 m/s and some rad/s
    np.testing.assert_allclose(found.q, exact.q, rtol=0, atol=1e-4)


def test_many_changes_of_mode_in_a_short_time_are_stepped_over(monkeypatch):
    monkeypatch.setattr(event_driven, "_MOST_CHANGES", 1)
    block, start = on_slope(0.0, 0.5, speed=0.5)
    found = simulate(block, start, 0.12)
    assert any("which steps go over (one of 1e-05 s; " in one for one in found.warnings)
    # it stops after v²/2μg, and rests
    assert found.q[-1, 0] - start.q[0] == pytest.approx(0.25 / G, abs=1e-8)
    assert np.abs(found.v[-1]).max() < 1e-12


@pytest.mark.parametrize("apart", [1e-5, 1e-8])  # m
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_block_stands_on_feet_a_hair_apart(apart, friction):
    """By the lever rule, though their rows depend on each other within the rank tolerance."""
    parts = PLANAR + joint("turn", "lift", "block", axis="0 1 0") + link("block", 2.0, 0.02)
    feet = f"points: [[{-0.8 * apart!r}, 0, -0.1], [{0.2 * apart!r}, 0, -0.1]]"
    foot = f"{{parent: {{link: world}}, child: {{link: block}}, friction: {friction}, {feet}}}"
    block = mechanism(parts, f"contacts: {{foot: {foot}}}")
    # from a fall on both; tipping about one foot alone grows by e within 0.1 s
    found = simulate(block, block.state({"z": 0.105}), 1.0, sample_period=0.1, method="DOP853")
    assert [one.t for one in found.switchings] == [pytest.approx(np.sqrt(0.01 / G), abs=1e-9)]
    assert not found.warnings
    assert found.contact_gaps[1:] == pytest.approx(0.0, abs=1e-15)
    assert found.q[1:, 2] == pytest.approx(0.0, abs=1e-12)
    normal = found.contact_forces[1:, :: 3 if friction else 1]
    assert normal.sum(axis=1) == pytest.approx(2.0 * G, rel=1e-12)
    assert normal[:, 1] == pytest.approx(0.8 * 2.0 * G, rel=1e-6)
    # every evaluator bears it by the same rule
    resting = State(0.0, found.q[-1], np.zeros(3))
    inputs = block.beginning(resting)
    for backend in ("interpreted", "compiled"):
        dynamics = block.dynamics(backend)
        batch = dynamics.evaluate_batch(found.q[-1:], np.zeros((1, 3)), inputs=inputs)
        for qdd in (dynamics.evaluate(resting, inputs).qdd, batch.qdd[0]):
            assert qdd == pytest.approx(0.0, abs=1e-9)
    # neighbours at which it stands, too, are along x; what slips may move there as well
    motions = MotionDerivatives(block, "compiled").at(resting, inputs).motions
    assert motions.shape[1] == (1 if friction else 2)


def test_feet_a_hair_apart_do_not_stop_what_turns():
    """At 0.02 rad/s they move by 2e-10 m/s, which is closed, but no impact."""
    parts = PLANAR + joint("turn", "lift", "block", axis="0 1 0") + link("block", 2.0, 0.02)
    feet = "points: [[-8.0e-9, 0, -0.1], [2.0e-9, 0, -0.1]]"
    foot = f"{{parent: {{link: world}}, child: {{link: block}}, {feet}}}"
    block = mechanism(parts, f"contacts: {{foot: {foot}}}")
    for speed, rests in ((0.02, False), (0.0, True)):
        state = State(0.0, np.array([0.0, 0.1, 0.0]), np.array([0.0, 0.0, speed]))
        inputs = block.beginning(state)
        assert bool(inputs.active.distinct) == rests
        placed = block.dynamics("interpreted").project(state, inputs)
        assert placed.v[2] == pytest.approx(speed, abs=1e-8)


def test_the_time_that_is_stepped_over_doubles_until_it_is_calm() -> None:
    """So events without end are log2 of the duration in number."""
    block, _ = on_slope(0.0, 0.5)
    plant = Plant(block, None, None, continuous=False, backend="interpreted")
    contacts = ContactDynamics(block)
    events = event_driven.EventDriven(plant, contacts, print, print, print, 1e-9)
    for length in (1e-5, 2e-5, 4e-5):
        events._go_over(events._over[0] + 1e-3 if np.isfinite(events._over[0]) else 1.0)
        assert events._over[1] == pytest.approx(length)
    events._go_over(events._over[0] + 1.0)
    assert events._over[1] == pytest.approx(1e-5)


@pytest.mark.parametrize("part", [0.999, 1.001])
def test_painleves_rod_is_named_from_the_friction_of_its_closed_form(part):
    """A uniform rod that slides on its end presses itself into the ground where
    1 + 3 cos²θ − 3 μ sin θ cos θ < 0, which begins at μ = 4/3 and tan θ = 2."""
    text = f"""
contacts:
  tip:
    parent: {{link: world}}
    child: {{link: rod, xyz: [-0.5, 0, 0]}}
    friction: {part * 4 / 3!r}
"""
    parts = PLANAR + link("rod", 1.0, 1.0 / 12.0) + joint("turn", "lift", "rod", axis="0 -1 0")
    rod = mechanism(parts, text)
    angle = np.arctan(2.0)
    q = np.array([0.0, 0.5 * np.sin(angle), angle])
    named, moved = [], []
    for speed in (5.0, -5.0):  # in one direction friction turns the rod down, in the other up
        found = simulate(rod, State(0.0, q, np.array([speed, 0.0, 0.0])), 1e-3, method="DOP853")
        named += [one for one in found.warnings if "Painlevé" in one]
        moved.append(abs(found.contact_rates[0, 1]))
        assert np.isfinite(found.q).all()
    if part < 1.0:
        assert not named
        assert min(moved) > 4.9
    else:
        (one,) = named
        assert one.startswith("friction of tip leaves no motion; an impact stops it")
        begins, off = re.search(r"from (\S+) on, its normal (\S+) deg off", one).groups()
        # four digits are told; the rod is at θ from the ground
        assert float(begins) == pytest.approx(4.0 / 3.0, abs=1e-3)
        assert float(off) == pytest.approx(90.0 - np.degrees(angle), abs=1e-2)
        assert min(moved) < 1e-12  # m/s
        with pytest.raises(InputError, match=r"friction of tip leaves no motion.* deg off"):
            rod.contacts(State(0.0, q, np.array([-5.0, 0.0, 0.0])))


def test_what_opens_and_closes_in_turns_at_an_instant_is_too_much() -> None:
    def events(*what: str, apart: float) -> list[event_driven.Event]:
        return [event_driven.Event(k * apart, "foot", x) for k, x in enumerate(what)]

    turns = ("closes", "opens") * 3
    assert event_driven._too_many(events(*turns, apart=1e-15), 1e-14)
    assert not event_driven._too_many(events(*turns[1:], apart=1e-15), 1e-14)
    assert not event_driven._too_many(events(*turns, apart=1e-6), 1e-5)
    assert not event_driven._too_many(events("closes", "slips", *turns[2:], apart=1e-15), 1e-14)


CRANK, ROD = 0.1, 0.3  # m


def stopped_slider(short: float) -> Mechanism:
    """A slider-crank without gravity that 0.5 N m turn, with a stop this short of dead centre."""
    parts = (
        link("base")
        + link("crank", 1.0, 0.01, com=f"{CRANK / 2!r} 0 0")
        + link("rod", 0.5, 0.01, com=f"{ROD / 2!r} 0 0")
        + link("slider", 1.0, 0.01)
        + joint("turn", "base", "crank")
        + joint("bend", "crank", "rod", xyz=f"{CRANK!r} 0 0")
        + joint(
            "slide",
            "base",
            "slider",
            kind="prismatic",
            axis="1 0 0",
            limits=(0.0, CRANK + ROD - short),
        )
    )
    return mechanism(
        parts,
        f"""
model: {{gravity: [0, 0, 0]}}
initial_guess: {{turn: 0.3, bend: -0.4, slide: 0.39}}
joints: {{slide: {{stop: {{hard: true}}}}}}
constraints:
  pin: {{type: point, parent: {{link: rod, xyz: [{ROD}, 0, 0]}}, child: {{link: slider}}}}
forces: {{push: {{type: expression, joints: {{turn: 1}}, expression: "-0.5"}}}}
""",
    )


@pytest.mark.parametrize("short", [1e-8, 1e-10, 1e-12])
def test_what_loops_hold_in_line_is_a_stop_by_one_rule(short: float) -> None:
    """A stop before the dead centre holds the crank, but for one whose row the rank rule drops.

    The crank is 4e-4 rad from there where the slider is 1e-8 m from there, and 4e-5 rad with
    1e-10 m: beyond the rank tolerance of 1e-4 of slider and loop. No event is stepped over.
    """
    machine = stopped_slider(short)
    start = machine.start({"turn": 0.3})
    found = simulate(machine, start, 0.2, backend="interpreted")
    assert not found.warnings
    if short > 1e-9:
        (stop,) = found.switchings
        # the work of the torque is lost in the stop, which holds from then on
        assert stop.energy_lost == pytest.approx(0.5 * (0.3 - found.q[-1, 0]), abs=1e-7)
        assert np.abs(found.v[-1]).max() < 1e-9
        return
    assert not found.switchings
    assert found.q[-1, 0] < -0.1  # through the dead centre
    ends = machine.state(found.q[-1], found.v[-1])
    kinetic = machine.dynamics("interpreted").energy(ends).kinetic
    assert kinetic == pytest.approx(0.5 * (0.3 - found.q[-1, 0]), abs=1e-7)
    assert found.contact("slide.upper_stop").gap.min() > -1e-9
