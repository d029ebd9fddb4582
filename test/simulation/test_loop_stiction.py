# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loop joints that stick by the forces in them, against closed forms of dry friction.

Events are located to rounding; what is integrated between them agrees to ten times 1e-9.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import inverse_dynamics, standing
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.derivatives import linearize
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.contact import ContactDynamics
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate

G, MASS, INERTIA = 9.81, 2.0, 0.1
# a rod whose carriers weigh nothing that could be seen
LIGHT = 1e-12
FREE = (
    link("base")
    + link("along", LIGHT, LIGHT)
    + link("up", LIGHT, LIGHT)
    + link("rod", MASS, INERTIA)
    + joint("x", "base", "along", kind="prismatic", axis="1 0 0")
    + joint("z", "along", "up", kind="prismatic", axis="0 0 1")
    + joint("turn", "up", "rod")
)
PIN, ARM = 0.05, 0.4


def on_slope(slope: float, friction: str) -> Mechanism:
    """A block that slides along a slope, which holds it upright."""
    axis = [float(np.cos(slope)), 0.0, -float(np.sin(slope))]
    return mechanism(
        FREE,
        f"constraints: {{guide: {{type: prismatic, axis: {axis}, parent: {{link: base}},"
        f" child: {{link: rod}}, friction: {{exact: true, {friction}}}}}}}",
    )


def pendulum(friction: str, more: str = "", others: str = "") -> Mechanism:
    """A rod that hangs on a pin."""
    return mechanism(
        FREE + others,
        "constraints: {pin: {type: hinge, axis: [0, 1, 0], parent: {link: base},"
        f" child: {{link: rod, xyz: [0, 0, {ARM}]}}, friction: {{radius: {PIN}, exact: true,"
        f" {friction}}}}}}}\ninitial_guess: {{z: {-ARM}}}\n{more}",
    )


def hanging(machine: Mechanism, angle: float, speed: float = 0.0):
    """A state of the pendulum."""
    across, up = np.sin(angle), np.cos(angle)
    q = [-ARM * across, -ARM * up, angle]
    return machine.state(q, [-ARM * up * speed, ARM * across * speed, speed])


def changes(trajectory, name: str, on: bool) -> list[float]:
    return [one.t for one in trajectory.switchings if one.changes.get(name) is on]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["DOP853", "moreau"])
def test_a_block_on_a_slope_sticks_up_to_its_angle_of_friction(method: str) -> None:
    mu = 0.3
    for part, slides in ((1.0 - 1e-6, False), (1.0 + 1e-6, True)):
        slope = float(np.arctan(part * mu))
        block = on_slope(slope, f"coulomb: {mu}")
        found = simulate(block, block.start(), 0.4, method=method)
        way = 0.5 * G * (np.sin(slope) - mu * np.cos(slope)) * 0.4**2 if slides else 0.0
        assert np.hypot(*found.q[-1, :2]) == pytest.approx(way, abs=1e-9)
        assert found.q[-1, 2] == pytest.approx(0.0, abs=1e-12)


def test_it_stops_where_friction_has_taken_its_energy() -> None:
    slope, mu, speed = 0.2, 0.4, 1.5
    block = on_slope(slope, f"coulomb: {mu}")
    down = speed * np.array([np.cos(slope), -np.sin(slope), 0.0])
    found = simulate(block, block.state(np.zeros(3), down), 3.0)
    slower = G * (mu * np.cos(slope) - np.sin(slope))
    (stop,) = changes(found, "guide.sticking", True)
    assert stop == pytest.approx(speed / slower, abs=1e-9)
    assert np.hypot(*found.q[-1, :2]) == pytest.approx(0.5 * speed**2 / slower, abs=1e-9)
    np.testing.assert_allclose(found.v[-1], 0.0, rtol=0, atol=1e-12)


