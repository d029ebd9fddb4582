"""Batches: every state as if it had been evaluated alone, whatever rank its neighbours have."""

import numpy as np
import pytest
from mechanism_builder import closed_states, mechanism, pinned_arm, shipped

from uk_dynamics.compilation import compiler
from uk_dynamics.core.solution import Status
from uk_dynamics.exceptions import InputError, StateError, UndeterminedMotionError
from uk_dynamics.mechanism.batch import STATUSES
from uk_dynamics.mechanism.state import ActiveConstraints, Inputs

QUICK = ("five_bar", "spiral_particle")
# redundant rows of velocities, rolling, distances, no rows, and many of them
OTHERS = ("differential_drive", "rolling_disc", "swarm", "two_mass_spring", "stewart_platform")
# As single compiled and interpreted evaluations: rounding times conditions of up to 1e4. Near the
# rank tolerance multipliers are worse determined than accelerations, by that condition again.
RELATIVE = {"qdd": 1e-10, "constraint_force": 1e-10, "residual": 1e-10, "multipliers": 1e-9}

needs_compiler = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)


def compare(machine, q, v, tau=None, t=0.0, inputs=None, backend="compiled"):
    """A batch against single interpreted evaluations; gives the batch."""
    inputs = inputs or Inputs()
    batch = machine.dynamics(backend).evaluate_batch(q, v, tau, t=t, inputs=inputs)
    single = machine.dynamics("interpreted")
    times = np.broadcast_to(t, len(q))
    for k in range(len(q)):
        force = None if tau is None else tau[k]
        given = Inputs(
            force, stabilize=inputs.stabilize, active=inputs.active, references=inputs.references
        )
        expected = single.evaluate(machine.state(q[k], v[k], times[k]), given)
        assert batch.rank[k] == expected.rank
        assert STATUSES[batch.status[k]] is expected.status
        assert list(batch.determined[k]) == list(expected.determined)
        size = max(1.0, float(np.abs(expected.qdd).max(initial=0.0)))
        for name, relative in RELATIVE.items():
            right = getattr(expected, name)
            scale = max(size, float(np.abs(right).max(initial=0.0)))
            assert getattr(batch, name)[k] == pytest.approx(right, abs=relative * scale), name
    return batch


def some(machine, count, seed=5):
    """States on the constraints, and the same a little off; mixed, so that lanes differ."""
    rng = np.random.default_rng(seed)
    states = list(closed_states(machine, rng, count))
    q = np.array([s.q for s in states])
    v = np.array([s.v for s in states])
    off = np.array([machine.model.integrate(x, 1e-3 * rng.standard_normal(v.shape[1])) for x in q])
    order = rng.permutation(2 * count)
    tau = rng.standard_normal((2 * count, v.shape[1]))
    return np.vstack([q, off])[order], np.vstack([v, v])[order], tau


@needs_compiler
@pytest.mark.parametrize("name", QUICK)
def test_a_batch_is_its_states_one_by_one(name):
    machine = shipped(name)
    q, v, tau = some(machine, 15)
    compare(machine, q[:27], v[:27], tau[:27])  # not a multiple of any vector


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_a_batch_is_its_states_one_by_one_on_other_mechanisms(name):
    machine = shipped(name)
    compare(machine, *some(machine, 12), inputs=Inputs(stabilize=False))


@needs_compiler
def test_lanes_of_different_rank_do_not_disturb_each_other():
    machine = shipped("five_bar")
    angles = np.array([0.0, 1e-9, 0.3, 1e-4, 3e-4, 0.0, -0.7, 1e-2, 1.0])
    q = angles[:, None] * np.array([1.0, -1.0, 1.0, 1.0])
    v = np.where(np.arange(9)[:, None] % 2, 2.0, 0.0) * np.array([1.0, -1.0, 1.0, 1.0])
    q[4] += [1e-2, 0.0, 0.0, 0.0]  # open: the redundant row stands out
    batch = compare(machine, q, v)
    assert len(set(batch.rank)) == 3


@needs_compiler
def test_contradictions_are_told_by_lane():
    machine = pinned_arm(
        "  one: {type: joint, joint: j1}\n  two: {type: expression, expression: j1 + 0.5*t**2}\n"
    )
    zeros = np.zeros((3, len(machine.model.velocity_names)))
    inputs = Inputs(stabilize=False)
    batch = compare(machine, zeros, zeros, t=[0.0, 1.0, 2.0], inputs=inputs)
    assert {STATUSES[s] for s in batch.status} == {Status.INCONSISTENT}


