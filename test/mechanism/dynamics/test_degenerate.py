# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows that repeat or contradict each other, and masses that are very different or zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import forms
from support.mechanism_builder import (
    SLOT,
    arm,
    cases,
    closed_states,
    joint,
    link,
    massless,
    mechanism,
    near,
    pinned_arm,
    shipped,
)

from uk_dynamics.constraints.kinds.pairs.hinge import Hinge
from uk_dynamics.core.equation.solution import (
    FOR_SINGULAR_MASS,
    WHITENING,
    WITH_PSEUDOINVERSE,
    Status,
)
from uk_dynamics.exceptions import InputError, UndeterminedMotionError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import shipped_files

METHODS = ("auto", *forms.METHODS)


# --- rows that contradict or repeat each other ---------------------------------------------------

TWICE = """
  {name}:
    type: distance
    distance: {distance}
    parent: {{link: base, xyz: [0.3, 0, 0]}}
    child: {{link: l2, xyz: [1, 0, 0]}}
"""


@pytest.mark.parametrize("method", METHODS)
def test_contradicting_rows_are_named(method):
    machine = pinned_arm(
        TWICE.format(name="short", distance=0.9) + TWICE.format(name="long", distance=1.1),
        more=f"solver: {{method: {method}}}",
    )
    solution = machine.dynamics().evaluate(machine.state([0.3, 0.8]))
    assert solution.status is Status.INCONSISTENT
    assert solution.rank == 1
    offending = [machine.row_names[row] for row in solution.offending]
    assert np.all(np.isfinite(solution.qdd))
    assert abs(solution.residual[1]) > 1.0
    if method in WITH_PSEUDOINVERSE:  # no row is preferred: both miss by the same
        assert offending == ["short.distance", "long.distance"]
        # but for what decides ties between rows, 1e-6 of them
        assert solution.residual[0] == pytest.approx(-solution.residual[1], rel=1e-5)
    else:
        assert offending == ["long.distance"]
        assert abs(solution.residual[0]) < 1e-9  # the row that was taken holds


@pytest.mark.parametrize("method", METHODS)
def test_nearly_dependent_rows_are_told_from_contradicting_ones(method):
    tilted = """
  {name}:
    type: frame
    axes: [x]
    parent: {{link: base, xyz: [1.2, 0, 0], rpy: [0, {tilt}, 0]}}
    child: {{link: l2, xyz: [1, 0, 0]}}
"""
    machine = pinned_arm(
        tilted.format(name="plain", tilt=0.0) + tilted.format(name="tilted", tilt=2e-5),
        more=f"solver: {{method: {method}}}",
    )
    solution = machine.dynamics().evaluate(machine.state([0.3, 0.8]))
    assert solution.rank == 1
    assert solution.status is Status.NEAR_SINGULAR
    offending = [machine.row_names[row] for row in solution.offending]
    assert offending == (["plain.x"] if method in WITH_PSEUDOINVERSE else []) + ["tilted.x"]


