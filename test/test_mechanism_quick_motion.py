"""Evaluators take the quick form at most states, whatever the states before were like."""

from __future__ import annotations

import numpy as np
import pytest
from mechanism_builder import shipped

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


def states(mechanism: Mechanism, count: int) -> list[State]:
    rng = np.random.default_rng(0)
    start = mechanism.assemble()
    dynamics = mechanism.dynamics("interpreted")
    found = []
    for _ in range(count):
        v = rng.standard_normal(mechanism.model.nv)
        q = mechanism.model.integrate(start, 0.05 * rng.standard_normal(mechanism.model.nv))
        found.append(dynamics.project(mechanism.state(q, v)))
    return found


@pytest.mark.parametrize(
    ("name", "rank"), [("five_bar", 3), ("rrr3", 6), ("four_bar", 2), ("stewart_platform", 18)]
)
def test_redundant_rows_cost_one_state(name, rank):
    mechanism = shipped(name)
    dynamics = Counted(mechanism)
    for state in states(mechanism, 10):
        alone = dynamics.acceleration(state.q, state.v)
        solution = dynamics.evaluate(state)
        general = InterpretedDynamics(mechanism).prepare(state)
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


def test_after_a_singular_start_regular_states_are_quick_again():
    mechanism = shipped("five_bar")
    flat = mechanism.state(np.zeros(mechanism.model.nq))  # all bars on one line
    dynamics = Counted(mechanism)
    for _ in range(3):
        assert dynamics.evaluate(flat).rank < 3
    regular = states(mechanism, 40)
    for state in regular:
        assert dynamics.evaluate(state).rank == 3
    assert dynamics.general < 3 + 12
