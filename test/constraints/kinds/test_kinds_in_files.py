# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Kinds and references from a file: what the rows are, and what is refused with its place."""

from __future__ import annotations

import numpy as np
import pytest
from support.carts import CART, ROLLING
from support.mechanism_builder import link, mechanism

from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism


def rows_at(machine, q, v, t=0.0):
    workspace = machine.model.workspace()
    state = machine.state(q, v, t)
    workspace.update(state.q, state.v)
    reference = machine.references.sample(t)
    return machine.constraints.evaluate(workspace, t, state.q, state.v, reference)


def by_name(machine, v):
    return dict(zip(machine.joint_names, v.tolist(), strict=True))


def test_a_wheel_rolls_forwards_and_does_not_slide_to_the_left():
    """Signs: axle y and normal z head along x; turning about +y rolls forwards, ẋ = r φ̇."""
    machine = mechanism(CART, ROLLING)
    assert machine.row_names == ("wheel.rolling", "wheel.sideways")
    assert machine.constraints.orders == ("velocity", "velocity")
    yaw = 0.7
    forwards = {"x": np.cos(yaw), "y": np.sin(yaw)}
    assert rows_at(machine, {"yaw": yaw, "roll": 0.4}, forwards).rate == pytest.approx([1, 0])
    left = {"x": -np.sin(yaw), "y": np.cos(yaw)}
    assert rows_at(machine, {"yaw": yaw}, left).rate == pytest.approx([0, 1])
    rolling = {**forwards, "roll": 5.0}
    assert rows_at(machine, {"yaw": yaw}, rolling).rate == pytest.approx([0, 0], abs=1e-12)


def test_a_blade_has_the_sideways_row_only():
    text = ROLLING.replace("    radius: 0.2\n", "").replace("link: wheel", "link: cart")
    machine = mechanism(CART, text)
    assert machine.row_names == ("wheel.sideways",)
    rows = rows_at(machine, {"yaw": 0.3}, {"x": 1.0})
    assert rows.rate == pytest.approx([-np.sin(0.3)])


def test_the_height_of_a_wheel_is_a_matter_of_positions():
    text = ROLLING + "    directions: [height, sideways]\n"
    machine = mechanism(CART, text)
    assert machine.row_names == ("wheel.sideways", "wheel.height")
    assert machine.constraints.orders == ("velocity", "position")
    assert rows_at(machine, {}, {}).residual == pytest.approx([0.0, 0.0])  # axle at 0.2 m


def test_a_twist_in_the_axes_of_the_child_is_forwards_and_sideways():
    text = """constraints:
  drive:
    type: frame_velocity
    axes: [x, rz]
    expressed_in: child
    parent: {link: world}
    child: {link: cart}
    reference: {type: constant, value: [0.5, 0.2]}
"""
    yaw = 1.1
    machine = mechanism(CART, text)
    v = {"x": 0.5 * np.cos(yaw), "y": 0.5 * np.sin(yaw), "yaw": 0.2}
    assert rows_at(machine, {"yaw": yaw}, v).rate == pytest.approx([0.0, 0.0])
    fixed = mechanism(CART, text.replace("expressed_in: child", "expressed_in: parent"))
    assert rows_at(fixed, {"yaw": yaw}, v).rate[0] == pytest.approx(0.5 * np.cos(yaw) - 0.5)


def test_driven_twist_as_a_structural_constraint_moves_the_cart_on_a_circle():
    """Rheonomic on velocities: the acceleration that it asks for is v ω to the left."""
    text = """constraints:
  drive:
    type: frame_velocity
    axes: [x, y, rz]
    expressed_in: child
    parent: {link: world}
    child: {link: cart}
    reference: {type: constant, value: [0.5, 0.0, 0.2]}
"""
    machine = mechanism(CART, text)
    state = machine.dynamics().project(machine.state({"yaw": 0.4}))
    v = by_name(machine, state.v)
    assert v["x"] == pytest.approx(0.5 * np.cos(0.4))
    assert v["yaw"] == pytest.approx(0.2)
    qdd = machine.dynamics().evaluate(state).qdd
    expected = 0.5 * 0.2 * np.array([-np.sin(0.4), np.cos(0.4)])
    np.testing.assert_allclose(qdd[:2], expected, rtol=0, atol=1e-12)


