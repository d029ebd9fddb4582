# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The motion as a function of CasADi beside the derivatives in NumPy, and differences."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from support.mechanism_builder import shipped
from support.wrong_compiler import wrong_compiler

from uk_dynamics import MotionDerivatives, State
from uk_dynamics.compilation.verification import WrongLibraryError
from uk_dynamics.exceptions import InputError
from uk_dynamics.planning import casadi_function

casadi = pytest.importorskip("casadi")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.mark.slow
def test_rates_and_derivatives() -> None:
    """Exact first derivatives in patterns that hold them; second ones by differences."""
    machine, rng = shipped("four_bar"), np.random.default_rng(2)
    nv, nu = machine.model.nv, len(machine.actuators)
    state = machine.dynamics("interpreted").project(
        State(0.0, machine.start().q, rng.normal(size=nv))
    )
    x, u = np.concatenate([state.q, state.v]), rng.normal(size=nu)
    function = casadi_function(machine)
    assert function.name() == "four_bar_ode"
    expected = machine.derivatives(state, machine.inputs(efforts=u))
    rate = np.ravel(function(x, u))
    np.testing.assert_allclose(rate[:nv], state.v, rtol=0.0, atol=0.0)
    np.testing.assert_allclose(rate[nv:], expected.solution.qdd, rtol=0.0, atol=1e-10)
    by_x, by_u = (np.array(part.full()) for part in function.jacobian()(x, u, 0))
    by = expected.acceleration
    np.testing.assert_allclose(by_x[nv:], np.hstack([by.q, by.v]), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(by_u[nv:], by.tau @ machine.actuators.matrix, rtol=0.0, atol=1e-12)
    X, U = casadi.MX.sym("x", 2 * nv), casadi.MX.sym("u", nu)
    hessian, gradient = casadi.hessian(casadi.dot(rate, function(X, U)), X)
    second, first = (casadi.Function("f", [X, U], [f]) for f in (hessian, gradient))
    direction, step = rng.normal(size=2 * nv), 1e-5
    change = np.ravel(first(x + step * direction, u) - first(x - step * direction, u))
    found, expected_second = np.array(second(x, u)) @ direction, change / (2.0 * step)
    # one-sided differences of CasADi: half the digits
    np.testing.assert_allclose(
        found, expected_second, rtol=0.0, atol=1e-4 * np.abs(expected_second).max()
    )


@pytest.mark.slow
def test_what_a_compiler_has_made_wrongly_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(wrong_compiler(tmp_path)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(WrongLibraryError, match=r"four_bar for CasADi .* acceleration is off by"):
        casadi_function(shipped("four_bar"))


def test_motions_that_are_no_function_of_state_and_efforts_are_refused() -> None:
    """A crank that time drives."""
    with pytest.raises(InputError, match="landing_leg: expected a motion"):
        casadi_function(shipped("landing_leg"))


def test_patterns_hold_all_that_does_not_vanish_and_part_what_is_apart() -> None:
    for name in ("swarm", "two_mass_spring"):
        machine, rng = shipped(name), np.random.default_rng(1)
        evaluator = MotionDerivatives(machine, "interpreted")
        nv = machine.model.nv
        state = machine.dynamics("interpreted").project(
            State(0.0, machine.start().q, rng.normal(size=nv))
        )
        found = evaluator.acceleration(state.q, state.v, rng.normal(size=nv))
        pattern = evaluator.patterns.acceleration
        assert not found.whole[~pattern.whole].any()
        assert not pattern.t.any()
