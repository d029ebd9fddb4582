# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constrained dynamics of whole mechanisms: the equation, its forces, and its degenerate cases."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm, sqrtm
from support.mechanism_builder import arm, cases, joint, link, mechanism, near, pinned_arm, shipped

from uk_dynamics.core.equation.solution import Status
from uk_dynamics.exceptions import InputError, StateError, UnknownNameError
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import shipped_files

NAMES = sorted(shipped_files("mechanism"))
DRIVEN = ("spiral_particle", "swarm")  # moved by their constraints, which therefore do work

TIP = """
  tip:
    type: frame
    axes: [x, z]
    parent: {link: base, xyz: [1.2, 0, -0.4]}
    child: {link: l3, xyz: [1, 0, 0]}
"""


# --- the equation --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_gauss_principle(name):
    """Among all accelerations the constraints admit, q̈ is the M-nearest to the free one."""
    machine = shipped(name)
    dynamics = machine.dynamics()
    for state, inputs, rng in cases(machine, 5):
        M, F, A, _ = machine.terms(state, inputs)
        qdd = dynamics.evaluate(state, inputs).qdd
        free = np.linalg.solve(M, F)
        kernel = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, tol=1e-8) :].T

        def gauss(acceleration, M=M, free=free):
            return (acceleration - free) @ M @ (acceleration - free)

        other = kernel @ rng.standard_normal(kernel.shape[1])
        # Pythagoras: the excess is the M-norm of the deviation, nothing of first order.
        for scale in (1e-2, 1.0, -1.0):
            excess = gauss(qdd + scale * other) - gauss(qdd)
            near(excess, scale**2 * other @ M @ other, gauss(qdd) + 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_of_the_equation_agree(name):
    machine = shipped(name)
    spec = machine.spec
    other = Mechanism(
        type(spec)(**{**vars(spec), "solver": type(spec.solver)(method="nullspace")}),
        machine.model.description,
    )
    one, two = machine.dynamics(), other.dynamics()
    for state, inputs, rng in cases(machine):
        both = Inputs(tau=inputs.tau, nonideal=rng.standard_normal(machine.model.nv))
        left, right = one.evaluate(state, both), two.evaluate(state, both)
        assert left.rank == right.rank
        near(left.qdd, right.qdd)
        near(left.constraint_force, right.constraint_force)
        near(left.ideal_force, right.ideal_force)


@pytest.mark.parametrize("name", ["four_bar", "five_bar_maximal", "stewart_platform"])
def test_non_ideal_constraint_force(name):
    """Servo paper (11) to (13), with the symmetric root of M and a pseudoinverse."""
    machine = shipped(name)
    dynamics = machine.dynamics()
    for state, inputs, rng in cases(machine, 5):
        c = rng.standard_normal(machine.model.nv)
        M, F, A, b = machine.terms(state, inputs)
        root = np.real(sqrtm(M))
        inverse = np.linalg.inv(root)
        B = A @ inverse
        plus = np.linalg.pinv(B, rcond=1e-6)
        ideal = root @ plus @ (b - A @ np.linalg.solve(M, F))
        nonideal = root @ (np.eye(len(M)) - plus @ B) @ inverse @ c
        solution = dynamics.evaluate(state, Inputs(tau=inputs.tau, nonideal=c))
        near(solution.ideal_force, ideal)
        near(solution.constraint_force, ideal + nonideal)
        near(solution.qdd, np.linalg.solve(M, F + ideal + nonideal))
        near(solution.residual, 0.0 * b)


# --- energy --------------------------------------------------------------------------------------


# Dampers and springs between frames, and constant torques: test_iftomm.py follows their energy.
FORCED = ("andrews_squeezer", "diagonal_spring", "flyball_governor")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in FORCED])
def test_energy_changes_by_the_power_of_motors_and_damping(name):
    machine = shipped(name)
    dynamics, model = machine.dynamics(), machine.model
    assert not np.any(model.friction)
    h = 1e-4  # third derivatives of the energy are of order 1e4 at these speeds: h² times that / 6
    for state, inputs, _ in cases(machine, 5):
        qdd = dynamics.evaluate(state, Inputs(tau=inputs.tau, stabilize=False)).qdd

        def energy(t, state=state, qdd=qdd):
            q = model.integrate(state.q, t * state.v + 0.5 * t * t * qdd)
            return dynamics.energy(State(t, q, state.v + t * qdd)).total

        slopes = [(energy(k * h) - energy(-k * h)) / (2 * k * h) for k in (1, 2)]
        slope = (4.0 * slopes[0] - slopes[1]) / 3.0  # Richardson: the h² terms cancel
        power = state.v @ (inputs.tau - model.damping * state.v)
        if name in DRIVEN:
            still = Inputs(tau=inputs.tau, stabilize=False)
            power += state.v @ dynamics.evaluate(state, still).constraint_force
        near(slope, power, 1.0 + np.abs(state.v) @ np.abs(dynamics.terms(state).F), 1e-7)


