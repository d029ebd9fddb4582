# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Friction of loop joints: closed forms, power, energy balance, and where it cannot be known."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from support.kind_samples import sample
from support.mechanism_builder import cases, joint, link, mechanism, near

from uk_dynamics.constraints.kinds.kind import SampleRobot
from uk_dynamics.constraints.kinds.registry import kinds
from uk_dynamics.core.equation.solution import Status
from uk_dynamics.exceptions import MechanismFileError, StateError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Inputs
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate

G = 9.81
SLOPE = 0.5  # rad


def flying_body(constraint, gravity="[0, 0, -9.81]"):
    """A body of 2 kg and 0.3 kg m² that only a loop joint connects with the ground."""
    slides = [
        joint(f"slide_{a}", p, c, kind="prismatic", axis=axis)
        for a, p, c, axis in (("x", "base", "m1", "1 0 0"), ("y", "m1", "m2", "0 1 0"))
    ]
    slides.append(joint("slide_z", "m2", "m3", kind="prismatic", axis="0 0 1"))
    turns = [
        joint("turn_x", "m3", "m4", axis="1 0 0"),
        joint("turn_y", "m4", "m5", axis="0 1 0"),
        joint("turn_z", "m5", "body", axis="0 0 1"),
    ]
    massless = "".join(link(f"m{n}", mass=0.0) for n in range(1, 6))
    parts = link("base") + massless + link("body", 2.0, 0.3) + "".join(slides + turns)
    return mechanism(parts, f"model: {{gravity: {gravity}}}\nconstraints:\n  loop: {constraint}\n")


def rail(friction, kind="prismatic"):
    """The body on a rail along x that is inclined by turning gravity."""
    gravity = f"[{G * np.sin(SLOPE)}, 0, {-G * np.cos(SLOPE)}]"
    return flying_body(
        f"{{type: {kind}, axis: [{'1, 0, 0' if kind == 'prismatic' else '0, 0, 1'}],"
        f" parent: {{link: base}}, child: {{link: body}}, friction: {friction}}}",
        gravity,
    )


@pytest.mark.parametrize("kind", ["prismatic", "planar"])
@pytest.mark.parametrize("rate", [0.3, -0.3])
def test_a_block_slides_down_an_inclined_rail(kind, rate):
    mu = 0.2
    machine = rail(f"{{coulomb: {mu}, velocity: 1e-3}}", kind)
    state = machine.state({}, {"slide_x": rate})
    solution = machine.dynamics().evaluate(state)
    # tanh(300) is 1 to rounding.
    expected = G * (np.sin(SLOPE) - np.sign(rate) * mu * np.cos(SLOPE))
    assert solution.status is Status.OK
    assert solution.qdd == pytest.approx([expected, 0, 0, 0, 0, 0], abs=1e-10)


def test_viscous_friction_of_a_slide():
    machine = rail("{viscous: 3.0}")
    solution = machine.dynamics().evaluate(machine.state({}, {"slide_x": 0.7}))
    expected = G * np.sin(SLOPE) - 3.0 * 0.7 / 2.0
    assert solution.qdd == pytest.approx([expected, 0, 0, 0, 0, 0], abs=1e-10)


def test_a_flat_slide_turns_and_slides_against_one_friction():
    mu, radius, v0 = 0.2, 0.1, 0.05
    machine = rail(f"{{coulomb: {mu}, radius: {radius}, velocity: {v0}}}", "planar")
    slide, turn = 0.03, 0.8
    state = machine.state({}, {"slide_x": slide, "turn_z": turn})
    qdd = machine.dynamics().evaluate(state).qdd
    speed = np.hypot(slide, radius * turn)
    friction = mu * 2.0 * G * np.cos(SLOPE) * np.tanh(speed / v0) / speed
    assert qdd[0] == pytest.approx(G * np.sin(SLOPE) - friction * slide / 2.0, abs=1e-10)
    assert qdd[5] == pytest.approx(-friction * radius**2 * turn / 0.3, abs=1e-10)


def test_a_spinning_pin_slows_down_as_its_weight_says():
    """A wheel on a pin: the load is its weight, so the friction torque is constant."""
    mu, radius, start = 0.3, 0.02, 2.0
    machine = flying_body(
        "{type: hinge, axis: [0, 1, 0], parent: {link: base}, child: {link: body},"
        f" friction: {{coulomb: {mu}, radius: {radius}, velocity: 1e-5}}}}"
    )
    torque = mu * radius * 2.0 * G
    stop = start * 0.3 / torque
    trajectory = simulate(machine, machine.state({}, {"turn_y": start}), 0.9 * stop)
    rate = trajectory.v[:, 4]
    # tanh is 1 to rounding while the surface moves at more than 20 v₀; it moves at 400 v₀.
    assert rate == pytest.approx(start - torque / 0.3 * trajectory.t, abs=1e-7)
    assert np.abs(trajectory.residual).max() < 1e-10


