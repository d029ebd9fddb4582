# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The forms of the equation chosen in mechanism files: every shipped machine moves the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.forms import FORMS
from support.mechanism_builder import cases, near, shipped

from uk_dynamics.cli.main import main
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.core.equation.solution import WITH_PSEUDOINVERSE
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.files import MechanismSpec, SolverSpec
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import shipped_files
from uk_dynamics.simulation.simulate import simulate
from uk_dynamics_studies.papers.de_falco.machine import exact_angle, state_at

NAMES = sorted(shipped_files("mechanism"))
# Every form once on every machine; every algorithm on the one that needs it most.
EACH = [(name, *form) for name in NAMES for form in FORMS if form[1] == "svd"] + [
    ("five_bar_maximal", *form) for form in FORMS if form[1] != "svd"
]


@cache
def solved_by(name: str, method: str, algorithm: str) -> Mechanism:
    machine = shipped(name)
    solver = replace(machine.spec.solver, method=method, pseudoinverse=algorithm)
    return Mechanism(replace(machine.spec, solver=solver), machine.model.description)


@pytest.mark.parametrize(("name", "method", "algorithm"), EACH)
def test_all_forms_agree(name, method, algorithm) -> None:
    machine = shipped(name)
    usual, form = machine.dynamics(), solved_by(name, method, algorithm).dynamics()
    for state, inputs, rng in cases(machine, 4):
        both = Inputs(tau=inputs.tau, nonideal=rng.standard_normal(machine.model.nv))
        expected, found = usual.evaluate(state, both), form.evaluate(state, both)
        assert found.method == method
        assert found.rank == expected.rank
        assert found.status is expected.status
        near(found.qdd, expected.qdd)
        near(found.constraint_force, expected.constraint_force)
        near(found.multipliers, expected.multipliers, relative=1e-7)
        assert np.array_equal(found.determined, expected.determined)


@pytest.mark.parametrize(("name", "method", "algorithm"), EACH)
def test_projection_with_every_form(name, method, algorithm) -> None:
    machine = shipped(name)
    form = solved_by(name, method, algorithm).dynamics()
    rng = np.random.default_rng(0)
    q = machine.model.integrate(machine.assemble(), 1e-3 * rng.standard_normal(machine.model.nv))
    state = State(0.0, q, rng.standard_normal(machine.model.nv))
    expected, found = machine.dynamics().project(state), form.project(state)
    violation = form.residual(found)
    assert np.abs(violation.position).max(initial=0.0) < 1e-12
    assert np.abs(violation.velocity).max(initial=0.0) < 1e-11
    # The nearest point on the constraints is one; Newton's way there depends on the rank.
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("method", "algorithm"), FORMS)
def test_servo_control_with_every_form(method, algorithm) -> None:
    machine = shipped("five_bar_maximal")
    other = solved_by("five_bar_maximal", method, algorithm)
    state = machine.dynamics().project(machine.state(machine.assemble(), np.ones(12)))
    task = "five_bar_maximal_sweep"
    expected = ServoController(machine, Tasks.from_file(task, machine)).command(state)
    found = ServoController(other, Tasks.from_file(task, other)).command(state)
    near(found.efforts, expected.efforts)
    assert found.unreachable == ()


def spec(solver: str) -> SolverSpec:
    return MechanismSpec.from_text(f"schema: 1\nsolver: {solver}\n").solver


def test_the_file_chooses_form_and_pseudoinverse() -> None:
    assert spec("{}").method == "auto"
    for method in sorted(WITH_PSEUDOINVERSE):
        found = spec(f"{{method: {method}, pseudoinverse: greville}}")
        assert (found.method, found.pseudoinverse) == (method, "greville")


@pytest.mark.parametrize(
    ("solver", "place", "remedy"),
    [
        ("{method: kkt, pseudoinverse: svd}", "solver.pseudoinverse", "range_space"),
        ("{pseudoinverse: svd}", "solver.pseudoinverse", "leave this out"),
        ("{method: range_space, pseudoinverse: lu}", "solver.pseudoinverse", "varga"),
        ("{method: range_space, rank_tolerance: 1e-8}", "solver.rank_tolerance", "1e-07"),
    ],
)
def test_unusable_combinations_name_the_remedy(solver, place, remedy) -> None:
    with pytest.raises(MechanismFileError) as caught:
        spec(solver)
    assert str(caught.value).startswith(f"<text>: {place}: ")
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    ("solver", "said"),
    [
        ("", "udwadia_kalaba  (chosen by auto: the mass matrix is regular)"),
        ("solver: {method: kkt}", "kkt"),
        (
            "solver: {method: range_space, pseudoinverse: varga}",
            "range_space, pseudoinverse by varga",
        ),
    ],
)
def test_describe_says_how_it_is_solved(solver, said, tmp_path, capsys) -> None:
    file = tmp_path / "five_bar.yaml"
    text = shipped_files("mechanism")["five_bar"].read_text()
    file.write_text(f"{text}\n{solver}\n")
    assert main(["describe", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines if line.startswith("  method")] == [said]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "algorithm"), FORMS)
def test_through_the_flat_configuration_with_every_form(method, algorithm) -> None:
    """Where the rank drops from 11 to 10 for an instant."""
    machine = solved_by("five_bar_maximal", method, algorithm)
    start = np.radians(5.0)
    trajectory = simulate(machine, state_at(machine, start), 0.8, rtol=1e-9, sample_period=0.02)
    exact = exact_angle(trajectory.t, start)
    assert exact[-1] < -1.0  # well past it
    for leg in ("left", "middle", "right"):
        error = np.abs(trajectory.position(f"{leg}_angle") - exact).max()
        assert error < 1e-7  # some 1e-9 are seen
    assert np.abs(trajectory.residual).max() < 1e-10


def test_greville_on_squares_sees_no_rows_come_and_go_beside_the_rank_change() -> None:
    """With one projection some of these states have rank 12, and simulations stall there."""
    machine = solved_by("five_bar_maximal", "range_space", "greville")
    squares = machine.dynamics("interpreted")
    rows = solved_by("five_bar_maximal", "udwadia_kalaba", "svd").dynamics("interpreted")
    for angle in np.logspace(-5.0, -1.0, 100):
        state = state_at(machine, angle)
        found, expected = squares.evaluate(state), rows.evaluate(state)
        assert found.rank == 11
        if expected.rank == 11:  # squares keep half of the digits: 1e-7 is seen, 3e-5 with one
            np.testing.assert_allclose(found.qdd, expected.qdd, rtol=0, atol=1e-6)
