# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Large trees with local loops: articulated bodies give what dense matrices give."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.mechanism_builder import clustered

from uk_dynamics.core.tree.clusters import Tree
from uk_dynamics.exceptions import InputError, SimulationError, UkDynamicsError
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.resolution.natural_scale import local_structure
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate
from uk_dynamics_studies.benchmarks.loop_ladder import loop_ladder, swinging

# Absolute, m/s² and rad/s² of accelerations up to some 40: dense matrices refer to the world's
# origin and lose digits with the length of the ladder.
SAME = 1e-9


def both(mechanism: Mechanism):
    """The dense evaluator of a small mechanism, and that by clusters."""
    dense = mechanism.dynamics("interpreted")
    assert mechanism.local is None
    mechanism.local = local_structure(
        mechanism.model,
        mechanism.constraints,
        mechanism.hierarchy,
        mechanism.spec.solver,
        mechanism.spec.model.length,
        least=0,
    )
    assert mechanism.local is not None
    return dense, mechanism.dynamics("interpreted")


def pulled(mechanism: Mechanism, seed: int) -> Inputs:
    return Inputs(tau=np.random.default_rng(seed).normal(size=mechanism.model.nv))


@pytest.mark.parametrize("cells", [1, 2, 9])
@pytest.mark.parametrize(
    "rows", [{}, {"type: frame\n    axes: [x, z]": "type: hinge\n    axis: [0, 1, 0]"}]
)
def test_clusters_give_what_dense_matrices_give(cells, rows):
    mechanism = loop_ladder(cells, **rows)
    dense, local = both(mechanism)
    for seed in range(3):
        state, inputs = swinging(mechanism, seed), pulled(mechanism, seed)
        expected, found = dense.evaluate(state, inputs), local.evaluate(state, inputs)
        assert found.rank == expected.rank == 2 * cells
        assert found.status == expected.status
        for name in ("qdd", "constraint_force", "multipliers", "residual"):
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected, name), rtol=0.0, atol=SAME, err_msg=name
            )
        np.testing.assert_array_equal(found.determined, expected.determined)
        assert local.energy(state).total == pytest.approx(dense.energy(state).total, abs=1e-10)


def test_a_row_that_depends_on_others_nearly_is_dropped_by_the_same_rule():
    mechanism = loop_ladder(3)
    dense, local = both(mechanism)
    q = swinging(mechanism).q
    for angle in (0.5 * np.pi, 0.5 * np.pi - 1e-6):  # the bars of a cell fall on one line
        for name, value in (("left_2", angle), ("right_2", angle), ("level_2", -angle)):
            q[mechanism.model.position_index(name)] = value
        state = State(0.0, q, np.zeros(mechanism.model.nv))
        expected, found = dense.evaluate(state), local.evaluate(state)
        assert found.rank == expected.rank
        assert found.status == expected.status
        np.testing.assert_allclose(found.qdd, expected.qdd, rtol=0.0, atol=SAME)


def test_projection_finds_the_same_state():
    mechanism = loop_ladder(5)
    dense, local = both(mechanism)
    state = swinging(mechanism)
    off = State(0.0, state.q + 1e-3 * pulled(mechanism, 4).tau, state.v + 0.1)
    expected, found = dense.project(off), local.project(off)
    np.testing.assert_allclose(found.q, expected.q, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(found.v, expected.v, rtol=0.0, atol=1e-12)


def test_bodies_and_joints_make_the_mass_matrix():
    mechanism = loop_ladder(4)
    _, local = both(mechanism)
    inertia = local.prepare(swinging(mechanism)).terms.M
    workspace = mechanism.model.workspace()
    workspace.update_positions(swinging(mechanism).q)
    M = workspace.mass
    np.testing.assert_allclose(inertia.dense(), M, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(inertia.diagonal(), np.diag(M), rtol=0.0, atol=1e-12)
    x = np.random.default_rng(0).normal(size=len(M))
    np.testing.assert_allclose(inertia.multiply(x), M @ x, rtol=0.0, atol=1e-11)


def test_a_tree_workspace_says_what_pinocchio_says():
    model = Mechanism.from_file("stewart_platform").model  # prismatic joints and tilted axes
    generator = np.random.default_rng(0)
    q, v = generator.normal(size=(2, model.nv))
    expected, found = model.workspace(), model.tree_workspace()
    for workspace in (expected, found):
        workspace.update(q, v)
    for name in ("bias", "jacobian", "jacobian_rate", "rotation", "translation"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=0.0, atol=1e-10, err_msg=name
        )
    np.testing.assert_allclose(found.mass.dense(), expected.mass, rtol=0.0, atol=1e-11)
    assert found.kinetic_energy(q, v) == pytest.approx(expected.kinetic_energy(q, v), rel=1e-12)
    assert found.potential_energy(q) == pytest.approx(expected.potential_energy(q), rel=1e-12)


@pytest.mark.slow
def test_memory_grows_with_the_size_and_not_with_its_square():
    def peak(cells: int) -> int:
        mechanism = loop_ladder(cells)
        assert mechanism.local is not None, "large ladders are taken by clusters"
        state = swinging(mechanism)
        tracemalloc.start()
        mechanism.dynamics().evaluate(state)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(240) < 2.5 * peak(120)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=12), st.integers(0, 1000))