def test_thrust_along_a_hinge_does_not_rub():
    machine = flying_body(
        "{type: hinge, axis: [0, 0, 1], parent: {link: base}, child: {link: body},"
        " friction: {coulomb: 0.5, radius: 0.1}}"
    )
    qdd = machine.dynamics().evaluate(machine.state({}, {"turn_z": 1.0})).qdd
    assert qdd == pytest.approx(np.zeros(6), abs=1e-11)


def test_a_ball_rubs_alike_in_all_directions():
    mu, radius = 0.3, 0.02
    machine = flying_body(
        "{type: point, parent: {link: base}, child: {link: body},"
        f" friction: {{coulomb: {mu}, radius: {radius}, velocity: 1e-6}}}}"
    )
    for axis in ("turn_x", "turn_y", "turn_z"):
        state = machine.state({}, {axis: 1.0})
        expected = dict.fromkeys(machine.model.velocity_names, 0.0)
        expected[axis] = -mu * radius * 2.0 * G / 0.3
        qdd = machine.dynamics().evaluate(state).qdd
        assert qdd == pytest.approx(list(expected.values()), abs=1e-10)


# Kinds that may have friction, in order of their names.
LOOPS = sorted(
    name
    for name, kind in kinds().items()
    if kind.friction is not None and not kind.friction.refusal
)


def chain(kind, friction):
    """Two free bodies that a loop joint connects."""
    bodies, parts = ("first", "second"), link("base")
    for name in bodies:
        parts += link(name, 1.5, 0.2, com="0.1 0.2 -0.1")
        parts += f'<joint name="{name}_free" type="floating"><parent link="base"/>'
        parts += f'<child link="{name}"/></joint>'
    keys = json.dumps(sample(kind, SampleRobot((), bodies), 2)).strip("{}")
    return mechanism(
        parts,
        f"constraints:\n  loop:\n    {{{keys}, parent: {{link: first, xyz: [0.3, 0, 0]}},"
        f" child: {{link: second, xyz: [0, 0.2, 0]}}, friction: {friction}}}\n",
    )


@pytest.mark.parametrize("kind", LOOPS)
def test_friction_takes_energy_and_the_rows_hold_with_it(kind):
    machine = chain(kind, "{coulomb: 0.1, viscous: 0.05, velocity: 0.01, radius: 0.05}")
    dynamics = machine.dynamics()
    strongest = 0.0
    for state, inputs, _ in cases(machine, 10):
        solution = dynamics.evaluate(state, inputs)
        terms = machine.terms(state, inputs)
        assert solution.status is Status.OK
        near(terms.A @ solution.qdd, terms.b)
        near(terms.M @ solution.qdd, terms.F + solution.constraint_force)
        near(solution.constraint_force, solution.nonideal + terms.A.T @ solution.joint_multipliers)
        power = float(solution.nonideal @ state.v)
        assert power <= 1e-12
        strongest = min(strongest, power)
    assert strongest < -1e-3


@pytest.mark.slow
def test_friction_is_the_only_thing_that_takes_energy():
    """A pendulum closed by a loop joint: its energy falls by the work of friction."""
    machine = mechanism(
        link("base")
        + link("m1", mass=0.0)
        + link("body", 2.0, 0.3, com="0.4 0 0")
        + joint("x", "base", "m1", kind="prismatic", axis="1 0 0")
        + link("m2", mass=0.0)
        + joint("z", "m1", "m2", kind="prismatic", axis="0 0 1")
        + joint("turn", "m2", "body"),
        "constraints:\n  pin:\n"
        "    {type: frame, axes: [x, z], parent: {link: base}, child: {link: body},"
        " friction: {coulomb: 0.2, viscous: 0.01, radius: 0.02, velocity: 0.01}}\n",
    )
    start = machine.state({"turn": 0.2})
    period = 0.002
    trajectory = simulate(machine, start, 2.0, sample_period=period)
    dynamics = machine.dynamics()
    power = []
    for t, q, v in zip(trajectory.t, trajectory.q, trajectory.v, strict=True):
        state = machine.state(q, v, float(t))
        power.append(float(dynamics.evaluate(state).nonideal @ state.v))
    power = np.array(power)
    assert power.max() <= 0.0
    # Simpson's rule; tanh turns over within some samples, which costs most of the accuracy.
    work = (power[:-2:2] + 4 * power[1:-1:2] + power[2::2]).sum() * period / 3
    lost = trajectory.energy[-1] - trajectory.energy[0]
    assert lost < -0.5
    assert work == pytest.approx(lost, abs=1e-5)


