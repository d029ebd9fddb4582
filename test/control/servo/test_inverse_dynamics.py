# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inverse dynamics with loops: against the null-space formula, virtual work and itself."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import (
    arm,
    cases,
    closed_states,
    joint,
    link,
    mechanism,
    near,
    shipped,
)

import uk_dynamics as ukd
from uk_dynamics.exceptions import InputError, StateError, UnknownNameError
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism_class import Mechanism

MACHINES = [
    "five_bar",
    "five_bar_maximal",
    "stewart_platform",
    "coordinated_robots",
    "parallel_2dof",
    "dual_panda",
]


def motion(machine: Mechanism, state: State, rng) -> np.ndarray:
    """An acceleration that the loops allow."""
    return (
        machine.dynamics()
        .evaluate(state, Inputs(tau=rng.standard_normal(machine.model.nv), stabilize=False))
        .qdd
    )


@pytest.mark.parametrize("name", MACHINES)
def test_efforts_are_those_of_the_null_space_formula(name):
    """u = pinv(ZᵀS) Zᵀ(M q̈ − F) in the metric of W, and Aᵀλ = M q̈ − F − S u."""
    machine = shipped(name)
    S, limits = machine.actuators.matrix, machine.actuators.effort_limits
    rng = np.random.default_rng(5)
    for state in closed_states(machine, rng, 6, excursion=1):
        qdd = motion(machine, state, rng)
        found = ukd.inverse_dynamics(machine, state, qdd)
        M, F, A, _ = machine.terms(state)
        Z = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, tol=1e-8) :].T
        expected = limits * (np.linalg.pinv(Z.T @ S * limits) @ (Z.T @ (M @ qdd - F)))
        near(found.efforts, expected)
        if not found.missing:
            near(found.constraint_force, M @ qdd - F - S @ found.efforts)
            near(A.T @ found.multipliers, found.constraint_force)
            again = machine.dynamics().evaluate(
                state, Inputs(tau=S @ found.efforts, stabilize=False)
            )
            near(again.qdd, qdd)


@pytest.mark.parametrize("name", MACHINES)
def test_these_motors_cause_any_motion(name):
    machine = shipped(name)
    rng = np.random.default_rng(6)
    for state in closed_states(machine, rng, 3, excursion=1):
        assert ukd.inverse_dynamics(machine, state, motion(machine, state, rng)).missing == {}


def test_without_loops_it_is_that_of_a_tree():
    machine = mechanism(
        arm([1.0, 0.8, 0.5]), "actuators: {a: {joint: j1}, b: {joint: j2}, c: {joint: j3}}\n"
    )
    rng = np.random.default_rng(1)
    q, v, qdd = rng.standard_normal((3, 3))
    found = ukd.inverse_dynamics(machine, machine.state(q, v), qdd)
    M, F, _, _ = machine.terms(machine.state(q, v))
    near(found.efforts, M @ qdd - F)
    assert found.actuation == "fully actuated"
    assert found.multipliers.shape == (0,)


def test_weight_of_a_four_bar_by_virtual_work():
    machine = shipped("four_bar")
    state = machine.state(machine.assemble(crank=1.2))
    found = ukd.inverse_dynamics(machine, state, {"crank": 0.0})
    # At rest the motor's work is the gain of height: the slope of the potential energy.
    h = 1e-5
    energies = [
        machine.energy(machine.state(machine.assemble(crank=1.2 + s * h))).potential
        for s in (1.0, -1.0)
    ]
    slope = (energies[0] - energies[1]) / (2.0 * h)
    (effort,) = found.by_motor().values()
    assert effort == pytest.approx(slope, abs=1e-6)
    assert set(found.by_row()) == set(machine.row_names)


def test_accelerations_follow_from_a_few():
    machine = shipped("five_bar")
    rng = np.random.default_rng(3)
    for state in closed_states(machine, rng, 3, excursion=1):
        qdd = motion(machine, state, rng)
        crank = float(qdd[machine.model.velocity_index("crank")])
        near(ukd.inverse_dynamics(machine, state, {"crank": crank}).qdd, qdd, relative=1e-8)


def test_redundant_motors_share_as_asked():
    machine = shipped("coordinated_robots")
    for state, _, rng in cases(machine, 2):
        qdd = motion(machine, state, rng)
        plain = ukd.inverse_dynamics(machine, state, qdd)
        equal = ukd.inverse_dynamics(machine, state, qdd, weights="equal")
        strong = ukd.inverse_dynamics(
            machine, state, qdd, weights={f"u{i}": 1.0 if i > 1 else 1e6 for i in range(1, 7)}
        )
        tight = ukd.inverse_dynamics(machine, state, qdd, preload={"u1": 40.0})
        near(plain.efforts, equal.efforts)  # equal limits
        assert abs(strong.efforts[0]) < 1e-3 * abs(plain.efforts).max()
        assert abs(tight.efforts - plain.efforts).max() > 1.0
        assert plain.actuation == "redundantly actuated"
        for other in (strong, tight):
            M, F = machine.terms(state)[:2]
            force = M @ qdd - F - machine.actuators.matrix @ other.efforts
            near(other.constraint_force, force, size=1e3)