def test_redundant_constraints_change_nothing_but_the_flags():
    """The pin of the four-bar once as it is, once with the five rows of a hinge, once twice."""
    machine = shipped("four_bar")
    spec = machine.spec
    (pin_spec,) = spec.constraints
    hinge = replace(pin_spec, kind=Hinge(axis=(0.0, 1.0, 0.0)))
    again = replace(pin_spec, name="again")
    for constraints, rows in (((hinge,), 5), ((pin_spec, again), 4)):
        other = Mechanism(
            type(spec)(**{**vars(spec), "constraints": constraints}), machine.model.description
        )
        for state, inputs, _ in cases(machine, 5):
            one = machine.dynamics().evaluate(state, inputs)
            two = other.dynamics().evaluate(state, inputs)
            assert len(other.row_names) == rows
            assert two.rank == one.rank == 2
            assert two.status is Status.OK
            near(two.qdd, one.qdd)
            near(two.constraint_force, one.constraint_force)
            assert np.all(one.determined)
            if rows == 4:
                assert not np.any(two.determined)
                near(two.multipliers, np.tile(one.multipliers / 2.0, 2))
            else:  # rows across the plane are zero: their multiplier may be anything, least is 0
                flags = dict(zip(other.row_names, two.determined, strict=True))
                assert flags["rocker_pin.x"]
                assert flags["rocker_pin.z"]
                assert not flags["rocker_pin.y"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("offset", [0.0, 0.1])
def test_frames_on_one_body_make_zero_rows(method, offset):
    """Two links that a fixed joint makes one body: a weld between them is met or never."""
    parts = arm([1.0, 1.0]) + link("tool", com="0.1 0 0")
    parts += joint("mount", "l2", "tool", kind="fixed", xyz="1 0 0")
    machine = mechanism(
        parts,
        f"""
constraints:
  grip: {{type: weld, parent: {{link: l2, xyz: [1, 0, {offset}]}}, child: {{link: tool}}}}
solver: {{method: {method}}}
""",
    )
    plain = mechanism(parts)
    state = machine.state([0.3, 0.8], [0.5, -2.0])
    solution = machine.dynamics().evaluate(state)
    assert solution.rank == 0
    near(solution.qdd, plain.dynamics().evaluate(state).qdd)
    if offset:
        assert solution.status is Status.INCONSISTENT
        assert [machine.row_names[row] for row in solution.offending] == ["grip.z"]
    else:
        assert solution.status is Status.OK


# --- masses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_heavy_and_light_in_one_mechanism(method):
    """One row on 1000 kg, one between two bodies of 0.1 g: row norms differ by 4500, both hold."""
    parts = link("base")
    for name, mass in (("heavy", 1000.0), ("feather", 1e-4), ("flake", 1e-4)):
        parts += link(name, mass, inertia=mass * 0.01)
        parts += joint(f"{name}_z", "base", name, kind="prismatic", axis="0 0 1")
    machine = mechanism(
        parts,
        f"""
constraints:
  rest: {{type: frame, axes: [z], parent: {{link: base}}, child: {{link: heavy}}}}
  stick: {{type: frame, axes: [z], parent: {{link: feather}}, child: {{link: flake}}}}
solver: {{method: {method}}}
""",
    )
    tau = {"feather_z": 3e-4}
    solution = machine.dynamics().evaluate(machine.state(), machine.inputs(tau))
    assert solution.rank == 2
    assert solution.status is Status.OK
    together = -9.81 + 3e-4 / 2e-4
    assert solution.qdd == pytest.approx([0.0, together, together], abs=1e-9)
    forces = solution.constraint_force
    assert forces == pytest.approx([9810.0, -1.5e-4, 1.5e-4], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", *forms.METHODS])
def test_rows_out_of_the_plane_are_rounding_where_a_part_is_turned_round(method):
    """A weld in a plane: three of its rows vanish but for the sine of π, which is not zero."""
    text = shipped_files("mechanism")["coordinated_robots"].read_text()
    weld = text.replace("    type: frame\n    axes: [x, z, ry]\n", "    type: weld\n")
    assert "weld\n" in weld
    planar, whole = (
        Mechanism.from_spec(MechanismSpec.from_text(f"{each}solver: {{method: {method}}}\n"))
        for each in (text, weld)
    )
    assert 0.0 < np.abs(whole.terms(whole.start()).A).max(axis=1).min() < 1e-15
    rng = np.random.default_rng(0)
    for state in closed_states(planar, rng, 5, excursion=1):
        solution = whole.dynamics().evaluate(state)
        assert solution.rank == 3
        assert solution.status is Status.OK
        near(solution.qdd, planar.dynamics().evaluate(state).qdd)


@pytest.mark.parametrize("method", ["auto", *FOR_SINGULAR_MASS])
def test_a_massless_link_in_a_loop_is_determined(method):
    machine = massless(f"{SLOT.format(name='slot')}solver: {{method: {method}}}")
    q = machine.assemble({"j1": 0.4, "j2": -1.0}, hold=["j1"])
    # From open loops, where the massless link needs its only row all the same.
    state = machine.dynamics().project(machine.state([q[0], q[1] + 0.2], [1.5, 0.0]))
    assert state.q == pytest.approx(q, abs=1e-9)  # the pendulum's mass keeps it where it was
    solution = machine.dynamics().evaluate(state)
    # The massless link carries no force: the pendulum swings freely, j2 follows from the slot.
    expected = 9.81 * 0.5 * np.cos(q[0]) / (0.1 + 0.25)
    assert solution.qdd[0] == pytest.approx(expected, abs=1e-9)
    assert solution.constraint_force == pytest.approx(np.zeros(2), abs=1e-9)
    assert abs((machine.terms(state).A @ solution.qdd - machine.terms(state).b)[0]) < 1e-9


@pytest.mark.parametrize("method", sorted(WHITENING - {"auto"}))
def test_a_massless_link_needs_a_form_without_inverse_of_the_mass(method):
    machine = massless(f"{SLOT.format(name='slot')}solver: {{method: {method}}}")
    with pytest.raises(InputError, match='method "auto" or "nullspace"') as caught:
        machine.dynamics().evaluate(machine.state())
    assert caught.value.place == "solver.method"


def test_an_open_massless_link_is_an_error_that_names_its_joint():
    machine = massless()
    with pytest.raises(UndeterminedMotionError, match="j2 can accelerate") as caught:
        machine.dynamics().evaluate(machine.state())
    assert caught.value.directions == ("j2",)
    # The terms of the equation exist all the same.
    assert machine.terms(machine.state()).M[1, 1] == 0.0


@pytest.mark.parametrize(
    "constraints",
    ["", "constraints: {pin: {type: point, parent: {link: base}, child: {link: lid}}}"],
)
def test_a_robot_without_joints_has_an_acceleration_of_no_entries(constraints):
    parts = link("base") + link("lid") + joint("glue", "base", "lid", kind="fixed")
    still = mechanism(parts, constraints)
    dynamics = still.dynamics("interpreted")
    state = still.state(still.assemble())
    solution = dynamics.evaluate(state)
    assert (solution.qdd.shape, solution.rank, solution.status) == ((0,), 0, Status.OK)
    assert dynamics.acceleration(state.q, state.v).shape == (0,)


def test_an_evaluation_depends_on_no_evaluation_before():
    machine = shipped("five_bar")
    legs = {"crank": 0.0, "coupler": 0.0, "middle": 0.0, "right": 0.0}
    flat = machine.state(legs)  # all bars on one line: one row less than elsewhere
    veteran = machine.dynamics("interpreted")
    for state, inputs, _ in cases(machine, 5):
        kept = veteran.evaluate(state, inputs)
        assert veteran.evaluate(flat).rank == 2
        again = veteran.evaluate(state, inputs)
        fresh = machine.dynamics("interpreted").evaluate(state, inputs)
        assert again.rank == fresh.rank == 3
        # Forces of the first solution are first read here, after other states: nothing moved.
        for name in ("qdd", "residual", "multipliers", "constraint_force", "determined"):
            np.testing.assert_array_equal(getattr(again, name), getattr(fresh, name))
            np.testing.assert_array_equal(getattr(kept, name), getattr(fresh, name))
