# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Ropes that end on drums: derivatives, loads that fall and are hoisted, ends that are reached."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.all_joints import URDF, rows_are_derivatives
from support.kind_samples import rows_on
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import Inputs, Mechanism, simulate
from uk_dynamics.checks.checklist import check
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.constraints.kinds.registry import kinds
from uk_dynamics.constraints.rows.constraint_set import ConstraintSet
from uk_dynamics.constraints.rows.row import Constraint
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.model.robot_model import RobotModel

G = 9.81
EXACT = {"rtol": 1e-12, "atol": 1e-13}
ALL_JOINTS = RobotModel.from_urdf(URDF)
MASS, INERTIA, R = 3.0, 0.02, 0.1  # of load and drum, kg, kg m², m
WINCH = (
    link("base")
    + link("drum", 1.0, INERTIA)
    + joint("winch", "base", "drum", axis="0 1 0")
    + link("load", MASS, 0.01)
)
DOWN = joint("z", "base", "load", kind="prismatic", axis="0 0 1", xyz="%r 0 0", limits=(-99, 99))
# seen from the front, x to the right and z up: it pays out where it turns clockwise
DRUM = f"{{link: drum, radius: {R}, axis: [0, -1, 0], side: %s, turns: %r}}"


def hoist(length: float, turns: float, more: str = "", one_sided: bool = True) -> Mechanism:
    """A load right below where the rope leaves a drum."""
    points = f"[{{link: load}}, {DRUM % ('left', turns)}]"
    rope = f"type: rope, length: {length!r}, points: {points}"
    rope += ", one_sided: at_most" * one_sided
    return mechanism(WINCH + DOWN % R, f"constraints:\n  rope: {{{rope}}}\n{more}")


def over_a_sheave(length: float, turns: float) -> Mechanism:
    """From a drum up and over a sheave on its right to a load that hangs there."""
    sheave = "{link: base, xyz: [1, 0, 1], radius: 0.05, axis: [0, 1, 0], side: left}"
    points = f"[{DRUM % ('right', turns)}, {sheave}, {{link: load}}]"
    rope = f"{{type: rope, length: {length!r}, one_sided: at_most, points: {points}}}"
    return mechanism(WINCH + DOWN % 1.05, f"constraints: {{rope: {rope}}}")


def excess(machine: Mechanism, *q: float) -> float:
    """How much longer the rope's way is than the rope."""
    workspace, place = machine.model.workspace(), np.array(q)
    workspace.update_positions(place)
    return float(machine.constraints.position(workspace, 0.0, place)[1][0])


@given(seed=st.integers(0, 2**32 - 1))
def test_rows_are_derivatives_of_the_length(seed: int) -> None:
    """A drum that turns with a link in any motion, at either end, with a pulley before it."""
    rng, model = np.random.default_rng(seed), ALL_JOINTS
    workspace = model.workspace()
    d, right = (workspace.rotation[model.frame_index(name)] for name in ("d", "right"))
    axis = rng.choice([-1.0, 1.0]) * np.array([1.0, 0.0, 0.0])
    sides = rng.choice(["left", "right"], 2).tolist()
    points = [
        {"link": "left", "xyz": rng.uniform(-0.5, 0.5, 3)},
        {"link": "d", "xyz": [0, 0.3, 0.5], "radius": 0.05, "side": sides[0]},
        {"link": "right", "radius": 0.04, "axis": axis, "side": sides[1], "turns": 0.3},
    ]
    points[1]["axis"] = -d.T @ right @ axis
    if rng.uniform() < 0.5:
        del points[1]
    rope = kinds()["rope"].from_data({"length": 1.0, "points": points[:: rng.choice([-1, 1])]})
    try:
        (row,) = rows_on(rope, model)
    except MechanismFileError as refused:
        assume("comes from inside of this drum" not in str(refused))
        raise
    rows = ConstraintSet((Constraint("k", "rope", (row,)),), model.ancestor_mask, model.nq, 0.5)
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
    q[model.position_index("j6")] = rng.uniform(-9.0, 9.0)
    v, a = rng.standard_normal((2, model.nv))

    workspace.update(q, v)
    way = row.way(workspace, q)
    assume(way.size[way.size > 0.0].min() > 0.1)
    assume(abs(way.arcs).min() > 1e-3)
    assume(rows_are_derivatives(rows, model, q, v, a))  # the length may jump by a turn


