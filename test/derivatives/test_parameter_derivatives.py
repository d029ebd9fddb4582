# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives by masses, lengths, springs, friction and gravity."""

from __future__ import annotations

import numpy as np
import pytest
from support.many_digits import ManyDigits, at_random, independent_rows
from support.mechanism_builder import SLOT, massless, shipped

from uk_dynamics import Inputs, Mechanism
from uk_dynamics.compilation import Library, library_of
from uk_dynamics.derivatives import ParameterDerivatives, by_parameters
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.dynamics import DerivativeStatus

TOLERANCE = 1e-11  # as of the derivatives by the state
QUANTITIES = ("acceleration", "multipliers", "force")


def size(values: np.ndarray) -> float:
    return max(1.0, float(np.abs(values).max(initial=0.0)))


@pytest.mark.parametrize(
    "name", ["five_bar", "slider_crank", "landing_leg", "five_bar_maximal", "flexible_joint_arm"]
)
def test_every_parameter_against_many_digits(name: str) -> None:
    """All that have derivatives at once, along a random direction."""
    mechanism = shipped(name)
    state, tau, rng = at_random(mechanism, 3)
    names = sorted(mechanism.parameters)
    found = ParameterDerivatives(mechanism, names, "interpreted").at(state, Inputs(tau))
    rows, direction = independent_rows(mechanism, state), found.exist * rng.normal(size=len(names))
    assert found.exist.all() or len(rows) < len(mechanism.constraints)
    if name == "five_bar":
        # pins that one moves apart, all lengths keep together when they grow by one factor
        placed = [x.startswith(("joints.", "constraints.")) for x in names]
        grown = np.array([mechanism.parameters[x].value for x in names]) * placed
        assert np.abs(grown[~found.exist]).max() > 0.1
        direction += grown * [x.endswith((".x", ".y", ".z")) for x in names]
    oracle = ManyDigits(mechanism.with_parameters(names))
    qdd, multipliers = oracle.slope_of_parameters(state, tau, direction, rows)
    assert np.abs(found.acceleration.parameters @ direction - qdd).max() < TOLERANCE * size(qdd)
    if len(rows) == len(mechanism.constraints):
        along = (found.multipliers.parameters @ direction)[rows]
        assert np.abs(along - multipliers).max(initial=0.0) < TOLERANCE * size(multipliers)


@pytest.mark.parametrize("name", ["five_bar", "five_bar_maximal"])
def test_redundant_multipliers_and_forces(name: str) -> None:
    """Against central differences of mechanisms with other numbers, which share no trace."""
    mechanism = shipped(name)
    state, tau, _ = at_random(mechanism, 5)
    known = mechanism.parameters
    masses = [x for x in known if x.endswith(".mass")][:2]
    names = [*masses, "gravity.z", *[x for x in known if x.endswith(".damping")][:1]]
    found = ParameterDerivatives(mechanism, names, "interpreted").at(state, Inputs(tau))
    h = 1e-5
    for k, parameter in enumerate(names):
        ends = [
            mechanism.with_parameters({parameter: known[parameter].value + shift})
            .dynamics("interpreted")
            .evaluate(state, Inputs(tau))
            for shift in ((2 * h, 0.0) if known[parameter].value == 0.0 else (h, -h))
        ]
        for by, quantity in (
            (found.acceleration, "qdd"),
            (found.multipliers, "multipliers"),
            (found.force, "ideal_force"),
        ):
            difference = (getattr(ends[0], quantity) - getattr(ends[1], quantity)) / (2.0 * h)
            # off by h² times third derivatives (mass: of order 1000), and by rounding over h
            assert np.abs(by.parameters[:, k] - difference).max() < 1e-6 * size(difference), (
                parameter
            )