def test_a_drawer_that_is_pushed_too_far_off_its_rail_jams():
    """A guide at an angle: the more it rubs, the harder it is pressed (Painlevé)."""

    def wedge(mu, angle=1.2):
        normal = f"[{-np.sin(angle)}, 0, {np.cos(angle)}]"
        parts = (
            link("base")
            + link("cart", 1.0)
            + link("body", 1.0)
            + joint("x", "base", "cart", kind="prismatic", axis="1 0 0")
            + joint("z", "cart", "body", kind="prismatic", axis="0 0 1")
        )
        return mechanism(
            parts,
            "model: {gravity: [0, 0, 0]}\nconstraints:\n  rail:\n    {type: planar,"
            f" axis: {normal}, parent: {{link: base}}, child: {{link: body}},"
            f" friction: {{coulomb: {mu}, velocity: 1e-6}}}}\n",
        )

    angle = 1.2
    e, n = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    M, push = np.diag([2.0, 1.0]), np.array([-5.0, 0.0])
    inverse = np.linalg.inv(M)
    coupling = (n @ inverse @ e) / (n @ inverse @ n)
    for mu in (0.1, 0.9 / abs(coupling), 1.1 / abs(coupling)):
        for rate in (1.0, -1.0):
            machine = wedge(mu)
            state = machine.state({}, dict(zip(("x", "z"), rate * e, strict=True)))
            solution = machine.dynamics().evaluate(state, Inputs(tau=push))
            # λ along n: λ = λ₀ + μ sign(rate) coupling |λ|, where the rows hold against friction.
            start, slope = -(n @ inverse @ push) / (n @ inverse @ n), mu * rate * coupling
            if np.sign(start) * slope >= 1.0:
                assert solution.status is Status.NOT_CONVERGED
                assert mu > 1.0 / abs(coupling)
                continue
            load = start / (1.0 - np.sign(start) * slope)
            assert solution.status is Status.OK
            assert solution.nonideal == pytest.approx(-mu * rate * abs(load) * e, abs=1e-8)


def test_redundant_pins_share_a_load_that_friction_needs():
    parts = link("base") + link("body", 2.0, 0.3, com="0.4 0 0")
    parts += '<joint name="free" type="planar"><parent link="base"/><child link="body"/>'
    parts += '<axis xyz="0 1 0"/></joint>'
    pin = (
        "{type: frame, axes: [x, z], parent: {link: base}, child: {link: body},"
        " friction: {coulomb: 0.2, radius: 0.02}}"
    )
    one = mechanism(parts, f"constraints:\n  one: {pin}\n")
    two = mechanism(parts, f"constraints:\n  one: {pin}\n  two: {pin}\n")
    moving = [0.0, 0.0, 1.0]
    alone = one.dynamics().evaluate(one.state(None, moving))
    assert alone.status is Status.OK
    shared = two.dynamics().evaluate(two.state(None, moving))
    assert shared.status is Status.UNDETERMINED_LOAD
    assert [two.row_names[row] for row in shared.offending] == ["one.x", "one.z", "two.x", "two.z"]
    # Equal pins at one place: half the load each, all the same friction in the end.
    assert shared.qdd == pytest.approx(alone.qdd, abs=1e-9)


def test_a_joint_that_is_open_does_not_rub():
    machine = flying_body(
        "{type: hinge, axis: [0, 1, 0], parent: {link: base}, child: {link: body},"
        " friction: {coulomb: 0.3, viscous: 0.1, radius: 0.02}, switchable: true, active: false}"
    )
    state = machine.state({}, {"turn_y": 2.0, "slide_x": 1.0})
    solution = machine.dynamics().evaluate(state)
    assert solution.status is Status.OK
    assert solution.qdd == pytest.approx([0, 0, -G, 0, 0, 0], abs=1e-12)
    closed = Inputs(active=ActiveConstraints(frozenset({"loop"})))
    turning = machine.dynamics().evaluate(machine.state({}, {"turn_y": 2.0}), closed)
    expected = -(0.3 * 0.02 * 2.0 * G * np.tanh(0.02 * 2.0 / 1e-3) + 0.1 * 2.0) / 0.3
    assert turning.qdd == pytest.approx([0, 0, 0, 0, expected, 0], abs=1e-10)


# --- a user's own force -----------------------------------------------------------------------