@pytest.mark.slow
def test_energy_along_a_motion_with_motor_damping_and_spring():
    text = f"""
joints: {{j1: {{damping: 0.3, spring: {{stiffness: 4.0, rest: 0.5}}}}, j3: {{damping: 0.1}}}}
constraints:{TIP}"""
    machine = mechanism(arm([1.0, 1.0, 1.0]), text)
    dynamics, nv = machine.dynamics(), 3
    start = dynamics.project(machine.state(machine.assemble({"j1": 0.3, "j2": 0.8, "j3": -0.4})))
    tau = np.array([2.0, -1.0, 0.5])
    damping = np.array([0.3, 0.0, 0.1])
    inputs = Inputs(tau=tau)

    def rates(t, y):
        q, v = y[:nv], y[nv : 2 * nv]
        qdd = dynamics.evaluate(State(t, q, v), inputs).qdd
        return np.concatenate((v, qdd, [v @ (tau - damping * v)]))

    y0 = np.concatenate((start.q, start.v, [0.0]))
    motion = solve_ivp(rates, (0.0, 2.0), y0, method="DOP853", rtol=1e-11, atol=1e-12)
    end = State(2.0, motion.y[:nv, -1], motion.y[nv : 2 * nv, -1])
    assert np.linalg.norm(end.v) > 0.1
    gained = dynamics.energy(end).total - dynamics.energy(start).total
    assert gained == pytest.approx(motion.y[-1, -1], abs=1e-8)  # drift: stabilised, 1e-9 off


# --- stabilisation -------------------------------------------------------------------------------


@pytest.mark.parametrize(("frequency", "ratio"), [(1.0, 1.0), (2.0, 0.3), (0.5, 2.0), (0.0, 1.0)])
@pytest.mark.parametrize("kind", ["frame", "distance"])
def test_a_violation_decays_as_the_linear_equation_says(kind, frequency, ratio):
    """ψ̈ + 2ζω ψ̇ + ω² ψ = 0 exactly, however large ψ is, since A and b are exact."""
    shape = {"frame": "axes: [x, z]", "distance": "distance: 1.3"}[kind]
    machine = pinned_arm(
        f"""
  tip:
    type: {kind}
    {shape}
    parent: {{link: base, xyz: [0.3, 0, -0.2]}}
    child: {{link: l3, xyz: [1, 0, 0]}}
    stabilization: {{frequency: {frequency}, damping_ratio: {ratio}}}
""",
        (1.0, 1.0, 1.0),
    )
    dynamics = machine.dynamics()
    state = machine.state([0.2, 0.9, 1.1], [0.1, -0.3, 0.2])
    first = dynamics.residual(state)
    assert np.max(np.abs(first.position)) > 0.1
    times = np.linspace(0.0, 0.5, 6)

    def rates(t, y):
        return np.concatenate((y[3:], dynamics.evaluate(State(t, y[:3], y[3:])).qdd))

    start = np.concatenate((state.q, state.v))
    motion = solve_ivp(rates, (0, 0.5), start, "DOP853", times, rtol=1e-10, atol=1e-11)
    omega = 2.0 * np.pi * frequency
    linear = np.array([[0.0, 1.0], [-(omega**2), -2.0 * ratio * omega]])
    for t, y in zip(times, motion.y.T, strict=True):
        found = dynamics.residual(State(t, y[:3], y[3:]))
        expected = expm(t * linear) @ np.array([first.position, first.velocity])
        np.testing.assert_allclose(found.position, expected[0], rtol=0, atol=1e-8)
        np.testing.assert_allclose(found.velocity, expected[1], rtol=0, atol=1e-7)


