# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closing loops: from guesses, with held joints, within limits, and what is said when it fails."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support.mechanism_builder import arm, joint, link, mechanism, shipped

from uk_dynamics.exceptions import AssemblyError, InputError, StateError, UnknownNameError
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import shipped_files

# Loops are closed to rounding: lengths of some metres times 1e-16, a few times.
CLOSED = 1e-13
# Angles follow from closed loops up to their lever arms, here at least a tenth of a metre.
ANGLE = 1e-11


def tip_at(target: str, lengths=(1.0, 1.0), limits=None, more: str = "") -> Mechanism:
    """An arm whose tip is pinned to a point of the base."""
    text = f"""
constraints:
  tip_pin:
    type: frame
    axes: [x, z]
    parent: {{link: base, xyz: {target}}}
    child: {{link: l{len(lengths)}, xyz: [{lengths[-1]}, 0, 0]}}
{more}"""
    return mechanism(arm(lengths, limits), text)


def wrapped(angles):
    return (np.asarray(angles) + np.pi) % (2.0 * np.pi) - np.pi


# --- from a guess -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped_files("mechanism"))
def test_closes_near_a_perturbed_guess(name):
    machine = shipped(name)
    model = machine.model
    start = machine.assemble()
    spread = 0.1 if name == "stewart_platform" else 0.4  # rad and m: its slides have 0.4 m
    rng = np.random.default_rng(1)
    for _ in range(15):
        guess = model.integrate(start, rng.uniform(-spread, spread, model.nv))
        assembly = machine.assembly(guess)
        assert assembly.closed
        assert assembly.reason == ""
        assert max(assembly.violations.values(), default=0.0) <= CLOSED
        assert assembly.limit_violations == ()
        # A closed configuration is |start - guess| away; one found much further off would be
        # another assembly mode, or the singular one that redundant rows lead to.
        moved = np.linalg.norm(model.difference(guess, assembly.q))
        assert moved <= 1.5 * np.linalg.norm(model.difference(start, guess))


def test_a_closed_guess_stays_where_it_is():
    machine = shipped("dual_panda")
    q = machine.assemble()
    np.testing.assert_allclose(machine.assemble(q), q, rtol=0, atol=1e-12)


def test_without_constraints_the_guess_is_the_answer():
    machine = mechanism(arm([1.0]))
    assert machine.assemble(j1=0.3) == pytest.approx([0.3], abs=0.0)
    assert machine.assembly().violations == {}


# --- held joints: the passive ones follow from the measured ones ---------------------------------


@given(crank=st.floats(-np.pi, np.pi))
@settings(max_examples=25)
def test_four_bar_follows_its_crank(crank):
    machine = shipped("four_bar")
    q = machine.assemble(crank=crank)
    angles = dict(zip(machine.model.position_names, q, strict=True))
    assert angles["crank"] == pytest.approx(crank, abs=1e-15)
    # Law of cosines in the triangle crank pin, rocker pivot, rocker pin; z is minus sin here.
    pin = 0.10 * np.array([np.cos(crank), np.sin(crank)])
    to_pin = pin - [0.40, 0.0]
    distance = np.hypot(*to_pin)
    inner = np.arccos((distance**2 + 0.25**2 - 0.35**2) / (2 * distance * 0.25))
    modes = np.arctan2(to_pin[1], to_pin[0]) + np.array([inner, -inner])
    errors = wrapped(angles["rocker"] - modes)
    assert np.min(np.abs(errors)) < ANGLE


@given(crank=st.floats(-3.0, 3.0).filter(lambda angle: abs(angle) > 0.05))
@settings(max_examples=25)
def test_parallelogram_follows_its_crank(crank):
    """All legs parallel, also where the crank is led past the flat configuration to get there."""
    q = shipped("five_bar").assemble(crank=crank)
    assert q[0] == pytest.approx(crank, abs=1e-15)
    np.testing.assert_allclose(wrapped(q - crank * np.array([1, -1, 1, 1])), 0.0, atol=1e-9)


@given(slider=st.floats(0.135, 0.225))
@settings(max_examples=25)
def test_slider_crank_follows_its_slider(slider):
    machine = shipped("slider_crank")
    q = machine.assemble(slider=slider)
    angles = dict(zip(machine.model.position_names, q, strict=True))
    assert angles["slider"] == slider
    crank = np.arccos((0.05**2 + slider**2 - 0.18**2) / (2 * 0.05 * slider))
    assert abs(angles["crank"]) == pytest.approx(crank, abs=ANGLE)
    expected = slider - 0.05 * np.cos(angles["crank"])
    assert 0.18 * np.cos(angles["crank"] + angles["rod"]) == pytest.approx(expected, abs=ANGLE)