@pytest.mark.parametrize(
    "machine",
    [
        "five_bar",
        "singular masses",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("four_bar", "landing_leg")),
    ],
)
def test_compiled_derivatives_are_the_same(machine: str) -> None:
    """One state after the other, and side by side, with an open loop and nothing among them."""
    singular = machine == "singular masses"
    mechanism = massless(SLOT.format(name="slot")) if singular else shipped(machine)
    names = sorted(mechanism.parameters, reverse=True)[::8]
    interpreted = ParameterDerivatives(mechanism, names, "interpreted")
    compiled = ParameterDerivatives(mechanism, names, "compiled")
    found = [at_random(mechanism, seed)[:2] for seed in range(9)]
    q, v = (np.array([getattr(state, x) for state, _ in found]) for x in "qv")
    tau = np.array([force for _, force in found])
    if machine == "five_bar":
        q[7, 0] += 1e-3
    q[8, 0] = np.nan
    many = compiled.batch(q, v, tau, 0.3, forces=True)
    assert many.status.tolist() == [DerivativeStatus.EXIST] * 8 + [DerivativeStatus.NOT_FINITE]
    assert np.isnan(many.acceleration.whole[8]).all()
    assert not many.exist[8].any()
    for k, (state, force) in enumerate(found[:8]):
        expected = interpreted.at(type(state)(state.t, q[k], v[k]), Inputs(force))
        assert (many.exist[k] == expected.exist).all()
        if machine == "five_bar":
            assert expected.exist.all() == (k == 7)  # open, no row depends on others
        one = compiled.at(state, Inputs(force)) if k == 0 else expected
        assert (one.exist == expected.exist).all()
        for quantity in QUANTITIES:
            right = getattr(expected, quantity).parameters[:, expected.exist]
            whole = (getattr(one, quantity).parameters, getattr(many, quantity).parameters[k])
            for by in whole:
                assert np.abs(by[:, expected.exist] - right).max() < TOLERANCE * size(right)


@pytest.mark.slow
def test_one_library_serves_all_values_and_columns_are_as_asked_for() -> None:
    mechanism, names = shipped("five_bar"), ["gravity.z", "links.left_leg.mass"]
    heavy = mechanism.with_parameters({"links.left_leg.mass": 3.0})
    libraries = {
        library_of(by_parameters(x, names), Library.DERIVATIVES) for x in (mechanism, heavy)
    }
    assert len(libraries) == 1
    state, tau, _ = at_random(mechanism, 3)
    expected = ParameterDerivatives(heavy, names, "interpreted").at(state, Inputs(tau))
    found = ParameterDerivatives(heavy, names[::-1], "compiled").at(state, Inputs(tau))
    right = expected.acceleration.parameters[:, ::-1]
    assert np.abs(found.acceleration.parameters - right).max() < TOLERANCE * size(right)
    light = ParameterDerivatives(mechanism, names, "compiled").at(state, Inputs(tau))
    assert np.abs(light.acceleration.whole - expected.acceleration.whole).max() > 1e-3


def test_patterns_know_what_a_parameter_does_not_move() -> None:
    """What is fixed on the ground moves nothing."""
    mechanism = shipped("coordinated_robots")
    names = sorted(mechanism.parameters)[::3]
    derivatives = ParameterDerivatives(mechanism, names, "interpreted")
    state, tau, _ = at_random(mechanism, 3)
    found = derivatives.at(state, Inputs(tau))
    for quantity in QUANTITIES:
        pattern = getattr(derivatives.patterns, quantity).parameters
        by = getattr(found, quantity).parameters
        assert not pattern.all()
        assert not np.abs(by[~pattern]).any()
        assert np.abs(by[pattern]).any()


@pytest.mark.parametrize(
    ("names", "error", "said"),
    [(["no_such"], UnknownNameError, "no_such"), ([], InputError, "names of parameters")],
)
def test_what_is_no_parameter_is_told(names: list[str], error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        ParameterDerivatives(shipped("five_bar"), names, "interpreted")


def test_a_mechanism_that_varies_parameters_is_differentiated_by_its_state() -> None:
    """Those that it varies are constants of the derivatives by q, v, t and forces."""
    heavy = shipped("five_bar").with_parameters({"links.left_leg.mass": 3.0})
    assert isinstance(heavy, Mechanism)
    assert heavy.derivatives(heavy.start()).acceleration.q.shape == (4, 4)