def test_without_stabilisation_a_violation_stays():
    machine = pinned_arm(TIP, (1.0, 1.0, 1.0))
    state = machine.state([0.2, 0.9, 1.1])
    b = machine.terms(state, Inputs(stabilize=False)).b
    near(b, np.zeros(2))
    assert np.max(np.abs(machine.terms(state).b)) > 1.0


# --- projection ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spread", [1e-6, 1e-2, 0.2])
def test_projection_goes_to_the_constraints_and_not_far(name, spread):
    """Also where rows are redundant: off the constraints they look independent, and mislead."""
    machine = shipped(name)
    model, dynamics = machine.model, machine.dynamics("interpreted")
    home = machine.assemble(t=1.5)
    rng = np.random.default_rng(3)
    for _ in range(10):
        step, v = rng.uniform(-spread, spread, model.nv), rng.standard_normal(model.nv)
        q = model.integrate(home, step)
        state = dynamics.project(State(1.5, q, v))
        assert state.t == 1.5
        residual = dynamics.residual(state)
        assert np.max(np.abs(residual.position), initial=0.0) < 1e-12  # closed to rounding
        assert np.max(np.abs(residual.velocity), initial=0.0) < 1e-11
        # Home is |step| away in the M-norm; Newton's way bends, but it is not much longer.
        mass = dynamics.terms(State(0.0, home, v)).M
        moved = model.difference(q, state.q)
        assert moved @ mass @ moved <= 2.0**2 * step @ mass @ step
        # The velocity is the nearest one: what was taken away is M-orthogonal to what may remain.
        M, _, A, _ = machine.terms(state)
        taken = v - state.v
        if name not in DRIVEN:
            assert abs(taken @ M @ state.v) < 1e-9 * (v @ M @ v)
        kernel = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, tol=1e-8) :]
        assert np.max(np.abs(kernel @ M @ taken), initial=0.0) < 1e-9 * np.max(
            np.abs(M) @ np.abs(v)
        )


# --- what the file says of joints ----------------------------------------------------------------


def swing(joints: str, more: str = "") -> Mechanism:
    """One joint about a vertical axis: gravity does nothing; inertia 0.1 + 1·0.25 kg m²."""
    parts = link("base") + link("l1", com="0.5 0 0")
    parts += joint("j1", "base", "l1", axis="0 0 1", limits=(-1.0, 1.0), more=more)
    return mechanism(parts, f"joints: {{j1: {joints}}}")