def test_legs_of_the_stewart_platform_give_its_pose():
    machine = shipped("stewart_platform")
    model = machine.model
    rng = np.random.default_rng(3)
    slides = [name for name in machine.joint_names if name.endswith("_slide")]
    for _ in range(5):
        wanted = machine.assemble(model.integrate(machine.assemble(), rng.uniform(-0.08, 0.08, 24)))
        by_name = model.positions_by_name(wanted)
        q = machine.assemble(**{name: by_name[name] for name in slides})
        for name in slides:
            assert q[model.position_index(name)] == by_name[name]
        np.testing.assert_allclose(q, wanted, rtol=0, atol=1e-9)


def test_hold_keeps_joints_of_the_guess():
    machine = shipped("dual_panda")
    rng = np.random.default_rng(5)
    guess = machine.assemble() + rng.uniform(-0.1, 0.1, 14)
    held = [name for name in machine.joint_names if name.startswith("left")]
    q = machine.assemble(guess, hold=held)
    for name in held:
        index = machine.model.position_index(name)
        assert q[index] == guess[index]


def test_a_held_joint_may_not_be_the_one_that_had_to_move():
    machine = tip_at("[1.2, 0, 0]")
    assembly = machine.assembly({"j1": 0.4, "j2": 0.1}, hold=["j1", "j2"])
    assert not assembly.closed
    np.testing.assert_allclose(assembly.q, [0.4, 0.1], rtol=0, atol=0.0)


def test_a_floating_joint_is_held_as_a_whole():
    parts = link("body") + link("foot") + joint("ankle", "body", "foot", xyz="0 0 -1")
    text = """
model: {root: floating}
constraints:
  plumb: {type: frame, axes: [x], parent: {link: body}, child: {link: foot, xyz: [0, 0, -1]}}
"""
    machine = mechanism(parts, text)
    start = machine.configuration({"root.x": 0.3, "root.z": 2.0, "ankle": 0.4})
    for hold in (["root"], ["root.x"], [f"root.{c}" for c in ("vx", "vy", "vz", "wx", "wy", "wz")]):
        q = machine.assemble(start, hold=hold)
        np.testing.assert_allclose(q[:7], start[:7], rtol=0, atol=0.0)
        assert q[7] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "arguments", [{"hold": ["krank"]}, {"krank": 1.0}, {"guess": {"krank": 1.0}}]
)
def test_unknown_joint(arguments):
    with pytest.raises(UnknownNameError, match='did you mean "crank"'):
        shipped("four_bar").assemble(**arguments)


@pytest.mark.parametrize("value", [np.nan, np.inf, "one"])
def test_a_coordinate_must_be_a_finite_number(value):
    with pytest.raises(StateError, match="crank"):
        shipped("four_bar").assemble(crank=value)


# --- loops that do not close ---------------------------------------------------------------------


@pytest.mark.parametrize("distance", [2.5, 7.0])
def test_out_of_reach(distance):
    machine = tip_at(f"[{distance}, 0, 0]")
    with pytest.raises(AssemblyError, match="tip_pin by") as caught:
        machine.assemble(j1=0.2, hold=())
    # The arm of 2 m stretches towards the point; what is left is the gap.
    gap = caught.value.violations["tip_pin"]
    assert gap == pytest.approx(distance - 2.0, abs=1e-6)
    assert set(caught.value.configuration) == {"j1", "j2"}
    assert f"{gap:.3g}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("error")
def test_rows_that_overflow_do_not_close():
    data = yaml.safe_load(shipped_files("mechanism")["spiral_particle"].read_text())
    data["constraints"]["drive"]["expression"] = "theta + t - 1e308"
    with pytest.raises(AssemblyError, match="drive by 1e"):
        Mechanism.from_data(data).assemble()


def test_only_the_constraint_that_is_out_of_reach_is_named():
    more = """
  side_pin:
    type: frame
    axes: [y]
    parent: {link: base, xyz: [0, 0.2, 0]}
    child: {link: l1}
"""
    with pytest.raises(AssemblyError) as caught:
        tip_at("[1.2, 0, 0.3]", more=more).assemble(j1=0.3, j2=0.5, hold=())
    # The tip reaches its place in the plane; nothing moves along y.
    assert "(side_pin by 0.2, in m or rad)" in str(caught.value)
    assert caught.value.violations["tip_pin"] < 1e-10
    assert caught.value.violations["side_pin"] == pytest.approx(0.2, abs=1e-12)