def test_sums_over_paths_and_subtrees(steps, seed):
    parents: list[int] = []
    path: list[int] = []
    for step in steps:  # go up some bodies, then add one
        path = path[: max(len(path) - step, 0)]
        parents.append(path[-1] if path else -1)
        path.append(len(parents) - 1)
    n = len(parents)
    above = np.eye(n)
    for body, parent in enumerate(parents):
        if parent >= 0:
            above[body] += above[parent]
    x = np.random.default_rng(seed).normal(size=(n, 2))
    tree = Tree(parents)
    np.testing.assert_allclose(tree.path_sum(x), above @ x, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(tree.subtree_sum(x), above.T @ x, rtol=0.0, atol=1e-13)


def test_a_tree_in_another_order_is_refused():
    with pytest.raises(InputError, match="depth first"):
        Tree([-1, -1, 0])


FAMILY = """
schema: 1
model: {urdf: package://uk_dynamics/urdf/loop_ladder.urdf.xacro, xacro: {cells: 3}}
constraints:
  pin:
    type: point
    indices: {cells: 3}
    for_each: {i: cells}
    where: i != 2
    parent: {link: "rung[i]", xyz: [0.3, 0, 0]}
    child: {link: "right_rail[i]", xyz: [0.2, 0, 0]}
"""


def test_one_entry_stands_for_a_family_of_constraints():
    spec = MechanismSpec.from_text(FAMILY)
    assert [c.name for c in spec.constraints] == ["pin_1", "pin_3"]
    assert spec.constraints[1].parent.link == "rung_3"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{i: cells}", "{i: rungs}", 'no index set "rungs"'),
        ("rung[i]", "rung[k]", "k"),
        ("i != 2", "i ==", "constraints.pin"),
        ("i != 2", "i > 7", "no constraint"),
        ("for_each: {i: cells}", "level: 1", "needs both"),
    ],
)
def test_a_family_that_is_none_is_told(old, new, said):
    with pytest.raises(UkDynamicsError) as caught:
        MechanismSpec.from_text(FAMILY.replace(old, new))
    assert said in str(caught.value)
    assert "constraints.pin" in str(caught.value)


@pytest.mark.slow
def test_a_large_ladder_is_simulated_like_any_other_machine():
    mechanism = loop_ladder(110)
    trajectory = simulate(mechanism, swinging(mechanism), 0.01, method="rk4", step=0.0025)
    energy = trajectory.kinetic + trajectory.potential
    # Rounding of positions up to 22 m from the origin, and RK4 at 2.5 ms on 100 J.
    assert np.abs(trajectory.residual).max() <= 1e-12
    assert np.abs(energy - energy[0]).max() <= 1e-5


def test_loops_that_do_not_close_are_named():
    state = State(0.0, np.array([0.0, 0.0, 0.0, 1.3, -1.9, 0.5]), np.zeros(6))
    for mechanism in (clustered(loop_ladder(2)), loop_ladder(2)):
        with pytest.raises(SimulationError, match=r"pin_2\.z and pin_2\.x contradict each other"):
            InterpretedDynamics(mechanism).project(state)