@pytest.mark.parametrize(
    ("joints", "more", "expected"),
    [
        ("{armature: 0.65}", "", 3.0 / 1.0),
        ("{damping: 0.5}", "", (3.0 - 0.5 * 2.0) / 0.35),
        ("{}", '<dynamics damping="0.25" friction="0"/>', (3.0 - 0.25 * 2.0) / 0.35),
        ("{damping: 0.0}", '<dynamics damping="0.25"/>', 3.0 / 0.35),
        ("{friction: 0.7}", "", (3.0 - 0.7) / 0.35),
        ("{spring: {stiffness: 10.0, rest: 0.2}}", "", (3.0 - 10.0 * (1.2 - 0.2)) / 0.35),
        ("{stop: {stiffness: 40.0, damping: 0.1}}", "", (3.0 - 40.0 * 0.2 - 0.1 * 2.0) / 0.35),
    ],
)
def test_what_the_file_says_of_a_joint_acts(joints, more, expected):
    machine = swing(joints, more)
    state = machine.state([1.2], [2.0])
    solution = machine.dynamics().evaluate(state, machine.inputs({"j1": 3.0}))
    assert solution.qdd == pytest.approx([expected], abs=1e-9)
    assert solution.rank == 0


@pytest.mark.parametrize("said", ["armature: 0.1", "damping: 0.1", "spring: {stiffness: 1.0}"])
def test_a_joint_that_does_not_exist_is_named_with_its_place(said):
    with pytest.raises(UnknownNameError, match='<text>: joints: no joint "j9"; there are: j1'):
        mechanism(arm([1.0]), f"joints: {{j9: {{{said}}}}}")


def test_a_mimic_joint_becomes_a_coupling():
    mimic = '<mimic joint="j1" multiplier="-2.0" offset="0.3"/>'
    parts = link("base") + link("l1", com="0.5 0 0") + link("l2", com="0.5 0 0")
    parts += joint("j1", "base", "l1", axis="0 0 1")
    parts += joint("j2", "base", "l2", axis="0 0 1", more=mimic)
    machine = mechanism(parts, "")
    assert machine.row_names == ("mimic_j2",)
    q = machine.assemble(j1=0.4)
    assert q == pytest.approx([0.4, 0.3 - 2.0 * 0.4], abs=1e-15)
    solution = machine.dynamics().evaluate(machine.state(q), machine.inputs({"j1": 1.4, "j2": 1.0}))
    # Reflected to j1: the inertia of j2 counts four times, its torque minus two times.
    expected = (1.4 - 2.0 * 1.0) / (0.35 + 4 * 0.35)
    assert solution.qdd == pytest.approx([expected, -2.0 * expected], abs=1e-12)


def test_forces_and_efforts_add_up():
    machine = shipped("four_bar")
    state = machine.state(machine.assemble())
    dynamics = machine.dynamics()
    sum_of_both = machine.inputs({"crank": 0.5}, efforts={"crank_motor": 0.25})
    whole = dynamics.evaluate(state, machine.inputs({"crank": 0.75}))
    near(dynamics.evaluate(state, sum_of_both).qdd, whole.qdd)


# --- moving bases --------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["floating", "planar"])
def test_internal_constraints_do_not_move_the_centre_of_mass(root):
    gravity = [0.3, -0.2, -9.81] if root == "floating" else [0.3, -0.2, 0.0]
    axis = "0 1 0" if root == "floating" else "0 0 1"
    parts = link("body", 3.0) + link("a", com="0.4 0 0") + link("b", com="0.2 0.1 0")
    parts += joint("ja", "body", "a", axis=axis, xyz="0.3 0 0")
    parts += joint("jb", "body", "b", axis=axis, xyz="-0.3 0 0")
    machine = mechanism(
        parts,
        f"""
model: {{root: {root}, gravity: {gravity}}}
constraints:
  rod:
    type: distance
    distance: 0.5
    parent: {{link: a, xyz: [0.4, 0, 0]}}
    child: {{link: b, xyz: [0.2, 0, 0]}}
""",
    )
    model = machine.model
    dynamics = machine.dynamics()
    rng = np.random.default_rng(4)
    guess = model.integrate(machine.configuration(), rng.uniform(-0.5, 0.5, model.nv))
    state = dynamics.project(State(0.0, machine.assemble(guess), rng.standard_normal(model.nv)))
    solution = dynamics.evaluate(state)
    assert solution.status is Status.OK
    assert solution.rank == 1
    data = model.pinocchio.createData()
    pin.centerOfMass(model.pinocchio, data, state.q, state.v, solution.qdd)
    assert data.acom[0] == pytest.approx(gravity, abs=1e-9)