@needs_compiler
def test_references_and_switched_rows_reach_every_lane():
    machine = shipped("landing_leg")
    q = machine.start().q + np.linspace(0.0, 0.01, 5)[:, None]
    v = np.ones_like(q)
    for names, rank in ((frozenset({"foot"}), 2), (frozenset(), 0)):
        batch = compare(machine, q, v, inputs=Inputs(active=ActiveConstraints(names)))
        assert set(batch.rank) == {rank}
    moved = pinned_arm(
        "  drive: {type: joint, joint: j2,"
        " reference: {type: sinusoid, amplitude: 0.3, frequency: 1.0}}\n",
        lengths=(1.0, 0.7, 0.5),
    )
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-1.0, 1.0, (2, 5, 3))
    compare(moved, q, v, t=np.linspace(0.0, 0.7, 5))
    compare(moved, q, v, t=0.3)


@needs_compiler
def test_large_angles_keep_their_sines():
    machine = shipped("five_bar")
    q, v, tau = some(machine, 4)
    turns = 2.0 * np.pi * np.array([1.0, -1.0, 0.0, 0.0])
    expected = machine.dynamics("compiled").evaluate_batch(q, v, tau)
    for count in (1, 1000, 10**6):
        # q itself is only known to its own rounding there, 2e-10 at a million turns
        found = machine.dynamics("compiled").evaluate_batch(q + count * turns, v, tau)
        assert found.qdd == pytest.approx(expected.qdd, rel=1e-5 * count / 1e3, abs=1e-8)


@needs_compiler
def test_threads_change_nothing():
    machine = shipped("five_bar")
    q, v, tau = some(machine, 20)
    dynamics = machine.dynamics("compiled")
    one = dynamics.evaluate_batch(q, v, tau, threads=1)
    two = dynamics.evaluate_batch(q, v, tau, threads=3)
    for name in ("qdd", "constraint_force", "multipliers", "rank"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    few = dynamics.evaluate_batch(q, v, tau, forces=False)
    assert few.qdd == pytest.approx(one.qdd, abs=1e-9)
    assert few.multipliers is None


@needs_compiler
def test_states_without_an_answer_are_left_to_the_other_evaluator_or_refused():
    parts = (
        '<link name="base"/><link name="l1"/>'
        '<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/></joint>'
    )
    held = mechanism(parts, "constraints:\n  hold: {type: joint, joint: j1}\n")
    compare(held, np.zeros((3, 1)), np.ones((3, 1)))
    with pytest.raises(UndeterminedMotionError, match="j1"):
        mechanism(parts).dynamics("compiled").evaluate_batch(np.zeros((3, 1)), np.zeros((3, 1)))


def test_the_interpreted_evaluator_knows_batches_too():
    machine = shipped("five_bar")
    q, v, tau = some(machine, 3)
    compare(machine, q, v, tau, backend="interpreted")
    none = machine.dynamics().evaluate_batch(np.zeros((0, 4)), np.zeros((0, 4)))
    assert none.qdd.shape == none.constraint_force.shape == none.multipliers.shape == (0, 4)


@pytest.mark.parametrize("part", ["q", "v", "tau", "t"])
def test_wrong_shapes_are_named(part):
    machine = shipped("five_bar")
    given = {"q": np.zeros((2, 4)), "v": np.zeros((2, 4)), "tau": np.zeros((2, 4)), "t": [0.0, 1.0]}
    given[part] = np.zeros((2, 3)) if part != "t" else np.zeros(3)
    with pytest.raises(StateError) as caught:
        machine.dynamics().evaluate_batch(**given)
    assert caught.value.place == part or part == "q"


def test_efforts_have_one_place():
    machine = shipped("five_bar")
    with pytest.raises(InputError, match="give generalized forces as tau"):
        machine.dynamics().evaluate_batch(
            np.zeros((1, 4)), np.zeros((1, 4)), inputs=Inputs(tau=np.zeros(4))
        )


@needs_compiler
def test_lanes_that_are_not_regular_stand_beside_others_that_are():
    machine = pinned_arm(
        "  tip: {type: frame, axes: [x, z], parent: {link: base, xyz: [1.6, 0, 0]},"
        " child: {link: l3}}\n",
        lengths=(1.0, 0.7, 0.5),
        more="initial_guess: {j1: 0.4, j2: -0.9}\n",
    )
    bends = np.array([0.3, 0.4, 0.5, 0.6, 0.3, 0.0, 1e-4, 2e-4, 0.7])
    batch = compare(machine, bends[:, None] * np.array([1.0, -1.0, 2.0]), np.full((9, 3), 0.1))
    assert set(batch.rank) == {1, 2}
