# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Levels of the mechanism file: the same motion as at once; compliance: a spring as it is meant."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import cases, joint, link, shipped
from support.mechanism_builder import mechanism as mechanism_of

from uk_dynamics.core.equation.solution import Status
from uk_dynamics.core.recursion.hierarchical import Hierarchical
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate

_CART = link("base") + link("cart", mass=2.0) + joint("x", "base", "cart", kind="prismatic")
_SLACK = """
model: {gravity: [0, -9.81, 0]}
constraints:
  wall: {type: joint, joint: x, compliance: 0.001,
         stabilization: {frequency: 5, damping_ratio: 0.3}}
"""


def _cart(more: str = _SLACK) -> Mechanism:
    return mechanism_of(_CART, more)


@pytest.mark.parametrize("name", ["five_bar_maximal", "stewart_platform", "dual_panda"])
def test_levels_give_the_motion_and_the_force_of_one_level(name):
    machine = shipped(name)
    one = machine.dynamics("interpreted")
    count = len(machine.constraints)
    for level, (state, inputs, rng) in enumerate(cases(machine, 6)):
        terms = machine.terms(state, inputs)
        reference = one.prepare(state, inputs)
        solution = reference.factorization.solve(terms.F, terms.b)
        hierarchical = Hierarchical(
            reference.factorization.mass,
            terms.A,
            machine.natural_scale,
            machine.spec.solver.rank_tolerance,
            np.array_split(rng.permutation(count), 1 + level),
        ).solve(terms.F, terms.b)
        size = 1.0 + np.abs(solution.qdd).max()
        force = 1.0 + np.abs(solution.constraint_force).max()
        # Conditions of these machines are below 1e4: rounding leaves ten digits.
        assert np.abs(hierarchical.qdd - solution.qdd).max() < 1e-9 * size
        assert np.abs(hierarchical.constraint_force - solution.constraint_force).max() < (
            1e-9 * force * size
        )
        assert hierarchical.rank == solution.rank
        assert hierarchical.status is Status.OK


def test_levels_come_from_the_file_and_switchable_rows_are_the_last():
    machine = mechanism_of(
        _CART + link("other") + joint("y", "cart", "other", kind="prismatic", axis="0 1 0"),
        """
constraints:
  late: {type: joint, joint: y, level: 7}
  early: {type: joint, joint: x}
  grip: {type: joint_coupling, joints: {x: 1, y: 1}, switchable: true}
solver: {method: hierarchical}
""",
    )
    assert machine.hierarchy.names == (("early",), ("late",), ("grip",))
    factorization = machine.dynamics("interpreted").prepare(machine.state()).factorization
    assert isinstance(factorization, Hierarchical)
    assert [list(rows) for rows in factorization.levels] == [[1], [0], [2]]


def test_compliance_at_rest_is_a_spring():
    # Gravity 9.81 m/s² along −y; the cart slides along y.
    machine = _cart()
    dynamics = machine.dynamics()
    sag = -2.0 * 9.81 * 0.001
    solution = dynamics.evaluate(machine.state({"x": sag}))
    # It rests where C times the force is the deflection, whatever the frequency: rounding.
    assert solution.qdd[0] == pytest.approx(0.0, abs=1e-12)
    assert solution.multipliers[0] == pytest.approx(2.0 * 9.81, abs=1e-10)
    assert solution.status is Status.OK


def test_compliance_in_motion_is_a_spring_a_damper_and_the_inertia_of_the_frequency():
    machine = _cart()
    omega, zeta, C = 2.0 * np.pi * 5.0, 0.3, 0.001
    q, v = 0.01, -0.2
    qdd = machine.dynamics().evaluate(machine.state({"x": q}, {"x": v})).qdd[0]
    # (m + 1/(ω²C)) ẍ + 2ζ/(ωC) ẋ + x/C = −m g, written down from A q̈ + Rλ = b.
    inertia = 2.0 + 1.0 / (omega**2 * C)
    expected = (-2.0 * 9.81 - 2.0 * zeta / (omega * C) * v - q / C) / inertia
    assert qdd == pytest.approx(expected, abs=1e-10)


def test_a_simulation_keeps_compliant_constraints_springy():
    machine = _cart()
    trajectory = simulate(machine, machine.state(), 2.0)
    omega, C = 2.0 * np.pi * 5.0, 0.001
    inertia, damping = 2.0 + 1.0 / (omega**2 * C), 0.6 / (omega * C)
    roots = np.roots([inertia, damping, 1.0 / C])
    sag = -2.0 * 9.81 * C
    # x = sag + Re c e^{st} with x(0) = ẋ(0) = 0, exact but for the integrator's 1e-9.
    s = roots[0]
    c = sag * np.conj(s) / (s - np.conj(s))
    exact = sag + 2.0 * np.real(c * np.exp(s * trajectory.t))
    np.testing.assert_allclose(trajectory.position("x"), exact, rtol=0.0, atol=1e-8)
    assert trajectory.residual[-1, 0] == pytest.approx(sag, abs=1e-3)


def test_less_compliance_comes_nearer_to_the_rigid_machine():
    rigid = _cart(_SLACK.replace("0.001", "0.0"))
    state = rigid.state({"x": 0.001}, {"x": 0.1})
    exact = rigid.dynamics().evaluate(state)
    gaps = []
    for compliance in ("1.0e-4", "1.0e-6", "1.0e-8"):
        soft = _cart(_SLACK.replace("0.001", compliance)).dynamics().evaluate(state)
        gaps.append(abs(soft.qdd[0] - exact.qdd[0]))
    # Linear in C: a hundredth each time.
    assert gaps[1] == pytest.approx(gaps[0] / 100.0, rel=0.3)
    assert gaps[2] == pytest.approx(gaps[1] / 100.0, rel=0.01)


def test_methods_that_know_no_compliance_say_so():
    machine = _cart(_SLACK + "solver: {method: udwadia_kalaba}")
    with pytest.raises(InputError, match="clearances"):
        machine.dynamics().evaluate(machine.state())


def test_compliance_is_seen_by_the_motors_too():
    machine = _cart()
    factorization = (
        machine.dynamics("interpreted").prepare(State(0.0, np.zeros(1), np.zeros(1))).factorization
    )
    # N is the inverse of the inertia that a force at the cart feels.
    inertia = 2.0 + 1.0 / ((2.0 * np.pi * 5.0) ** 2 * 0.001)
    assert factorization.admissible(np.ones(1))[0] == pytest.approx(1.0 / inertia, abs=1e-14)


def test_a_compliance_of_what_is_no_position_is_refused():
    with pytest.raises(MechanismFileError, match="only rows that hold positions") as caught:
        mechanism_of(
            _CART,
            'constraints: {speed: {type: expression, expression: "d(x) - 1", compliance: 0.1}}',
        )
    assert caught.value.place == "constraints.speed.compliance"
