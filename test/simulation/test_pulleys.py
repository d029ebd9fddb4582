# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Ropes over pulleys with radii: derivatives, lengths of belts, Atwood's machine, hoists."""

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
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.model.robot_model import RobotModel

G = 9.81
EXACT = {"rtol": 1e-12, "atol": 1e-13}
ALL_JOINTS = RobotModel.from_urdf(URDF)
WORKSPACE = ALL_JOINTS.workspace()


def rows_of(points: list[dict]) -> ConstraintSet:
    """The row of a rope of 1 m on the robot with all joints."""
    rope = kinds()["rope"].from_data({"length": 1.0, "points": points})
    rows = rows_on(rope, ALL_JOINTS)
    constraint, model = Constraint("k", "rope", rows), ALL_JOINTS
    return ConstraintSet((constraint,), model.ancestor_mask, model.nq, length=0.5)


@given(seed=st.integers(0, 2**32 - 1))
def test_rows_are_derivatives_of_the_length(seed: int) -> None:
    """Two pulleys with antiparallel axes on a link that turns and tilts, points in any motion.

    The rope may lift off one of them, or both keep it.
    """
    rng = np.random.default_rng(seed)
    axis, first = rng.normal(size=3), rng.uniform(-0.5, 0.5, 3)
    across = np.cross(axis, rng.normal(size=3))
    other = first + 0.3 * across / np.linalg.norm(across)
    sides = rng.choice(["left", "right"], 2).tolist()
    pulleys = [
        {"link": "d", "xyz": first, "radius": 0.05, "axis": axis, "side": sides[0]},
        {"link": "d", "xyz": other, "radius": 0.08, "axis": -axis, "side": sides[1]},
    ]
    if (lifts := rng.integers(3)) < 2:
        pulleys[lifts]["lifts_off"] = True
    begin, *ends = (
        {"link": name, "xyz": rng.uniform(-0.5, 0.5, 3)} for name in ("base", "left", "right")
    )
    rope = rows_of([begin, *pulleys, *ends])
    model = ALL_JOINTS
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
    v, a = rng.standard_normal((2, model.nv))

    WORKSPACE.update(q, v)
    (row,) = rope.constraints[0].rows
    way = row.way(WORKSPACE, q)
    # ends near a pulley bend the rope by 1/t, and third derivatives by 1/t³
    assume(way.size.min() > 0.1)
    assume(abs(way.arcs[row.lifts]).min(initial=1.0) > 1e-3)  # nothing bends the rope there
    assume(rows_are_derivatives(rope, model, q, v, a))  # an arc may end at 3π/2


@given(
    small=st.floats(0.05, 0.3),
    large=st.floats(0.05, 0.3),
    distance=st.floats(0.9, 2.0),  # nearer, a crossed belt lies on more than three quarters
    crossed=st.booleans(),
)
def test_a_belt_has_the_length_of_its_tangents_and_arcs(small, large, distance, crossed) -> None:
    """From the middle of a tangent round both pulleys and back, open or crossed."""
    offset = large + small if crossed else large - small
    tilt = np.arcsin(offset / distance)
    straight = np.sqrt(distance**2 - offset**2)
    # the tangent that is above the first pulley, y up, and the x axis from centre to centre
    tangent = np.array([np.cos(tilt), np.sin(tilt) * (-1.0 if crossed else 1.0), 0.0])
    normal = np.array([-tangent[1], tangent[0], 0.0])
    middle = (small * normal + 0.5 * straight * tangent).tolist()
    first, second = ("right", "left") if crossed else ("right", "right")
    belt = rows_of(
        [
            {"link": "base", "xyz": middle},
            {"link": "base", "xyz": [distance, 0, 0], "radius": large, "side": second},
            {"link": "base", "radius": small, "side": first},
            {"link": "base", "xyz": middle},
        ]
    )
    WORKSPACE.update_positions(ALL_JOINTS.neutral())
    _, psi = belt.position(WORKSPACE, 0.0, ALL_JOINTS.neutral())
    arcs = small * (np.pi + (2 * tilt if crossed else -2 * tilt)) + large * (np.pi + 2 * tilt)
    assert psi[0] == pytest.approx(2.0 * straight + arcs - 1.0, abs=1e-12)


PEG = """
constraints:
  peg:
    type: rope
    length: 1
    points:
      - {link: world}
      - {link: world, xyz: [1, 0.5, 9], radius: 0.4, side: left, lifts_off: true}
      - {link: bob}
  pulley:
    type: rope
    length: 1
    points: [{link: world}, {link: world, xyz: [1, 0.5, 9], radius: 0.4, side: left}, {link: bob}]
  straight: {type: distance, distance: 1, parent: {link: world}, child: {link: bob}}
"""