def test_a_function_of_state_and_solution_acts_everywhere():
    text = "{type: hinge, axis: [0, 1, 0], parent: {link: base}, child: {link: body}}"
    bare = flying_body(text)

    def friction(state, solution):
        load = np.hypot(*solution.joint_multipliers[[0, 2]])
        return -0.3 * 0.02 * load * np.array([0, 0, 0, 0, np.sign(state.v[4]), 0])

    own = Mechanism(bare.spec, bare._description, nonideal=friction)
    assert not own.conservative
    state = bare.state({}, {"turn_y": 2.0})
    expected = [0, 0, 0, 0, -0.3 * 0.02 * 2.0 * G / 0.3, 0]
    assert own.dynamics().evaluate(state).qdd == pytest.approx(expected, abs=1e-9)
    through_inputs = bare.dynamics().evaluate(state, Inputs(nonideal=friction))
    assert through_inputs.qdd == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("result", [np.zeros(5), "much", None, [1.0]])
def test_a_function_must_give_a_number_per_velocity(result):
    machine = rail("{viscous: 1.0}")
    with pytest.raises(StateError, match="non-ideal force"):
        machine.dynamics().evaluate(machine.state(), Inputs(nonideal=lambda s, x: result))


# --- files ------------------------------------------------------------------------------------


def constraint(text):
    return f"schema: 1\nconstraints:\n  loop: {{parent: {{link: a}}, child: {{link: b}}, {text}}}\n"


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("type: weld, friction: {viscous: 1.0}", "friction", "does not move"),
        ("type: point, friction: {}", "friction", "neither coulomb nor viscous"),
        ("type: point, friction: {coulomb: 0.1}", "friction.radius", "radius"),
        ("type: frame, axes: [x], friction: {coulomb: 0.1}", "friction.radius", "radius"),
        ("type: frame, axes: [rx], friction: {coulomb: 1, radius: 0}", "coulomb", "translation"),
        ("type: point, friction: {coulomb: -0.1}", "friction.coulomb", "at least 0"),
        ("type: point, friction: {velocity: 0}", "friction.velocity", "above 0"),
        ("type: point, friction: {columb: 0.1}", "friction", 'did you mean "coulomb"?'),
        ("type: point, friction: 0.1", "friction", "coulomb: 0.1, radius"),
        ("type: distance, distance: 1, friction: {coulomb: 0.1}", "", 'unknown key "friction"'),
    ],
)
def test_friction_that_cannot_be_is_refused_with_its_place(text, place, problem):
    with pytest.raises(MechanismFileError) as error:
        MechanismSpec.from_text(constraint(text), file="machine.yaml")
    assert error.value.place.startswith("constraints.loop")
    assert error.value.place.endswith(place)
    assert problem in str(error.value)


def test_tasks_do_not_rub():
    text = "schema: 1\ntasks:\n  loop: {type: point, parent: {link: a}, child: {link: b},"
    with pytest.raises(MechanismFileError, match=r"tasks\.loop\.friction: .*not in its tasks"):
        TasksSpec.from_text(text + " friction: {viscous: 1}}\n")


@settings(deadline=None, max_examples=25)
@given(
    mu=st.floats(0.0, 0.3), rate=st.floats(-2.0, 2.0), v0=st.floats(1e-4, 1.0), d=st.floats(0, 2)
)
def test_friction_against_rest_grows_with_speed_and_vanishes_with_it(mu, rate, v0, d):
    if not (mu or d):
        return
    machine = rail(f"{{coulomb: {mu!r}, viscous: {d!r}, velocity: {v0!r}}}")
    solution = machine.dynamics().evaluate(machine.state({}, {"slide_x": rate}))
    expected = -mu * 2.0 * G * np.cos(SLOPE) * np.tanh(rate / v0) - d * rate
    assert solution.nonideal[0] == pytest.approx(expected, abs=1e-9)


def test_below_the_angle_of_friction_a_block_creeps():
    mu, v0 = 0.8, 0.01  # tan(0.5) = 0.546
    machine = rail(f"{{coulomb: {mu}, velocity: {v0}}}")
    creep = v0 * np.arctanh(np.tan(SLOPE) / mu)
    solution = machine.dynamics().evaluate(machine.state({}, {"slide_x": creep}))
    assert solution.qdd == pytest.approx(np.zeros(6), abs=1e-10)
    trajectory = simulate(machine, machine.state({}, {"slide_x": 0.0}), 0.1, method="Radau")
    assert trajectory.v[-1, 0] == pytest.approx(creep, abs=1e-7)