def test_a_push_across_holds_it_as_the_load_that_it_makes_allows() -> None:
    """A horizontal force P moves it up the slope from P = m g tan(slope + angle of friction) on."""
    slope, static, coulomb = 0.3, 0.35, 0.2
    block = on_slope(slope, f"coulomb: {coulomb}, static: {static}")
    most = MASS * G * np.tan(slope + np.arctan(static))
    holds = simulate(block, block.start(), 0.5, tau={"x": -most * (1.0 - 1e-6)})
    assert not holds.v.any()
    moves = simulate(block, block.start(), 0.5, tau={"x": -most * (1.0 + 1e-6)})
    push = most * (1.0 + 1e-6)
    load = MASS * G * np.cos(slope) + push * np.sin(slope)
    force = push * np.cos(slope) - MASS * G * np.sin(slope) - coulomb * load
    assert np.hypot(*moves.q[-1, :2]) == pytest.approx(0.5 * force / MASS * 0.5**2, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["DOP853", "moreau"])
def test_a_rod_stays_while_its_weight_meets_the_circle_of_friction(method: str) -> None:
    """The circle about the pin has the radius of the pin times its friction."""
    mu = 0.3
    machine = pendulum(f"coulomb: {mu}")
    edge = float(np.arcsin(mu * PIN / ARM))
    stays = simulate(machine, hanging(machine, edge * (1.0 - 1e-6)), 0.2, method=method)
    np.testing.assert_allclose(stays.v, 0.0, rtol=0, atol=1e-14)
    falls = simulate(machine, hanging(machine, edge * (1.0 + 1e-3)), 0.2, method=method)
    assert falls.position("turn")[-1] < edge * (1.0 + 1e-3) - 1e-6


@pytest.mark.slow
def test_a_pendulum_swings_until_its_pin_holds_it() -> None:
    """Against the equation of its angle, where the force in the pin depends on its friction."""
    mu, speed = 0.3, 1.0
    machine = pendulum(f"coulomb: {mu}")
    start = hanging(machine, 0.2, speed)
    found = simulate(machine, start, 4.0, sample_period=0.01)
    about = INERTIA + MASS * ARM**2

    def off(faster: float, angle: float, rate: float, side: float) -> float:
        along = MASS * (G * np.sin(angle) + ARM * faster)
        inward = MASS * (G * np.cos(angle) + ARM * rate**2)
        friction = mu * PIN * np.hypot(along, inward)
        return float(about * faster + MASS * G * ARM * np.sin(angle) + side * friction)

    def rates(t: float, x: np.ndarray, side: float) -> list[float]:
        return [x[1], brentq(off, -1e3, 1e3, args=(x[0], x[1], side), xtol=1e-14)]

    def turns(t: float, x: np.ndarray, side: float) -> float:
        return float(x[1])

    turns.terminal = True
    t, x, side = 0.0, np.array([0.2, speed]), 1.0
    while ARM * abs(np.sin(x[0])) > mu * PIN or x[1]:
        turns.direction = -side
        given = {"args": (side,), "events": turns, "rtol": 1e-12, "atol": 1e-13}
        swing = solve_ivp(rates, (t, 10.0), x, method="DOP853", **given)
        t, x, side = swing.t[-1], np.array([swing.y[0, -1], 0.0]), -side
    assert changes(found, "pin.sticking", True)[-1] == pytest.approx(t, abs=1e-8)
    assert found.position("turn")[-1] == pytest.approx(x[0], abs=1e-8)
    assert not found.v[-1].any() or np.abs(found.v[-1]).max() < 1e-14


@pytest.mark.slow
@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler on this machine")
def test_its_steps_agree_to_order_one() -> None:
    """In the mean over motions: of each, errors jump with where it turns round within a step."""
    machine = pendulum("coulomb: 0.3, static: 0.4")
    steps, errors = (4e-3, 1e-3, 2.5e-4), []
    given = {"sample_period": 0.02, "backend": "compiled"}
    for angle in np.linspace(0.2, 0.35, 6):
        start = hanging(machine, angle, 1.0)
        exact = simulate(machine, start, 1.0, **given)
        for step in steps:
            found = simulate(machine, start, 1.0, method="moreau", step=step, **given)
            errors.append(np.abs(found.q - exact.q).max())
            assert (np.diff(found.energy) < 1e-6 * MASS * G * ARM).all()
    mean = np.reshape(errors, (-1, len(steps))).mean(axis=0)
    order = np.polyfit(np.log(steps), np.log(mean), 1)[0]
    assert 0.85 < order < 1.2  # 0.94 here, and 0.97 of six sizes; of single motions 0.57 to 1.09
    assert mean[-1] < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("method", ["DOP853", "moreau"])
