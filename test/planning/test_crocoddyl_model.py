# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The action model beside crocoddyl's own differences, and a motion that its solver finds."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import shipped

from uk_dynamics import Mechanism, State
from uk_dynamics.exceptions import InputError
from uk_dynamics.planning import crocoddyl_model

crocoddyl = pytest.importorskip("crocoddyl")


def costs(machine: Mechanism, target: np.ndarray, weights: np.ndarray, effort: float):
    """Of the distance from a state, and of efforts."""
    state, motors = crocoddyl.StateVector(len(target)), len(machine.actuators)
    near = crocoddyl.ResidualModelState(state, target, motors)
    weighted = crocoddyl.ActivationModelWeightedQuad(weights)
    total = crocoddyl.CostModelSum(state, motors)
    total.addCost("target", crocoddyl.CostModelResidual(state, weighted, near), 1.0)
    little = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, motors))
    total.addCost("efforts", little, effort)
    return total


@pytest.mark.parametrize("name", ["four_bar", "excavator"])
def test_derivatives_are_those_of_differences(name: str) -> None:
    machine, rng = shipped(name), np.random.default_rng(3)
    nv = machine.model.nv
    dynamics = machine.dynamics("interpreted")
    state = dynamics.project(State(0.0, machine.start().q, 0.1 * rng.normal(size=nv)))
    x, u = np.concatenate([state.q, state.v]), rng.normal(size=len(machine.actuators))
    model = crocoddyl_model(
        machine, costs(machine, np.zeros(2 * nv), np.ones(2 * nv), 0.1), "interpreted"
    )
    data = model.createData()
    model.calc(data, x, u)
    model.calcDiff(data, x, u)
    expected = dynamics.evaluate(state, machine.inputs(efforts=u)).qdd
    np.testing.assert_allclose(data.xout, expected, rtol=0.0, atol=1e-9)
    differences = crocoddyl.DifferentialActionModelNumDiff(model)
    found = differences.createData()
    differences.calc(found, x, u)
    differences.calcDiff(found, x, u)
    assert data.cost == pytest.approx(found.cost, abs=1e-12)
    for exact, near in ((data.Fx, found.Fx), (data.Fu, found.Fu), (data.Lx, found.Lx)):
        # one-sided differences: half of the digits
        scale = 1.0 + np.abs(exact).max()
        np.testing.assert_allclose(near / scale, exact / scale, rtol=0.0, atol=1e-5)


def test_its_solver_lifts_the_four_bar() -> None:
    """Effort for a motion to rest at another angle of the crank, with closed loops."""
    machine = shipped("four_bar")
    start, nv = machine.start(), machine.model.nv
    target = np.concatenate([machine.start(crank=float(start.q[0]) + 0.3).q, np.zeros(nv)])
    crank = np.zeros(2 * nv)
    crank[[0, nv]] = 1.0  # the crank determines the rest
    running = crocoddyl_model(machine, costs(machine, target, 0.1 * crank, 1e-4))
    end = crocoddyl_model(machine, costs(machine, target, 1e4 * crank, 1e-4))
    rule = crocoddyl.RKType.four
    begin = np.concatenate([start.q, start.v])
    problem = crocoddyl.ShootingProblem(
        begin,
        [crocoddyl.IntegratedActionModelRK(running, rule, 0.02)] * 25,
        crocoddyl.IntegratedActionModelRK(end, rule, 0.0),
    )
    solver = crocoddyl.SolverFDDP(problem)
    # a guess with closed loops: its own, zero, has open ones
    assert solver.solve([begin] * 26, [np.zeros(1)] * 25, 50)
    reached = np.array(solver.xs[-1])
    assert np.abs((reached - target)[[0, nv]]).max() < 1e-2
    closed = machine.dynamics("interpreted").residual(State(0.0, reached[:nv], reached[nv:]))
    # a fourth-order method at 20 ms, and stabilisation
    assert np.abs(closed.position).max() < 1e-5


def test_what_does_not_fit_is_refused() -> None:
    machine = shipped("four_bar")
    with pytest.raises(InputError, match="expected costs of 6 states and 1 efforts; found 4"):
        crocoddyl_model(machine, crocoddyl.CostModelSum(crocoddyl.StateVector(4), 1))
    leg = shipped("landing_leg")
    state = crocoddyl.StateVector(2 * leg.model.nv)
    total = crocoddyl.CostModelSum(state, len(leg.actuators))
    with pytest.raises(InputError, match="landing_leg: expected a motion"):
        crocoddyl_model(leg, total)