@pytest.mark.parametrize(
    "method",
    [
        "nullspace",
        "hierarchical",
        "udwadia_kalaba_pseudoinverse",
        "range_space",
        "augmented_pseudoinverse",
        "udwadia_phohomsiri",
        "kkt",
    ],
)
def test_friction_is_the_same_in_every_form_of_the_equation(method):
    machine = chain("hinge", "{coulomb: 0.1, viscous: 0.05, velocity: 0.01, radius: 0.05}")
    spec = replace(machine.spec, solver=replace(machine.spec.solver, method=method))
    other = Mechanism(spec, machine._description)
    for state, inputs, _ in cases(machine, 5):
        expected = machine.dynamics().evaluate(state, inputs)
        found = other.dynamics().evaluate(state, inputs)
        assert found.status is Status.OK
        near(found.qdd, expected.qdd)
        near(found.joint_multipliers, expected.joint_multipliers)
        near(found.nonideal, expected.nonideal)


def test_friction_in_a_joint_with_clearance_is_a_force_on_its_own():
    """Soft rows give way to friction as well: the motion is that of M q̈ = F + c + Aᵀ loads."""
    machine = flying_body(
        "{type: hinge, axis: [0, 1, 0], parent: {link: base}, child: {link: body},"
        " compliance: 1e-5, friction: {coulomb: 0.3, radius: 0.02}}"
    )
    state = machine.state({"slide_z": -1e-4}, {"turn_y": 2.0, "slide_x": 0.1})
    solution = machine.dynamics().evaluate(state)
    terms = machine.terms(state)
    assert solution.status is Status.OK
    near(
        terms.M @ solution.qdd, terms.F + solution.nonideal + terms.A.T @ solution.joint_multipliers
    )
    load = np.hypot(*solution.joint_multipliers[[0, 2]])
    sliding = 0.02 * 2.0
    near(solution.nonideal[4], -0.3 * 0.02 * load * np.tanh(sliding / 1e-3), size=1.0)


def test_a_hinge_in_a_planar_machine_knows_its_load():
    parts = link("base") + link("body", 2.0, 0.3, com="0.4 0 0")
    parts += '<joint name="free" type="planar"><parent link="base"/><child link="body"/>'
    parts += '<axis xyz="0 1 0"/></joint>'
    pins = [
        mechanism(
            parts,
            f"constraints:\n  pin: {{type: {kind}, parent: {{link: base}}, child: {{link: body}},"
            " friction: {coulomb: 0.2, radius: 0.02}}\n",
        )
        for kind in ("frame, axes: [x, z]", "hinge, axis: [0, 1, 0]")
    ]
    frame, hinge = (pin.dynamics().evaluate(pin.state(None, [0.0, 0.0, 1.0])) for pin in pins)
    assert hinge.status is Status.OK
    near(hinge.qdd, frame.qdd)


@settings(deadline=None, max_examples=25)
@given(angle=st.floats(-3.0, 3.0), rate=st.floats(-8.0, 8.0), mu=st.floats(0.0, 2.0))
def test_a_pendulum_rubs_with_the_load_that_its_own_acceleration_makes(angle, rate, mu):
    """The pin bears m (a − g), and a depends on the friction: one equation for the acceleration."""
    mu += 1e-9  # zero is refused: it would be no friction at all
    mass, inertia, arm_length, radius, v0 = 2.0, 0.3, 0.4, 0.1, 0.01
    machine = flying_body(
        "{type: hinge, axis: [0, 1, 0], parent: {link: base},"
        f" child: {{link: body, xyz: [{-arm_length}, 0, 0]}},"
        f" friction: {{coulomb: {mu!r}, radius: {radius}, velocity: {v0}}}}}"
    )
    c, s = np.cos(angle), np.sin(angle)
    state = machine.state(
        {"slide_x": arm_length * c, "slide_z": -arm_length * s, "turn_y": angle},
        {"slide_x": -arm_length * s * rate, "slide_z": -arm_length * c * rate, "turn_y": rate},
    )

    def missing(alpha):
        a_x = arm_length * (-s * alpha - c * rate**2)
        a_z = arm_length * (-c * alpha + s * rate**2)
        load = mass * np.hypot(a_x, a_z + G)
        friction = mu * radius * load * np.tanh(radius * rate / v0)
        weight = mass * G * arm_length * c
        return (inertia + mass * arm_length**2) * alpha - weight + friction

    alpha = brentq(missing, -1e4, 1e4, xtol=1e-12, rtol=1e-14)
    solution = machine.dynamics().evaluate(state)
    assert solution.status is Status.OK
    # Accelerations of up to 50 rad/s², loads of up to 100 N.
    assert solution.qdd[4] == pytest.approx(alpha, abs=1e-8)