def test_what_lies_on_it_presses_it_too(method: str) -> None:
    """A weight that only falls rests on a block on a guide, whose friction carries both."""
    mu, on_top, weight, speed, duration = 0.2, 0.1, 3.0, 2.0, 0.2
    machine = mechanism(
        FREE
        + link("weight", weight)
        + joint("fall", "base", "weight", kind="prismatic", axis="0 0 1"),
        "constraints: {guide: {type: prismatic, axis: [1, 0, 0], parent: {link: base}, child:"
        f" {{link: rod}}, friction: {{coulomb: {mu}, exact: true}}}}}}\n"
        "contacts: {top: {parent: {link: rod}, child: {link: weight},"
        f" friction: {on_top}}}}}",
    )
    start = machine.state(np.zeros(4), [speed, 0.0, 0.0, 0.0])
    found = simulate(machine, start, duration, method=method)
    slower = G * (mu * (MASS + weight) + on_top * weight) / MASS
    assert found.v[-1, 0] == pytest.approx(speed - slower * duration, abs=1e-9)
    assert found.q[-1, 0] == pytest.approx(speed * duration - 0.5 * slower * duration**2, abs=1e-9)


def test_sliding_and_turning_share_one_friction() -> None:
    """A drum of inertia m r² on a shaft: its friction is against the velocity of its surface."""
    mu, slide, turn = 0.3, 0.6, 8.0
    drum = f"""<link name="drum"><inertial><mass value="{LIGHT}"/><inertia ixx="{MASS * PIN**2}"
        iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    shaft = mechanism(
        FREE + drum + joint("spin", "rod", "drum", axis="1 0 0"),
        "constraints: {shaft: {type: cylindrical, axis: [1, 0, 0], parent: {link: base},"
        f" child: {{link: drum}}, friction: {{coulomb: {mu}, radius: {PIN}, exact: true}}}}}}",
    )
    found = simulate(shaft, shaft.state(np.zeros(4), [slide, 0.0, 0.0, turn]), 1.0)
    speed = np.hypot(slide, PIN * turn)
    (stop,) = changes(found, "shaft.sticking", True)
    assert stop == pytest.approx(speed / (mu * G), abs=1e-8)
    way = 0.5 * speed**2 / (mu * G)
    assert found.q[-1, 0] == pytest.approx(way * slide / speed, abs=1e-8)
    assert PIN * found.q[-1, 3] == pytest.approx(way * PIN * turn / speed, abs=1e-8)


def test_motors_overcome_it() -> None:
    mu = 0.3
    machine = pendulum(f"coulomb: {mu}", "actuators: {motor: {joint: turn}}")
    state, faster = hanging(machine, 0.3, 1.0), 2.0
    found = inverse_dynamics(machine, state, {"turn": faster})
    weight = MASS * G * np.array([np.sin(0.3), np.cos(0.3)])
    force = np.hypot(*(weight + MASS * ARM * np.array([faster, 1.0])))
    about = (INERTIA + MASS * ARM**2) * faster + weight[0] * ARM
    assert found.efforts[0] == pytest.approx(about + mu * PIN * force, abs=1e-9)


@pytest.mark.parametrize(
    ("friction", "words"),
    [
        ("{coulomb: 0.1, static: 0.2, radius: 0.1}", "exact: true"),
        ("{viscous: 0.1, exact: true}", "coulomb"),
        ("{coulomb: 0.2, static: 0.1, radius: 0.1, exact: true}", "at least coulomb, 0.2"),
        ("{coulomb: 0.2, velocity: 0.1, radius: 0.1, exact: true}", "regularises"),
    ],
)
def test_what_makes_no_sense_is_refused(friction: str, words: str) -> None:
    text = (
        "constraints: {pin: {type: hinge, axis: [0, 1, 0], parent: {link: base},"
        f" child: {{link: rod}}, friction: {friction}}}}}"
    )
    with pytest.raises(MechanismFileError, match=words) as found:
        mechanism(FREE, text)
    assert "constraints.pin.friction" in str(found.value)


@pytest.mark.parametrize("kind", ["screw, axis: [0, 1, 0], pitch: 1", "frame, axes: [x, rx]"])
def test_what_does_not_turn_and_slide_by_itself_is_refused(kind: str) -> None:
    text = (
        f"constraints: {{pin: {{type: {kind}, parent: {{link: base}}, child: {{link: rod}},"
        " friction: {coulomb: 0.1, radius: 0.1, exact: true}}}"
    )
    if kind.startswith("screw"):
        with pytest.raises(MechanismFileError, match="leave exact") as found:
            mechanism(FREE, text)
        assert "constraints.pin.friction.exact" in str(found.value)
    else:
        assert mechanism(FREE, text).constraints.row_names[-4:] == (
            "pin.sticking.x",
            "pin.sticking.y",
            "pin.sticking.rx",
            "pin.sticking.ry",
        )


SPATIAL = (
    link("base")
    + "".join(link(name, LIGHT, LIGHT) for name in ("along", "across", "up", "first", "second"))
    + link("body", MASS, INERTIA)
    + joint("x", "base", "along", kind="prismatic", axis="1 0 0")
    + joint("y", "along", "across", kind="prismatic", axis="0 1 0")
    + joint("z", "across", "up", kind="prismatic", axis="0 0 1")
    + joint("a", "up", "first", axis="0 0 1")
    + joint("b", "first", "second", axis="0 1 0")
    + joint("c", "second", "body", axis="1 0 0")
)


def on(kind: str, friction: str, lever: float = 0.0) -> Mechanism:
    """A body on a joint that turns in several directions, which is above its centre."""
    return mechanism(
        SPATIAL,
        f"constraints: {{ball: {{type: {kind}, parent: {{link: base}}, child: {{link: body,"
        f" xyz: [0, 0, {lever}]}}, friction: {{radius: {PIN}, exact: true, {friction}}}}}}}\n"
        f"initial_guess: {{z: {-lever}}}",
    )


@pytest.mark.slow
@pytest.mark.parametrize(("method", "order"), [("DOP853", 1e-8), ("moreau", 2e-3)])
@pytest.mark.parametrize(
    "kind", ["point", "universal, parent_axis: [0, 0, 1], child_axis: [1, 0, 0]"]
)
def test_friction_of_a_ball_or_cross_is_one_against_its_angular_velocity(
    kind: str, method: str, order: float
) -> None:
    """|ω| falls steadily, whatever its direction does: it stops after I ω/(μ r m g)."""
    mu, spin = 0.3, np.array([2.0, 0.0, 1.5] if kind != "point" else [2.0, 0.9, 1.5])
    machine, ball = on(kind, f"coulomb: {mu}"), kind == "point"
    start = machine.state(np.zeros(6), [0.0, 0.0, 0.0, spin[2], spin[1], spin[0]])
    found = simulate(machine, start, 1.5, method=method, sample_period=0.01)
    slower = mu * PIN * MASS * G / INERTIA
    speed = float(np.linalg.norm(spin))
    (stop,) = changes(found, "ball.sticking", True)
    assert stop == pytest.approx(speed / slower, abs=order)
    rates = np.maximum(speed - slower * found.t, 0.0)
    np.testing.assert_allclose(
        found.energy - found.energy[-1], 0.5 * INERTIA * rates**2, atol=order
    )
    assert np.abs(found.v[-1]).max() < 1e-12
    if ball and method == "DOP853":  # about an axis that stays
        turned = spin / speed * 0.5 * speed**2 / slower
        end = Rotation.from_euler("ZYX", found.q[-1, 3:]).as_rotvec()
        np.testing.assert_allclose(end, turned, rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["DOP853", "moreau"])
def test_a_ball_holds_a_lever_in_any_direction_up_to_its_friction(method: str) -> None:
    mu, static = 0.2, 0.3
    machine = on("point", f"coulomb: {mu}, static: {static}", ARM)
    for part, stays in ((1.0 - 1e-6, True), (1.0 + 1e-6, False)):
        lean, way = float(np.arcsin(part * static * PIN / ARM)), 0.7
        turned = Rotation.from_rotvec([lean * np.cos(way), lean * np.sin(way), 0.0])
        q = [*(-ARM * turned.as_matrix()[:, 2]), *turned.as_euler("ZYX")]
        state = machine.state(q, np.zeros(6))
        assert standing(machine, state).stands is stays
        found = simulate(machine, state, 0.05, method=method)
        if stays:
            np.testing.assert_allclose(found.v, 0.0, rtol=0, atol=1e-13)
        else:
            about = INERTIA + MASS * ARM**2
            load = MASS * G * np.sqrt(1.0 - np.sin(lean) ** 2)
            assert np.linalg.norm(found.v[-1, 3:]) > 0.05 * PIN * (static - mu) * load / about / 2


@pytest.mark.slow
@pytest.mark.parametrize("method", ["DOP853", "moreau"])
def test_a_frame_of_two_axes_is_a_pin_in_a_plane(method: str) -> None:
    """Directions in which nothing can move have no friction."""
    swings = []
    for kind in ("hinge, axis: [0, 1, 0]", "frame, axes: [x, z]"):
        machine = mechanism(
            FREE,
            f"constraints: {{pin: {{type: {kind}, parent: {{link: base}}, child: {{link: rod,"
            f" xyz: [0, 0, {ARM}]}}, friction: {{radius: {PIN}, exact: true, coulomb: 2}}}}}}\n"
            f"initial_guess: {{z: {-ARM}}}",
        )
        swings.append(simulate(machine, hanging(machine, 0.2, 1.0), 1.0, method=method))
    np.testing.assert_allclose(swings[1].q, swings[0].q, rtol=0, atol=1e-9)
    assert swings[0].switchings


@pytest.mark.slow
@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("method", ["DOP853", "moreau"])
@pytest.mark.parametrize("distance", [0.05, 0.3, (INERTIA + MASS * ARM**2) / (MASS * ARM), 0.7])
def test_friction_of_a_pin_within_an_impact(distance: float, method: str, law: str) -> None:
    """A ball strikes a hanging rod: friction is that of the impulse in the pin, or holds the rod.

    It loses nothing at the centre of percussion, where there is no such impulse.
    """
    mu, ball, speed, restitution, lever = 1.2, 0.5, 3.0, 0.6, MASS * ARM
    rod = pendulum(
        f"coulomb: {mu}",
        f"solver: {{impacts: {law}}}\n"
        f"contacts: {{face: {{parent: {{link: rod, xyz: [0, 0, {ARM - distance}],"
        f" rpy: [0, {-np.pi / 2}, 0]}}, child: {{link: ball, xyz: [0, 0, {-distance}]}},"
        f" restitution: {restitution}}}}}",
        link("ball", ball) + joint("fly", "base", "ball", kind="prismatic", axis="1 0 0"),
    )
    start = rod.state([0.0, -ARM, 0.0, -5e-9], [0.0, 0.0, 0.0, speed])
    step = {"step": 1e-8} if method == "moreau" else {}
    found = simulate(rod, start, 1e-8, method=method, sample_period=1e-8, **step)
    about = INERTIA + MASS * ARM**2

    def turned(side: float) -> float:  # of the rod per impulse of the ball
        reach = side * mu * PIN
        return (distance - reach) / (about - reach * lever)

    sides = [side for side in (1.0, -1.0) if side * (1.0 - lever * turned(side)) > -1e-12]
    per_impulse = max(turned(sides[0]), 0.0)
    impulse = ball * speed * (1.0 + restitution) / (1.0 + ball * distance * per_impulse)
    assert -found.v[-1, 2] == pytest.approx(impulse * per_impulse, abs=1e-7)
    assert found.v[-1, 3] == pytest.approx(speed - impulse / ball, abs=1e-7)
    if distance == 0.05:
        assert per_impulse == 0.0
    elif abs(about - lever * distance) < 1e-12:
        assert per_impulse == pytest.approx(1.0 / lever, rel=1e-12)


@pytest.mark.parametrize("part", [1.0 - 1e-6, 1.0 + 1e-6])
def test_a_pin_holds_at_rest_up_to_its_friction(part: float) -> None:
    """Standing and equilibrium, where the weight meets the circle of friction or not."""
    mu = 0.3
    machine = pendulum(f"coulomb: 0.1, static: {mu}")
    at = hanging(machine, float(np.arcsin(part * mu * PIN / ARM)))
    assert standing(machine, at).stands is (part < 1.0)
    rests = machine.equilibrium(at.q)
    angle = rests.state.q[2]
    assert angle == pytest.approx(at.q[2] if part < 1.0 else 0.0, abs=1e-9)
    qdd = machine.dynamics().evaluate(rests.state, rests.inputs).qdd
    np.testing.assert_allclose(qdd, 0.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("part", [1.0 - 1e-6, 1.0 + 1e-6])
def test_a_joint_of_the_tree_holds_at_rest_up_to_its_stiction(part: float) -> None:
    robot = (
        link("base") + link("rod", MASS, INERTIA, com=f"0 0 {-ARM}") + joint("turn", "base", "rod")
    )
    machine = mechanism(
        robot, f"joints: {{turn: {{friction: 0.1, stiction: {MASS * G * ARM / 2}}}}}"
    )
    at = machine.state([float(np.arcsin(0.5 * part))], [0.0])
    assert standing(machine, at).stands is (part < 1.0)
    angle = machine.equilibrium(at.q).state.q[0]
    assert angle == pytest.approx(at.q[0] if part < 1.0 else 0.0, abs=1e-9)


@pytest.mark.parametrize(("part", "motor"), [(1.0 - 1e-6, 0.0), (1.5, 0.5)])
def test_motors_and_pins_hold_together(part: float, motor: float) -> None:
    """A motor takes what is beyond friction; one that pushes the rod presses its pin."""
    mu = 0.3
    machine = pendulum(f"coulomb: {mu}", "actuators: {motor: {joint: turn}}")
    at = hanging(machine, float(np.arcsin(part * mu * PIN / ARM)))
    found = inverse_dynamics(machine, at, np.zeros(3))
    assert found.possible
    assert found.efforts[0] == pytest.approx(motor * mu * PIN * MASS * G, abs=2e-5)
    if not motor:
        at = hanging(machine, 1.0)
        push = MASS * G * (ARM * np.sin(1.0) - mu * PIN)
        assert inverse_dynamics(machine, at, np.zeros(3)).efforts[0] == pytest.approx(
            push, rel=1e-7
        )


@pytest.mark.parametrize("part", [1.0 - 1e-6, 1.0 + 1e-6])
def test_a_push_across_presses_what_holds_it(part: float) -> None:
    """A horizontal force holds a block on a guide up to the load that both make in it."""
    slope, mu = 0.3, 0.35
    block = on_slope(slope, f"coulomb: {mu}")
    push = {"x": -part * MASS * G * np.tan(slope + np.arctan(mu))}
    assert standing(block, block.start(), tau=push).stands is (part < 1.0)


def test_rollouts_step_over_it_and_what_does_not_know_it_says_so() -> None:
    machine = on("point", "coulomb: 0.3")
    start = machine.state(np.zeros(6), [0.0, 0.0, 0.0, 1.5, 0.9, 2.0])
    steps = simulate(machine, start, 0.01, method="moreau", step=1e-3)
    rolled = machine.dynamics().rollout(
        start.q[None], start.v[None], dt=1e-3, steps=10, method="moreau"
    )
    np.testing.assert_allclose(rolled.q[0, -1], steps.q[-1], rtol=0, atol=1e-12)
    slides = ContactDynamics(machine).beginning(start, machine.inputs())
    with pytest.raises(InputError, match=r"ball\.sticking: friction of a loop joint that slides"):
        linearize(machine, start, slides)