@pytest.mark.parametrize("build", [hoist, over_a_sheave])
@pytest.mark.parametrize("method", ["DOP853", "moreau"])
@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_a_load_on_a_drum_falls(build, method: str, backend: str) -> None:
    """It unwinds more than a turn: a = g/(1 + I/(m r²)), and the rope pulls with m (g − a)."""
    turns, start = 3.5, -1.0
    length = 1.0 + excess(build(1.0, turns), 0.0, start)
    free = 1.0
    if build is over_a_sheave:  # the tangent to both, down by its tilt, an arc, and straight down
        tilt = np.arcsin(0.05 / np.sqrt(2.0))
        free = np.sqrt(2.0 - 0.05**2) + 0.05 * (0.75 * np.pi - tilt) + 2.0
    assert length == pytest.approx(free + 2.0 * np.pi * R * turns, abs=1e-13)
    machine = build(length, turns)
    run = simulate(machine, machine.state([0.0, start]), 0.5, method=method, backend=backend)
    a = G / (1.0 + INERTIA / (MASS * R * R))
    fallen = 0.5 * a * 0.5**2
    np.testing.assert_allclose(run.q[-1], [fallen / R, start - fallen], rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.contact("rope").normal[1:-1], MASS * (G - a), rtol=0, atol=1e-8)
    energy = 0.5 * run.v**2 @ [INERTIA, MASS] + MASS * G * run.q[:, 1]
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-8)


def test_a_winch_hoists_by_its_radius_times_its_angle() -> None:
    """Four turns at constant speed."""
    speed, duration = -4.0, 2.0 * np.pi  # rad/s, s
    reference = f'{{type: expression, value: ["{speed}*t"]}}'
    drive = f"  drive: {{type: joint, joint: winch, reference: {reference}}}"
    machine = hoist(4.0 + 2.0 * np.pi * R, 1.0, drive, one_sided=False)
    state = machine.state([0.0, -4.0])
    state.v[:] = speed, -R * speed
    run = simulate(machine, state, duration, **EXACT)
    np.testing.assert_allclose(run.q[:, 1], -4.0 - R * speed * run.t, rtol=0, atol=1e-9)


def test_turns_are_counted_until_the_end_on_the_rim_pulls() -> None:
    """Down to the last of some turns, then straight from the load to the end on the rim."""
    turns, z = 2.3, -1.5
    machine = hoist(1.0, turns)
    for angle in np.linspace(-20.0, 2.0 * np.pi * turns, 40):
        wound = 2.0 * np.pi * turns - angle
        assert excess(machine, angle, z) == pytest.approx(-z + R * wound - 1.0, abs=1e-12)
    for further in (1e-3, 0.5, 2.0, 4.0, 9.0):
        rim = R * np.cos(further), -R * np.sin(further)
        straight = np.hypot(rim[0] - R, rim[1] - z)
        found = excess(machine, 2.0 * np.pi * turns + further, z)
        assert found == pytest.approx(straight - 1.0, abs=1e-12)


def swing(more: str = "") -> Mechanism:
    """A load that swings below a drum, on which there is a quarter of a turn."""
    joints = joint("x", "base", "along", kind="prismatic", axis="1 0 0", xyz="0 0 -1")
    joints += joint("z", "along", "load", kind="prismatic", axis="0 0 1") + link("along")
    points = f"[{{link: load}}, {DRUM % ('left', 0.25)}]"
    rope = f"{{type: rope, length: 1, points: {points}{more}}}"
    return mechanism(WINCH + joints, f"constraints: {{rope: {rope}}}")


@pytest.fixture(scope="module")
def swinging() -> Mechanism:
    return swing()


def test_steps_from_slack_over_taut_to_unwound_are_the_same_in_c() -> None:
    machine, ends = swing(", one_sided: at_most"), []
    for dynamics in (CompiledDynamics(machine), InterpretedDynamics(machine)):
        start = machine.state([-2.0, 0.4, 0.3])  # slack by a turn's third
        stepping, inputs = ContactStepping(machine), Inputs(stabilize=False)
        state, _ = stepping.advance(start, 1.0, 150, dynamics, inputs)
        ends.append(np.append(state.q, state.v))
    assert ends[0][0] > 0.5 * np.pi  # a quarter of a turn is off
    assert excess(machine, *ends[0][:3]) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-10)