@pytest.mark.parametrize(
    ("other", "least", "most"),
    [("pulley", (1.5, 0.6), (2.5, 2.0)), ("straight", (0.5, -2.0), (2.5, 0.0))],
)
def test_a_rope_round_a_peg_lies_on_it_as_on_a_pulley_or_is_straight(other, least, most) -> None:
    parts = joint("bob", "world", "bob", kind="floating") + link("bob", 1.0)
    machine, rng = mechanism(parts, PEG), np.random.default_rng(1)
    state = machine.start()
    rows = [machine.constraints.slices[name].start for name in ("peg", other)]
    for _ in range(20):
        state.q[:3] = rng.uniform([*least, -1.0], [*most, 1.0])
        state.v[:] = rng.standard_normal(6)
        terms = machine.terms(state)
        psi = machine.dynamics().residual(state, Inputs()).position[rows]
        np.testing.assert_allclose(psi[0], psi[1], rtol=0, atol=1e-13)
        (A, as_other), (b, b_other) = terms.A[rows], terms.b[rows]
        np.testing.assert_allclose(A, as_other, rtol=0, atol=1e-13)
        np.testing.assert_allclose(b, b_other, rtol=0, atol=1e-11)


ARMS = link("base") + "".join(
    link(name, 1.0, 0.02) + joint(f"{name}_j", parent, name, axis="0 0 1", xyz=xyz)
    for name, parent, xyz in (("left", "base", "0 0 0"), ("right", "left", "1 0 0"))
)
GUIDED = """
constraints:
  rope:
    type: rope
    length: 3
    points:
      - {link: base, xyz: [-1, 0, 0]}
      - {link: left, radius: 0.1, side: right, xyz: [0, 0, 0.2]}
      - {link: left, xyz: [0.5, 0.1, 0], radius: 0.05, side: left, lifts_off: true}
      - {link: right, xyz: [0.5, 0, 0], radius: 0.1, side: left}
      - {link: base, xyz: [1.5, 3, 0]}
"""


def test_ropes_that_lift_off_are_the_same_in_c() -> None:
    """Off a peg between two pulleys that keep it, which are on two links."""
    machine, rng, off = mechanism(ARMS, GUIDED), np.random.default_rng(2), []
    both = CompiledDynamics(machine), InterpretedDynamics(machine)
    (row,), workspace = machine.constraints.constraints[0].rows, machine.model.workspace()
    for _ in range(40):
        state = machine.state(rng.uniform(-0.5, 0.5, 2))
        state.v[:] = rng.standard_normal(2)
        compiled, interpreted = (one.evaluate(state, Inputs()) for one in both)
        np.testing.assert_allclose(compiled.qdd, interpreted.qdd, rtol=1e-10, atol=1e-10)
        workspace.update(state.q, state.v)
        off.append(row.way(workspace, state.q).bent[-1] > 0.0)
    assert 5 < sum(off) < 35


HEAVY, LIGHT, R, HEIGHT = 3.0, 2.0, 0.15, 0.4  # kg, m
WEIGHTS = link("base") + "".join(
    link(name, mass, 0.01) + joint(f"{name}_z", "base", name, kind="prismatic", axis="0 0 1")
    for name, mass in (("heavy", HEAVY), ("light", LIGHT))
)
SHEAVE = f"{{link: base, radius: {R}, axis: [0, -1, 0], side: right}}"  # seen from the front, y


def atwood(length: float, more: str = "") -> Mechanism:
    """Two weights that hang on both sides of a sheave, 1 m below its centre."""
    points = f"[{{link: heavy, xyz: [-{R}, 0, 0]}}, {SHEAVE}, {{link: light, xyz: [{R}, 0, 0]}}]"
    rope = f"{{type: rope, length: {length!r}, one_sided: at_most, points: {points}}}"
    return mechanism(WEIGHTS, f"constraints: {{rope: {rope}}}\n{more}")


@pytest.mark.parametrize("method", ["DOP853", "moreau"])
@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_atwoods_machine_over_a_pulley_of_any_size(method: str, backend: str) -> None:
    machine = atwood(2.0 + np.pi * R)
    run = simulate(machine, machine.state([-1.0, -1.0]), 0.3, method=method, backend=backend)
    fallen = 0.5 * (HEAVY - LIGHT) / (HEAVY + LIGHT) * G * 0.3**2
    np.testing.assert_allclose(run.q[-1], [-1.0 - fallen, -1.0 + fallen], rtol=0, atol=1e-9)
    tension = 2.0 * HEAVY * LIGHT / (HEAVY + LIGHT) * G
    np.testing.assert_allclose(run.contact("rope").normal[1:-1], tension, rtol=0, atol=1e-8)