def test_centre_of_mass_of_the_machine_of_links_and_seen_from_a_link():
    text = """constraints:
  all: {type: center_of_mass, axes: [x, y]}
  arm: {type: center_of_mass, axes: [x], links: [arm, wheel]}
  seen: {type: center_of_mass, axes: [y], links: [arm], parent: {link: cart, xyz: [0, 1, 0]}}
"""
    machine = mechanism(CART, text)
    q = {"x": 0.3, "y": -0.2, "yaw": 0.5, "swing": 0.6}
    residual = rows_at(machine, q, {}).residual
    arm = np.array([0.3, -0.2]) + 0.5 * np.array([np.cos(1.1), np.sin(1.1)])
    center = (3 * arm + 3 * np.array([0.3, -0.2])) / 6
    expected = [*center, (3 * arm[0] + 0.3) / 4, 0.5 * np.sin(0.6) - 1.0]
    np.testing.assert_allclose(residual, expected, rtol=0, atol=1e-12)


def test_a_live_reference_waits_at_its_value_and_follows_what_is_fed():
    text = "constraints: {turn: {type: joint, joint: yaw, reference: {type: live, value: 0.3}}}\n"
    machine = mechanism(CART, text)
    dynamics = machine.dynamics()
    state = machine.state({"yaw": 0.3})
    assert dynamics.residual(state).position == pytest.approx([0.0])
    fed = {"turn": ReferenceSample(np.array([0.1]), np.array([0.5]), np.array([2.0]))}
    inputs = Inputs(references=fed, stabilize=False)
    assert dynamics.residual(state, inputs).position == pytest.approx([0.2])
    assert dynamics.evaluate(state, inputs).qdd[2] == pytest.approx(2.0)


def test_polynomial_and_spline_of_a_structural_pose():
    text = """constraints:
  carried:
    type: frame
    axes: [x, y, rz]
    parent: {link: world}
    child: {link: cart}
    reference: {type: REFERENCE}
"""
    polynomial = mechanism(
        CART,
        text.replace("REFERENCE", "polynomial, coefficients: [[0.1, 0.2], 0.3, [0, 0, 0.5]]"),
    )
    state = polynomial.dynamics().project(polynomial.state(t=2.0))
    q = polynomial.model.positions_by_name(state.q)
    v = by_name(polynomial, state.v)
    assert [q["x"], q["y"], q["yaw"]] == pytest.approx([0.5, 0.3, 2.0])
    assert [v["x"], v["y"], v["yaw"]] == pytest.approx([0.2, 0.0, 2.0], abs=1e-12)
    spline = mechanism(
        CART,
        text.replace(
            "REFERENCE", "spline, degree: 5, times: [0, 1, 3], values: [0, [1, 2, 0.5], [0, 1, 3]]"
        ),
    )
    state = spline.dynamics().project(spline.state({"yaw": 2.0}, t=5.0))  # held after its end
    q = spline.model.positions_by_name(state.q)
    assert [q["x"], q["y"], q["yaw"]] == pytest.approx([0.0, 1.0, 3.0])
    np.testing.assert_allclose(state.v[:3], 0.0, rtol=0, atol=1e-12)


def test_a_floating_machine_can_be_held_in_the_world():
    """The world is no link of it, and can be named all the same."""
    spec = MechanismSpec.from_text(
        "schema: 1\nmodel: {root: floating}\nconstraints:\n"
        "  hold: {type: point, parent: {link: world, xyz: [0, 0, 1]}, child: {link: body}}\n"
    )
    machine = Mechanism.from_spec(spec, robot_description=f'<robot name="r">{link("body")}</robot>')
    q = machine.assemble()
    np.testing.assert_allclose(q[:3], [0, 0, 1], rtol=0, atol=1e-12)
    qdd = machine.dynamics().evaluate(machine.state(q)).qdd
    np.testing.assert_allclose(qdd, 0.0, rtol=0, atol=1e-12)  # hung at its centre of mass