def test_known_forces_count():
    machine = shipped("four_bar")
    state = machine.state(machine.assemble())
    without = ukd.inverse_dynamics(machine, state, {"crank": 1.0})
    helped = ukd.inverse_dynamics(machine, state, {"crank": 1.0}, tau={"crank": 3.0})
    assert without.efforts[0] - helped.efforts[0] == pytest.approx(3.0, abs=1e-10)


def test_friction_of_loop_joints_is_part_of_it():
    parts = arm([1.0, 1.0, 1.0])
    pin = """
constraints:
  pin: {{type: frame, axes: [x, z], parent: {{link: base, xyz: [1.2, 0, 0]}},
        child: {{link: l3, xyz: [1, 0, 0]}}{0}}}
actuators: {{m: {{joint: j1}}}}
"""
    rubs = mechanism(parts, pin.format(", friction: {coulomb: 0.3, radius: 0.05}"))
    q = rubs.assemble({"j1": -0.8, "j2": 1.0, "j3": 0.8})
    state = rubs.dynamics().project(rubs.state(q, {"j1": 1.0}))
    found = ukd.inverse_dynamics(rubs, state, {"j1": 0.5})
    again = rubs.dynamics().evaluate(
        state, Inputs(tau=rubs.actuators.matrix @ found.efforts, stabilize=False)
    )
    near(again.qdd, found.qdd)
    smooth = mechanism(parts, pin.format(""))
    assert abs(ukd.inverse_dynamics(smooth, state, {"j1": 0.5}).efforts - found.efforts)[0] > 1e-3


# --- what it cannot answer -----------------------------------------------------------------------


def test_motions_that_the_loops_forbid_are_refused_by_name():
    machine = shipped("five_bar")
    state = machine.start()
    with pytest.raises(StateError, match=r"accelerations contradict \w+\.[xz] by"):
        ukd.inverse_dynamics(machine, state, np.arange(1.0, 1.0 + machine.model.nv))
    with pytest.raises(StateError, match=r"positions contradict \w+\.[xz] by"):
        ukd.inverse_dynamics(machine, machine.state({"crank": 1.0}), {"crank": 0.0})
    with pytest.raises(StateError, match=r"velocities contradict \w+\.[xz] by"):
        ukd.inverse_dynamics(machine, machine.state(state.q, {"crank": 1.0}), {"crank": 0.0})


def test_too_few_accelerations_are_refused_by_name():
    machine = shipped("coordinated_robots")
    with pytest.raises(StateError, match=r"do not determine those of .*left_elbow.* give 2 more"):
        ukd.inverse_dynamics(machine, machine.start(), {"left_shoulder": 1.0})
    loose = mechanism(arm([1.0, 1.0]), "actuators: {a: {joint: j1}}\n")
    with pytest.raises(StateError, match="those of j2; give 1 more"):
        ukd.inverse_dynamics(loose, loose.state(), {"j1": 1.0})


def test_an_underactuated_machine_says_what_is_missing():
    parts = link("base") + link("cart", 2.0) + link("pole", com="0 0 0.5")
    parts += joint("j1", "base", "cart", kind="prismatic", axis="1 0 0")
    parts += joint("j2", "cart", "pole")
    machine = mechanism(parts, "actuators: {drive: {joint: j1, effort_limit: 1}}\n")
    found = ukd.inverse_dynamics(machine, machine.state({"j2": 0.3}), {"j1": 2.0, "j2": 0.0})
    assert found.actuation == "underactuated"
    # Nearest in the metric of M, the error is orthogonal to what the motor does: j1 obeys.
    assert found.unreachable == ("j2",)
    state = machine.state({"j2": 0.3})
    qdd = machine.dynamics().evaluate(state, machine.inputs(efforts=found.efforts)).qdd
    near([qdd[0], qdd[1] + found.missing["j2"]], [2.0, 0.0])
    assert found.beyond_limits == ("drive",)


def test_names_and_motors_exist():
    machine = shipped("four_bar")
    state = machine.start()
    with pytest.raises(UnknownNameError, match="crnak"):
        ukd.inverse_dynamics(machine, state, {"crnak": 1.0})
    with pytest.raises(UnknownNameError, match="motor"):
        ukd.inverse_dynamics(machine, state, {"crank": 1.0}, preload={"no_motor": 1.0})
    with pytest.raises(InputError, match="no motors"):
        ukd.inverse_dynamics(mechanism(arm([1.0])), mechanism(arm([1.0])).state(), [0.0])