def test_contradicting_distances():
    text = """
constraints:
  near: {type: distance, distance: 0.5, parent: {link: base}, child: {link: l2, xyz: [1, 0, 0]}}
  far: {type: distance, distance: 1.5, parent: {link: base}, child: {link: l2, xyz: [1, 0, 0]}}
"""
    with pytest.raises(AssemblyError, match=r"(near|far) by 0\.5.*(near|far) by 0\.5"):
        mechanism(arm([1.0, 1.0]), text).assemble(j2=1.0, hold=())


# --- limits --------------------------------------------------------------------------------------


@given(guess=st.tuples(*[st.floats(-3.0, 3.0)] * 3))
@settings(max_examples=40)
def test_joints_stay_within_their_limits(guess):
    """The elbow of the shortest way lies outside; the redundant arm finds another one."""
    limits = [(-2.0, 2.0), (-0.3, 0.3), (-2.0, 2.0)]
    machine = tip_at("[1.6, 0, 1.4]", (1.0, 1.0, 1.0), limits)
    assembly = machine.assembly(dict(zip(("j1", "j2", "j3"), guess, strict=True)))
    assert assembly.limit_violations == ()
    if not assembly.closed:  # far from the target the search may end at a limit; it has to say so
        assert assembly.reason
        assert max(assembly.violations.values()) > 1e-10


def test_an_active_limit_is_where_the_joint_ends():
    limits = [None, (-0.3, 0.3), None]
    machine = tip_at("[1.2, 0, 0.9]", (1.0, 1.0, 1.0), limits)
    q = machine.assemble({"j1": -1.0, "j2": 0.9, "j3": 1.2})
    assert -0.3 <= q[1] <= 0.3


def test_a_loop_that_closes_only_outside_the_limits():
    # Two links of 1 m reach 1.2 m with the elbow at ±1.85 rad only.
    machine = tip_at("[1.2, 0, 0]", limits=[(-2.0, 2.0), (-1.0, 1.0)])
    with pytest.raises(AssemblyError, match="closes only outside the joint limits: j2 = "):
        machine.assemble({"j1": -0.5, "j2": 0.9})


def test_a_joint_held_outside_its_limits_is_refused():
    machine = tip_at("[1.2, 0, 0]", limits=[(-0.5, 0.5), (-2.0, 2.0)])
    elbow = 2.0 * np.arccos(0.6)
    guess = {"j1": -elbow / 2, "j2": elbow}
    (violation,) = machine.assembly(guess, hold=["j1"]).limit_violations
    assert violation.joint == "j1"
    with pytest.raises(InputError, match=r"j1 = -0.927295 is outside \[-0.5, 0.5\]"):
        machine.assemble(guess, hold=["j1"])


# --- closed the wrong way round ------------------------------------------------------------------


def hinge_loop(turn: str = "0") -> Mechanism:
    """A body on two crossed hinges closed by a third: it can arrive with its axis reversed."""
    parts = link("base") + link("mid") + link("end")
    parts += joint("roll", "base", "mid", axis="1 0 0") + joint("yaw", "mid", "end", axis="0 0 1")
    text = f"""
constraints:
  pin:
    type: hinge
    axis: [0, 0, 1]
    parent: {{link: base}}
    child: {{link: end, rpy: [{turn}, 0, 0]}}
"""
    return mechanism(parts, text)


def test_a_hinge_closed_with_its_axis_reversed_is_refused():
    machine = hinge_loop()
    assert machine.assemble(roll=0.4, hold=())[0] == pytest.approx(0.0, abs=1e-12)
    other = machine.assemble(roll=2.8, hold=())[0]  # from another start
    assert np.cos(other) == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(AssemblyError, match="axes of pin point against each other") as caught:
        machine.assemble(roll=np.pi)
    assert caught.value.violations["pin"] == pytest.approx(np.pi)


def test_the_remedy_of_a_reversed_hinge_works():
    turned = hinge_loop(turn="3.141592653589793")
    assert turned.assemble(roll=2.8, hold=())[0] == pytest.approx(np.pi, abs=1e-12)