FRAMES = "parent: {link: world}, child: {link: cart}"
SPLINE = "type: joint, joint: yaw, reference: {type: spline"
WRONG = {
    "blade that rolls": (
        f"k: {{type: no_slip, directions: [rolling], {FRAMES}}}",
        "constraints.k.directions",
        "cannot roll",
        "radius",
    ),
    "normal without direction": (
        f"k: {{type: no_slip, normal: [0, 0, 0], {FRAMES}}}",
        "constraints.k.normal",
        "length 0",
        "[0, 1, 0]",
    ),
    "unknown direction": (
        f"k: {{type: no_slip, directions: [forwards], {FRAMES}}}",
        "constraints.k.directions[0]",
        '"forwards"',
        "sideways",
    ),
    "negative radius": (
        f"k: {{type: no_slip, radius: -0.1, {FRAMES}}}",
        "constraints.k.radius",
        "-0.1",
        "at least 0",
    ),
    "velocity without axes": (
        f"k: {{type: frame_velocity, {FRAMES}}}",
        "constraints.k",
        '"axes" is missing',
        "axes: [x, z]",
    ),
    "velocity in other axes": (
        f"k: {{type: frame_velocity, axes: [x], expressed_in: world, {FRAMES}}}",
        "constraints.k.expressed_in",
        '"world"',
        "parent, child",
    ),
    "centre of mass that turns": (
        "k: {type: center_of_mass, axes: [rz]}",
        "constraints.k.axes[0]",
        '"rz"',
        'did you mean "z"',
    ),
    "unknown link": (
        "k: {type: center_of_mass, axes: [x], links: [arn]}",
        "constraints.k.links",
        '"arn"',
        'did you mean "arm"',
    ),
    "no mass": (
        "k: {type: center_of_mass, axes: [x], links: [along]}",
        "constraints.k.links",
        "no mass",
        "name links",
    ),
    "relative to the world": (
        f"k: {{type: relative_frame, axes: [x], {FRAMES}}}",
        "constraints.k.parent.link",
        '"world" is fixed',
        "use type frame",
    ),
    "the world does not move either": (
        "k: {type: relative_frame, axes: [x], parent: {link: cart}, child: {link: worlds}}",
        "constraints.k.child.link",
        'no link "worlds"',
        'did you mean "world"',
    ),
    "polynomial of too many rows": (
        "k: {type: joint, joint: yaw, reference: {type: polynomial, coefficients: [[1], [2]]}}",
        "constraints.k.reference.coefficients",
        "2 lists for 1 row",
        "give 1",
    ),
    "times that go back": (
        f"k: {{{SPLINE}, times: [0, 2, 1], values: [0, 1, 2]}}}}",
        "constraints.k.reference.times",
        "1 s follows 2 s",
        "must increase",
    ),
    "values that are missing": (
        f"k: {{{SPLINE}, times: [0, 2, 3], values: [0, 1]}}}}",
        "constraints.k.reference.values",
        "2 values for 3 times",
        "one per time",
    ),
    "waypoint of the wrong size": (
        f"k: {{{SPLINE}, times: [0, 2], values: [0, [1, 2]]}}}}",
        "constraints.k.reference.values[1]",
        "2 numbers for 1 row",
        "give 1",
    ),
    "degree": (
        f"k: {{{SPLINE}, times: [0, 2], values: [0, 1], degree: 4}}}}",
        "constraints.k.reference.degree",
        "4",
        "3, 5",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_told_with_their_place(case):
    line, place, problem, remedy = WRONG[case]
    with pytest.raises(InputError) as caught:
        mechanism(CART, f"constraints:\n  {line}\n")
    assert caught.value.place == place
    assert problem in str(caught.value)
    assert remedy in str(caught.value)


def test_the_same_kinds_are_tasks():
    """Declared as tasks they have the same rows, against the same references."""
    text = """tasks:
  arm: {type: center_of_mass, axes: [x], links: [arm]}
  between: {type: relative_frame, axes: [rz], parent: {link: wheel}, child: {link: arm}}
  drive: {type: frame_velocity, axes: [x], expressed_in: child, parent: {link: world},
    child: {link: cart}, reference: {type: polynomial, coefficients: [0.1, 0.2]}}
"""
    machine = mechanism(CART)
    tasks = Tasks(TasksSpec.from_text(f"schema: 1\n{text}"), machine)
    as_structure = mechanism(CART, text.replace("tasks:", "constraints:"))
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-1, 1, 5), rng.standard_normal(5)
    workspace = tasks.model.workspace()
    workspace.update(q, v)
    rows = tasks.evaluate(workspace, q, v, 0.7)
    other = rows_at(as_structure, q, v, 0.7)
    for one, two in zip(rows, other, strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)
    assert MechanismSpec.from_text(f"schema: 1\n{text.replace('tasks', 'constraints')}")
