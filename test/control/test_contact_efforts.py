# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inverse dynamics with contacts: statics of blocks, tables and grips in closed form."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from support.mechanism_builder import joint, link, mechanism
from support.repository import ROOT

from uk_dynamics import Mechanism, forward_dynamics, inverse_dynamics, simulate, standing
from uk_dynamics.core.contact import Mode
from uk_dynamics.exceptions import InputError, StateError
from uk_dynamics.mechanism.resolution.state import State

G = 9.81
# Clarabel solves to 1e-10 of the forces, and to about the root of it where a cone is just reached
SOLVED = 1e-6
TABLE = """
model: {root: floating, gravity: [%r, %r, %r]}
contacts:
  leg:
    parent: {link: world}
    child: {link: table, xyz: [0, 0, -0.3]}
    points: {a: [-0.5, -0.4, 0], b: [-0.5, 0.4, 0], c: [0.5, -0.4, 0], d: [0.5, 0.4, 0]}
    friction: 0.5
"""


def table(slope: float, around: float = 0.0) -> tuple[Mechanism, State]:
    """A table on four legs, on ground that slopes by an angle in a direction, (rad)."""
    down = np.sin(slope) * np.array([np.cos(around), np.sin(around)])
    gravity = (*(G * down).tolist(), float(-G * np.cos(slope)))
    found = mechanism(link("table", 4.0, 0.1), TABLE % gravity)
    return found, found.state([0, 0, 0.3, 0, 0, 0, 1], [0.0] * 6)


def test_a_table_on_four_legs_has_the_split_of_least_norm():
    """One force too many, and ten of friction: normal forces by the pseudoinverse of statics."""
    machine, state = table(0.1)
    found = inverse_dynamics(machine, state, [0.0] * 6)
    forces = np.array([one.force for one in found.contacts.values()])
    assert found.possible
    assert not any(one.unique for one in found.contacts.values())
    places = np.array([[x, y, -0.3] for x in (-0.5, 0.5) for y in (-0.4, 0.4)])
    axes = np.eye(3)[[2, 0, 1]]
    columns = [np.append(d, np.cross(p, d)) for p in places for d in axes]
    weight = 4.0 * np.append(machine.model.gravity, np.zeros(3))
    least = np.linalg.pinv(np.array(columns).T) @ -weight
    np.testing.assert_allclose(forces.ravel(), least, rtol=0, atol=SOLVED)
    np.testing.assert_allclose(forces.sum(axis=0)[0], 4.0 * G * np.cos(0.1), rtol=0, atol=SOLVED)


@pytest.mark.parametrize(("part", "name"), [("t", "time"), ("q", "root"), ("v", "root")])
def test_states_that_are_not_finite_do_not_stand(part, name):
    machine, state = table(0.1)
    bad = {"t": state.t, "q": state.q.copy(), "v": state.v.copy()}
    if part == "t":
        bad["t"] = np.nan
    else:
        bad[part][0] = np.nan
    with pytest.raises(StateError, match=name):
        standing(machine, State(**bad))


@pytest.mark.parametrize("around", [0.0, 0.3, 2.0])
def test_a_block_sticks_up_to_the_slope_of_its_friction(around):
    steepest = np.arctan(0.5)
    for slope, holds in ((steepest - 1e-5, True), (steepest + 1e-5, False)):
        machine, state = table(slope, around)
        found = inverse_dynamics(machine, state, [0.0] * 6)
        assert found.possible is holds
        assert all(one.slip_margin < 1e-3 for one in found.contacts.values())
    assert set(found.overtaxed.values()) == {"hold more than its friction"}
    # what is missing is what slides: g (sin α − μ cos α), or more: friction may press as it slides
    along = np.array([found.missing.get(n, 0.0) for n in machine.model.velocity_names[:2]])
    assert along @ [np.cos(around), np.sin(around)] < 0.0