@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_a_rope_goes_slack_and_tightens_with_a_jerk(backend: str) -> None:
    """The heavy weight lands; the light one flies on for 2v/g, and lifts it off at v m/(m + M)."""
    ground = "{parent: {link: base, xyz: [0, 0, %r]}, child: {link: heavy}}" % (-1.0 - HEIGHT)
    machine = atwood(2.0 + np.pi * R, f"contacts: {{ground: {ground}}}")
    falls = (HEAVY - LIGHT) / (HEAVY + LIGHT) * G
    lands = np.sqrt(2.0 * HEIGHT / falls)
    v = falls * lands
    tight = lands + 2.0 * v / G
    run = simulate(machine, machine.state([-1.0, -1.0]), tight + 0.01, backend=backend, **EXACT)
    landing, jerk = (one for one in run.switchings if one.energy_lost)
    assert landing.t == pytest.approx(lands, abs=1e-9)
    assert jerk.t == pytest.approx(tight, abs=1e-9)
    assert landing.energy_lost == pytest.approx(0.5 * HEAVY * v**2, abs=1e-8)
    left = 0.5 * LIGHT**2 / (HEAVY + LIGHT) * v**2
    assert jerk.energy_lost == pytest.approx(0.5 * LIGHT * v**2 - left, abs=1e-8)
    slack = (run.t > lands + 1e-6) & (run.t < tight - 1e-6)
    assert (run.contact("rope").gap[slack] > 0.0).all()
    after = v * LIGHT / (HEAVY + LIGHT) - falls * (run.t[-1] - tight)
    np.testing.assert_allclose(run.v[-1], [after, -after], rtol=0, atol=1e-8)


def test_a_block_of_two_falls_half_as_far_as_its_weight_rises() -> None:
    """Up from the ceiling, under the block's pulley, over a sheave: 2T holds the block."""
    points = f"""
      - {{link: base, xyz: [{-R!r}, 0, 0]}}
      - {{link: heavy, radius: {R!r}, axis: [0, -1, 0], side: left}}
      - {{link: base, xyz: [{2 * R!r}, 0, 0], radius: {R!r}, axis: [0, 1, 0], side: left}}
      - {{link: light, xyz: [{3 * R!r}, 0, 0]}}"""
    rope = f"constraints:\n  rope:\n    type: rope\n    length: {3.0 + 2.0 * np.pi * R!r}\n"
    machine = mechanism(WEIGHTS, rope + f"    one_sided: at_most\n    points:{points}")
    run = simulate(machine, machine.state([-1.0, -1.0]), 0.3, **EXACT)
    rises = 0.5 * (2.0 * LIGHT - HEAVY) / (HEAVY + 4.0 * LIGHT) * G * 0.3**2  # the block
    np.testing.assert_allclose(run.q[-1], [-1.0 + rises, -1.0 - 2.0 * rises], rtol=0, atol=1e-9)


EDGE = "{link: base, radius: 0, side: left, lifts_off: true}"
FIRST = "{link: base, radius: 0.1, side: left}"


@pytest.mark.parametrize(
    ("sheave", "problem"),
    [
        ("{link: base, radius: 0.1}", "side"),
        ("{link: base, side: left}", "radius"),
        ("{link: base, radius: 0, side: left}", r"points\.1\.radius: 0 is an edge"),
        (f"{EDGE}, {EDGE}", r"points\.2\.lifts_off: it lifts off both this and points\.1"),
        ("{link: base, lifts_off: true}", "radius"),
        ("{link: base, radius: 0.1, side: left, axis: [0, 0, 0]}", r"points\.1\.axis"),
        (f"{SHEAVE}, {{link: base, radius: 0.1, side: left}}", r"points\.2\.axis: .* parallel"),
        (f"{FIRST}, {FIRST.replace('base', 'bob')}", r"points\.2\.axis: in some motions not"),
    ],
)
def test_mistakes_are_said_in_one_line(sheave: str, problem: str) -> None:
    bob = joint("swings", "base", "bob", axis="1 0 0") + link("bob", 1.0)
    points = f"[{{link: heavy}}, {sheave}, {{link: light}}]"
    with pytest.raises(MechanismFileError, match=problem) as caught:
        mechanism(WEIGHTS + bob, f"constraints: {{k: {{type: rope, length: 1, points: {points}}}}}")
    assert "\n" not in str(caught.value)
    assert "constraints.k" in str(caught.value)


@pytest.mark.parametrize(
    ("place", "side", "severity", "problem"),
    [
        ("-0.1, 0, 0.95", "right", "error", r"points\.0 and points\.1 it begins inside"),
        ("-1, 0, 1.5", "right", "warning", r"away from the pulley points\.1 by 0\.658 rad"),
        ("-1, 0, 1.5", "left", None, ""),
        ("-1, 0, 1.5", "right, lifts_off: true", None, ""),
    ],
)
def test_check_sees_a_rope_that_does_not_lie_on_its_pulley(place, side, severity, problem) -> None:
    sheave = SHEAVE.replace("right", side)
    points = f"[{{link: heavy, xyz: [{place}]}}, {sheave}, {{link: light, xyz: [1, 0, 1.5]}}]"
    machine = mechanism(
        WEIGHTS,
        "initial_guess: {heavy_z: -1, light_z: -1}\n"
        f"constraints: {{k: {{type: rope, length: 9, one_sided: at_most, points: {points}}}}}",
    )
    found = [one for one in check(machine) if one.check == "rope"]
    assert [one.severity for one in found] == ([severity] if severity else [])
    for one in found:
        assert re.search(problem, one.problem)


def test_a_rope_does_not_end_on_a_pulley() -> None:
    points = f"[{{link: heavy}}, {SHEAVE}]"
    with pytest.raises(MechanismFileError, match=r"k\.points\.1: ends are points, or drums"):
        mechanism(WEIGHTS, f"constraints: {{k: {{type: rope, length: 1, points: {points}}}}}")
