# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints said to do no work do none: the power of their forces vanishes."""

import numpy as np
import pytest
from support.mechanism_builder import arm, closed_states, mechanism, shipped

from uk_dynamics.mechanism.dynamics.nonideal_forces import workless
from uk_dynamics.resources import shipped_files

TURNED = """
constraints:
  turn: {type: joint, joint: j1, reference: %s}
"""


DRIVEN = {"spiral_particle", "swarm"}


@pytest.mark.parametrize("name", sorted(set(shipped_files("mechanism")) - DRIVEN - {"dual_panda"}))
def test_the_power_of_constraint_forces_vanishes(name):
    machine = shipped(name)
    assert workless(machine)
    rng = np.random.default_rng(0)
    for state in closed_states(machine, rng, 3, excursion=1):
        force = machine.dynamics().evaluate(state).constraint_force
        size = np.abs(force) @ np.abs(state.v)
        # Velocities are projected to rounding, times the condition of the rows.
        assert abs(force @ state.v) <= 1e-9 * (1.0 + size)


@pytest.mark.parametrize("name", sorted(DRIVEN))
def test_the_constraints_of_driven_machines_do_work(name):
    machine = shipped(name)
    state = machine.start()
    assert abs(machine.dynamics().evaluate(state).constraint_force @ state.v) > 0.1  # W
    assert not workless(machine)


@pytest.mark.parametrize(
    ("reference", "works"),
    [
        ("{type: constant, value: 0.3}", False),
        ("{type: sinusoid, offset: 0.3, amplitude: 0.1, frequency: 1.0}", True),
        ("{type: live, value: 0.3}", True),
    ],
)
def test_a_moving_reference_drives(reference, works):
    machine = mechanism(arm([1.0, 1.0]), TURNED % reference)
    assert workless(machine) != works


def test_a_constraint_that_yields_takes_and_gives_energy():
    yielding = "{type: constant, value: 0.3}, compliance: 1.0e-3"
    machine = mechanism(arm([1.0, 1.0]), TURNED % yielding)
    force = machine.dynamics().evaluate(machine.state([0.5, 0.0], [1.0, 0.0])).constraint_force
    assert force[0] < -1.0, "it pushes back"
    assert not workless(machine)