def test_forces_cause_the_motion_and_stay_in_their_cones():
    machine, state = table(0.2, 0.4)
    qdd = np.array([0.3, -0.2, 0.0, 0.0, 0.0, 0.5])  # slides and turns: all friction is known
    found = inverse_dynamics(machine, state, qdd)
    for one in found.contacts.values():
        assert np.hypot(*one.force[1:]) == pytest.approx(0.5 * one.force[0], abs=SOLVED)
    lifted = inverse_dynamics(machine, state, [0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    assert all(one.mode is Mode.OPEN for one in lifted.contacts.values())
    with pytest.raises(StateError, match=r"leg\.a: the accelerations take it into its surface"):
        inverse_dynamics(machine, state, [0.0, 0.0, -0.1, 0.0, 0.0, 0.0])


def test_a_box_tips_at_the_angle_of_its_corner_and_slips_at_that_of_its_friction():
    """Width over twice the height of the centre; about the nearest edge."""
    machine, state = table(0.0)
    found = standing(machine, state)
    assert found.stands
    assert found.friction_needed == 0.0
    assert found.tips_at == pytest.approx(np.arctan(0.4 / 0.3), abs=1e-9)
    assert set(found.tips_over) in ({"leg.a", "leg.c"}, {"leg.b", "leg.d"})
    machine, state = table(0.3, 0.0)
    found = standing(machine, state)
    assert found.friction_needed == pytest.approx(np.tan(0.3) / 0.5, abs=1e-5)
    # forces from where gravity goes through the ground to the nearest edge: sideways still 0.4 m,
    # and 0.5 m less the shift down the slope; horizontal is across the gravity that there is
    down = np.tan(np.arctan2(0.5, 0.3) - 0.3)
    sideways = 0.4 / (0.3 * np.cos(0.3) + 0.3 * np.tan(0.3) * np.sin(0.3))
    assert found.tips_at == pytest.approx(np.arctan(min(down, sideways)), abs=1e-9)
    steep = standing(*table(np.arctan(0.5) + 0.1))
    assert not steep.stands
    assert steep.friction_needed > 1.0


def test_three_legs_tip_over_the_nearest_side():
    """The distance from the centre to the nearest side of the triangle, none of them an axis."""
    feet = np.array([[0.3, 0.1], [-0.2, 0.35], [-0.25, -0.3]])
    points = {f"p{i}": [float(x), float(y), 0.0] for i, (x, y) in enumerate(feet)}
    contact = {
        "parent": {"link": "world"},
        "child": {"link": "stool", "xyz": [0, 0, -0.4]},
        "points": points,
        "friction": 1.0,
    }
    text = yaml.safe_dump({"model": {"root": "floating"}, "contacts": {"leg": contact}})
    machine = mechanism(link("stool", 3.0, 0.1), text)
    found = standing(machine, machine.state([0, 0, 0.4, 0, 0, 0, 1], [0.0] * 6))
    sides = [
        abs(np.linalg.det([b - a, -a])) / np.linalg.norm(b - a)
        for a, b in zip(feet, np.roll(feet, -1, axis=0), strict=True)
    ]
    assert found.tips_at == pytest.approx(np.arctan(min(sides) / 0.4), abs=1e-9)
    assert len(found.tips_over) == 2


GRIP = """
model: {gravity: [0, 0, -9.81]}
actuators:
  left: {joint: left, effort_limit: %r}
  right: {joint: right, effort_limit: %r}
contacts:
  pad_left: {parent: {link: left_pad, rpy: [0, 1.5707963267948966, 0]},
             child: {link: block, xyz: [-0.05, 0, 0]}, friction: 0.4}
  pad_right: {parent: {link: right_pad, rpy: [0, -1.5707963267948966, 0]},
              child: {link: block, xyz: [0.05, 0, 0]}, friction: 0.4}
"""


def grip(limit: float = 50.0, stiction: float = 0.0) -> Mechanism:
    """Two pads on slides that hold a block of 2 kg, which can move up and down."""
    robot = link("base") + link("left_pad", 0.1, 0.01) + link("right_pad", 0.1, 0.01)
    robot += link("block", 2.0, 0.01)
    for name, child, xyz, axis in (
        ("left", "left_pad", "-0.05 0 0", "1 0 0"),
        ("right", "right_pad", "0.05 0 0", "-1 0 0"),
        ("lift", "block", "0 0 0", "0 0 1"),
    ):
        robot += joint(name, "base", child, kind="prismatic", xyz=xyz, axis=axis)
    joints = f"joints: {{lift: {{stiction: {stiction}}}}}\n" if stiction else ""
    return mechanism(robot, GRIP % (limit, limit) + joints)


def test_a_grip_squeezes_as_much_as_friction_needs():
    """2 μ N = m g: the least efforts are those at which the block is about to slip."""
    machine = grip()
    state = machine.start()
    for part in (1.0, 0.5):
        found = inverse_dynamics(machine, state, [0.0] * 3, friction_part=part)
        assert found.possible
        np.testing.assert_allclose(found.efforts, 2.0 * G / (0.8 * part), rtol=0, atol=1e-4)
        assert found.contacts["pad_left"].slip_margin == pytest.approx(1.0 - part, abs=1e-5)
    # where the block moves up along pads that stay, friction is against it, and nothing lifts it
    sliding = inverse_dynamics(machine, state, {"lift": 3.0, "left": 0.0, "right": 0.0})
    assert sliding.missing == pytest.approx({"lift": 3.0 + G}, abs=1e-6)

    # where the block moves up along pads that stay, friction is against it, and nothing lifts it
    sliding = inverse_dynamics(machine, state, {"lift": 3.0, "left": 0.0, "right": 0.0})
    assert sliding.missing == pytest.approx({"lift": 3.0 + G}, abs=1e-6)


@pytest.mark.parametrize("part", [-0.5, np.nan, np.inf, "a", None])
def test_a_part_of_friction_that_is_none_is_refused(part):
    machine = grip()
    with pytest.raises(InputError, match=r"^friction_part: expected a finite number >= 0, found "):
        inverse_dynamics(machine, machine.start(), [0.0] * 3, friction_part=part)


def test_a_motor_that_is_too_weak_for_the_grip_is_named():
    found = inverse_dynamics(grip(20.0), grip(20.0).start(), [0.0] * 3)
    assert found.beyond_limits == ("left", "right")
    assert not found.possible
    assert not found.missing
    # one joint that sticks relieves them: μ (N + N) = m g − 6 N
    machine = grip(20.0, 6.0)
    found = inverse_dynamics(machine, machine.start(), [0.0] * 3)
    assert found.possible
    np.testing.assert_allclose(found.efforts, (2.0 * G - 6.0) / 0.8, rtol=0, atol=1e-4)


@pytest.mark.slow
def test_a_leg_with_loops_stands_by_its_efforts():
    """The efforts of a walking machine on four feet hold it in the forward dynamics as well."""
    machine = Mechanism.from_file(ROOT / "examples" / "plantigrade" / "plantigrade.yaml")
    trajectory = simulate(machine, machine.start(), 0.3, method="moreau")
    state = State(0.0, trajectory.q[-1], 0.0 * trajectory.v[-1])
    found = inverse_dynamics(machine, state, 0.0 * state.v)
    assert found.possible
    normal = sum(one.force[0] for one in found.contacts.values())
    weight = G * 4.4
    assert normal == pytest.approx(weight, abs=1e-5 * weight)
    tau = machine.actuators.matrix @ found.efforts
    there = forward_dynamics(machine, state, tau)
    # m/s² and rad/s²; the feet are closed to 1e-9 m, and efforts are those of Clarabel
    np.testing.assert_allclose(there.qdd, 0.0, rtol=0, atol=1e-3)
