"""Evaluators take the quick form at most states, whatever the states before were like."""

from __future__ import annotations

import numpy as np
import pytest
from mechanism_builder import joint, link, mechanism, shipped

from uk_dynamics.core.solution import Status
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import State


class Counted(InterpretedDynamics):
    """Counts how often all rows are taken by their remainders."""

    def __init__(self, mechanism: Mechanism) -> None:
        super().__init__(mechanism)
        self.general = 0
        factorize = self._solver.factorize

        def counting(mass, A):
            self.general += 1
            return factorize(mass, A)

        self._solver.factorize = counting


def states(machine: Mechanism, count: int) -> list[State]:
    rng = np.random.default_rng(0)
    start = machine.assemble()
    dynamics = machine.dynamics("interpreted")
    found = []
    for _ in range(count):
        v = rng.standard_normal(machine.model.nv)
        q = machine.model.integrate(start, 0.05 * rng.standard_normal(machine.model.nv))
        found.append(dynamics.project(machine.state(q, v)))
    return found


@pytest.mark.parametrize(
    ("name", "rank"), [("five_bar", 3), ("rrr3", 6), ("four_bar", 2), ("stewart_platform", 18)]
)
def test_redundant_rows_cost_one_state(name, rank):
    machine = shipped(name)
    dynamics = Counted(machine)
    for state in states(machine, 10):
        alone = dynamics.acceleration(state.q, state.v)
        solution = dynamics.evaluate(state)
        general = InterpretedDynamics(machine).prepare(state)
        expected = general.factorization.solve(general.terms.F, general.terms.b)
        size = np.abs(expected.qdd).max()
        # rounding times the square of the condition of these rows, at most some 1e3
        np.testing.assert_allclose(solution.qdd / size, expected.qdd / size, rtol=0, atol=1e-11)
        np.testing.assert_allclose(alone / size, expected.qdd / size, rtol=0, atol=1e-11)
        assert (solution.rank, solution.status) == (rank, Status.OK)
        force = np.abs(expected.multipliers).max()
        np.testing.assert_allclose(
            solution.multipliers / force, expected.multipliers / force, rtol=0, atol=1e-9
        )
    assert dynamics.general == (rank < dynamics.rows)


@pytest.mark.parametrize("angle", [0.0, 1e-4])
def test_after_a_singular_start_regular_states_are_quick_again(angle):
    machine = shipped("five_bar")
    legs = {"crank": angle, "coupler": -angle, "middle": angle, "right": angle}
    flat = machine.state(legs)  # all bars on one line, or nearly: then the rank is 3 by a hair
    dynamics = Counted(machine)
    for _ in range(3):
        assert dynamics.evaluate(flat).rank == (3 if angle else 2)
    regular = states(machine, 40)
    for state in regular:
        assert dynamics.evaluate(state).rank == 3
    assert dynamics.general < 3 + 12


@pytest.mark.parametrize(
    "constraints",
    ["", "constraints: {pin: {type: point, parent: {link: base}, child: {link: lid}}}"],
)
def test_a_robot_without_joints_has_an_acceleration_of_no_entries(constraints):
    parts = link("base") + link("lid") + joint("glue", "base", "lid", kind="fixed")
    still = mechanism(parts, constraints)
    dynamics = still.dynamics("interpreted")
    state = still.state(still.assemble())
    solution = dynamics.evaluate(state)
    assert (solution.qdd.shape, solution.rank, solution.status) == ((0,), 0, Status.OK)
    assert dynamics.acceleration(state.q, state.v).shape == (0,)