def test_a_floating_body_may_be_welded_to_the_world():
    parts = link("body", 3.0, com="0.1 0.2 0") + link("load", 1.0) + link("ground")
    parts += joint("slide", "ground", "load", kind="prismatic", axis="0 0 1")
    parts += joint("free", "ground", "body", kind="floating")
    machine = mechanism(
        parts,
        "constraints: {clamp: {type: weld, parent: {link: load}, child: {link: body}}}",
    )
    q = machine.assemble({"slide": 0.4, "free.x": 0.3, "free.z": 0.1})
    solution = machine.dynamics().evaluate(machine.state(q), machine.inputs({"slide": 4.0 * 9.81}))
    assert solution.rank == 6
    near(solution.qdd, np.zeros(7))


# --- results are values --------------------------------------------------------------------------


def test_a_solution_outlives_the_next_evaluation():
    machine = shipped("stewart_platform")
    (first, one, _), (second, two, _) = cases(machine, 2)
    dynamics = machine.dynamics()
    kept = dynamics.evaluate(first, one)
    dynamics.evaluate(second, two)
    fresh = machine.dynamics().evaluate(first, one)
    for name in ("qdd", "constraint_force", "multipliers", "residual", "determined"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(fresh, name))
    assert kept.condition == fresh.condition


def test_terms_belong_to_the_caller():
    text = "constraints: {gear: {type: joint_coupling, joints: {j1: 1.0, j2: 2.0}}}"
    machine = mechanism(arm([1.0, 1.0]), text)
    state = machine.state([0.1, 0.2])
    for array in machine.terms(state):
        array[...] = 0.0
    np.testing.assert_array_equal(machine.terms(state).A, [[1.0, 2.0]])


# --- numbers that are none -----------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_state_is_finite(bad):
    machine = shipped("four_bar")
    for arguments in ({"q": {"crank": bad}}, {"v": {"crank": bad}}, {"q": [0, bad, 0]}, {"t": bad}):
        with pytest.raises(StateError):
            machine.state(**arguments)
    for arguments in ({"tau": {"crank": bad}}, {"efforts": {"crank_motor": bad}}):
        with pytest.raises(StateError):
            machine.inputs(**arguments)


@given(
    q=st.lists(st.floats(-1e3, 1e3), min_size=24, max_size=24),
    v=st.lists(st.floats(-1e2, 1e2), min_size=24, max_size=24),
    name=st.sampled_from(["four_bar", "five_bar", "five_bar_maximal", "stewart_platform"]),
)
def test_far_off_the_constraints_numbers_stay_finite(q, v, name):
    machine = shipped(name)
    nv = machine.model.nv
    solution = machine.dynamics().evaluate(machine.state(q[:nv], v[:nv]))
    assert np.all(np.isfinite(solution.qdd))
    assert np.all(np.isfinite(solution.constraint_force))
    assert np.all(np.isfinite(solution.multipliers))
    assert np.isfinite(solution.condition)


@pytest.mark.parametrize(
    ("efforts", "message"),
    [
        ({"crnk_motor": 1.0}, 'no actuator "crnk_motor"; did you mean "crank_motor"'),
        ({"crank_motor": "much"}, "crank_motor: expected a number, found 'much'"),
        ({"crank_motor": None}, "crank_motor: expected a number, found None"),
        ([1.0, 2.0], r"expected 1 effort values \(crank_motor\), found shape \(2,\)"),
        ("1.0 2.0", "expected 1 numbers, found '1.0 2.0'"),
    ],
)
def test_efforts_are_checked(efforts, message):
    with pytest.raises(InputError, match=message):
        shipped("four_bar").inputs(efforts=efforts)