def test_drums_are_the_same_in_c_wound_and_unwound(swinging: Mechanism) -> None:
    rng = np.random.default_rng(3)
    both = CompiledDynamics(swinging), InterpretedDynamics(swinging)
    (row,), workspace = swinging.constraints.constraints[0].rows, swinging.model.workspace()
    unwound = 0
    for _ in range(60):
        state = swinging.state(rng.uniform([-9.0, -0.6, -0.5], [9.0, 0.6, 0.5]))
        state.v[:] = rng.standard_normal(3)
        compiled, interpreted = (one.evaluate(state, Inputs()) for one in both)
        np.testing.assert_allclose(compiled.qdd, interpreted.qdd, rtol=1e-10, atol=1e-10)
        psi, other = (one.residual(state, Inputs()).position for one in both)
        np.testing.assert_allclose(psi, other, rtol=0, atol=1e-13)
        workspace.update(state.q, state.v)
        unwound += row.way(workspace, state.q).bent[-1] > 0.0
    assert 10 < unwound < 50


@pytest.mark.parametrize("angle", [-7.0, 2.5])
def test_derivatives_of_the_motion_are_its_differences(swinging: Mechanism, angle: float) -> None:
    """Wound by more than a turn, and pulled at the end on the rim."""
    state = swinging.state([angle, 0.2, -0.3])
    state.v[:] = 0.3, -0.5, 0.2
    found = swinging.derivatives(state, Inputs(stabilize=False)).acceleration
    dynamics, step = InterpretedDynamics(swinging), 1e-6
    for name in ("q", "v"):
        for k in range(3):
            ends = []
            for h in (step, -step):
                moved = swinging.state(state.q)
                moved.v[:] = state.v
                getattr(moved, name)[k] += h
                ends.append(dynamics.evaluate(moved, Inputs(stabilize=False)).qdd.copy())
            difference = (ends[0] - ends[1]) / (2.0 * step)
            np.testing.assert_allclose(getattr(found, name)[:, k], difference, rtol=0, atol=1e-6)


FIXED = "{link: base, radius: 0.1, side: left, turns: 1}"
TILTED, EDGE = FIXED.replace("base", "drum"), FIXED.replace("0.1", "0, lifts_off: true")


@pytest.mark.parametrize(
    ("points", "problem"),
    [
        (
            "[{link: load}, {link: drum, radius: 0.1, side: left}]",
            r"points\.1: .* or add turns",
        ),
        ("[{link: load}, {link: drum, turns: 1}]", "radius"),
        (f"[{{link: load}}, {DRUM % ('left', 1)}, {{link: base}}]", r"points\.1: take turns away"),
        (f"[{DRUM % ('left', 1)}, {DRUM % ('left', 1)}]", "points: between its two drums"),
        (f"[{{link: load}}, {FIXED}]", r"points\.1\.axis: no joint of its own"),
        (f"[{{link: load}}, {TILTED}]", "no joint of its own"),
        (f"[{{link: base, xyz: [0, 0, 0.05]}}, {DRUM % ('left', 1)}]", r"points\.1: .* inside"),
        (f"[{{link: load}}, {EDGE}]", r"points\.1\.radius: 0 is an edge"),
        (f"[{{link: load}}, {DRUM % ('left', -1)}]", r"points\[1\]\.turns: found -1"),
    ],
)
def test_mistakes_are_said_in_one_line(points: str, problem: str) -> None:
    rope = f"constraints: {{k: {{type: rope, length: 1, points: {points}}}}}"
    with pytest.raises(MechanismFileError, match=problem) as caught:
        mechanism(WINCH + DOWN % R, rope)
    assert "\n" not in str(caught.value)
    assert "constraints.k" in str(caught.value)


@pytest.mark.parametrize(("angle", "problem"), [(6.0, ""), (6.8, r"drum points\.1 by 0\.517 rad")])
def test_check_sees_a_rope_that_is_unwound(angle: float, problem: str) -> None:
    machine = hoist(9.0, 1.0, f"initial_guess: {{winch: {angle}, z: -1}}")
    found = [one.problem for one in check(machine) if one.check == "rope"]
    assert len(found) == bool(problem)
    assert not problem or re.search(problem, found[0])


@pytest.mark.parametrize(("x", "near"), [(-1.0, False), (-0.2, True), (0.1, True)])
def test_check_sees_a_rope_that_leaves_its_drum_where_turns_jump(x: float, near: bool) -> None:
    """A load above the drum, to which the rope goes down while all joints are at 0."""
    machine = swing(", one_sided: at_most")
    found = check(machine, positions={"winch": -3.0, "x": x, "z": 2.0 if near else 1.0})
    problems = [one.problem for one in found if one.check == "rope"]
    assert len(problems) == near
    tilt = np.arcsin(R) - np.arcsin(R / np.hypot(x, 1.0))  # of the tangents to the drum
    off = abs(np.copysign(np.pi - abs(np.arctan(x)), -x) - tilt)
    assert not near or f"drum points.1 {off:.3g} rad off" in problems[0]
