"""Batches in JAX: what the other evaluators say of the same states, to 1e-9 in float64."""

from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from mechanism_builder import closed_states, mechanism, pinned_arm, shipped

from uk_dynamics.compilation.jax_tape import double_precision
from uk_dynamics.core.solution import Status
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.batch import STATUSES
from uk_dynamics.mechanism.state import ActiveConstraints, Inputs

# not imported in every process that collects tests: it takes seconds
pytestmark = [
    pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed"),
    pytest.mark.together("jax"),
]

# Of the largest acceleration or force at the state, as for the evaluator in C: rounding times
# conditions of up to 1e4, and for multipliers that condition again.
RELATIVE = {"qdd": 1e-9, "constraint_force": 1e-9, "residual": 1e-9, "multipliers": 1e-8}


@pytest.fixture(scope="module", autouse=True)
def _compiled_in_half_the_time():
    """Optimized code, which is right within the same bounds, is what test_benchmarks.py runs."""
    import jax

    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@cache
def in_jax(machine):
    """What is compiled once per mechanism and size."""
    return machine.dynamics("jax")


def compare(machine, q, v, tau=None, t=0.0, inputs=None):
    """A batch against single interpreted evaluations; gives the batch."""
    inputs = inputs or Inputs()
    batch = in_jax(machine).evaluate_batch(q, v, tau, t=t, inputs=inputs)
    expected = machine.dynamics("interpreted").evaluate_batch(q, v, tau, t=t, inputs=inputs)
    for name in ("rank", "status", "determined"):
        assert np.array_equal(getattr(batch, name), getattr(expected, name)), name
    size = np.abs(expected.qdd).max(axis=1, initial=1.0)
    for name, relative in RELATIVE.items():
        right = getattr(expected, name)
        scale = np.abs(right).max(axis=1, initial=0.0).clip(min=size)
        off = np.abs(getattr(batch, name) - right).max(axis=1, initial=0.0)
        assert (off <= relative * scale).all(), name
    return batch


def some(machine, count):
    """States on the constraints and a little off."""
    rng = np.random.default_rng(5)
    states = list(closed_states(machine, rng, count))
    q, v = np.array([s.q for s in states]), np.array([s.v for s in states])
    off = np.array([machine.model.integrate(x, 1e-3 * rng.standard_normal(v.shape[1])) for x in q])
    return np.vstack([q, off]), np.vstack([v, v]), rng.standard_normal((2 * count, v.shape[1]))


def test_a_batch_is_what_the_interpreted_evaluator_says():
    machine = shipped("five_bar")  # one of its rows depends on the others
    compare(machine, *some(machine, 30))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart_platform", "rolling_disc", "spiral_particle"])
def test_a_batch_is_what_the_interpreted_evaluator_says_of_others(name):
    machine = shipped(name)
    compare(machine, *some(machine, 12), inputs=Inputs(stabilize=False))


def test_states_of_different_rank_do_not_disturb_each_other():
    machine = shipped("five_bar")
    angles = np.array([0.0, 1e-9, 0.3, 1e-4, 3e-4, 0.0, -0.7, 1e-2, 1.0])
    q = angles[:, None] * np.array([1.0, -1.0, 1.0, 1.0])
    v = np.where(np.arange(9)[:, None] % 2, 2.0, 0.0) * np.array([1.0, -1.0, 1.0, 1.0])
    q[4] += [1e-2, 0.0, 0.0, 0.0]  # open: the redundant row stands out
    assert len(set(compare(machine, q, v).rank)) == 3


@pytest.mark.slow
def test_contradictions_times_references_and_switches_are_those_of_the_state():
    two = pinned_arm(
        "  one: {type: joint, joint: j1}\n  two: {type: expression, expression: j1 + 0.5*t**2}\n"
    )
    zeros = np.zeros((3, len(two.model.velocity_names)))
    batch = compare(two, zeros, zeros, t=[0.0, 1.0, 2.0], inputs=Inputs(stabilize=False))
    assert {STATUSES[s] for s in batch.status} == {Status.INCONSISTENT}
    moved = pinned_arm(
        "  drive: {type: joint, joint: j2,"
        " reference: {type: sinusoid, amplitude: 0.3, frequency: 1.0}}\n",
        lengths=(1.0, 0.7, 0.5),
    )
    q, v = np.random.default_rng(2).uniform(-1.0, 1.0, (2, 5, 3))
    compare(moved, q, v, t=np.linspace(0.0, 0.7, 5))
    leg = shipped("landing_leg")
    q = leg.start().q + np.linspace(0.0, 0.01, 5)[:, None]
    off = ActiveConstraints(frozenset())
    assert set(compare(leg, q, np.ones_like(q), inputs=Inputs(active=off)).rank) == {0}


@pytest.mark.slow
def test_states_without_an_answer_are_left_to_the_other_evaluator():
    parts = (
        '<link name="base"/><link name="l1"/>'
        '<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/></joint>'
    )
    held = mechanism(parts, "constraints:\n  hold: {type: joint, joint: j1}\n")
    compare(held, np.zeros((3, 1)), np.ones((3, 1)))


def test_sizes_and_blocks_change_nothing():
    machine = shipped("five_bar")
    q, v, tau = some(machine, 50)
    dynamics = in_jax(machine)
    first, last = (dynamics.evaluate_batch(q[k], v[k], tau[k]).qdd for k in (slice(64), [-1]))
    dynamics.block = 64
    in_blocks = dynamics.evaluate_batch(q, v, tau).qdd
    # the same operations on the same numbers
    assert np.array_equal(in_blocks[:64], first)
    assert in_blocks[-1:] == pytest.approx(last, abs=1e-12)
    assert dynamics.evaluate_batch(q[:0], v[:0]).qdd.shape == (0, 4)


def test_the_precision_of_the_program_around_it_stays_what_it_was():
    import jax

    machine = shipped("five_bar")
    q, v, tau = some(machine, 1)
    before = jax.numpy.ones(1).dtype
    assert in_jax(machine).evaluate_batch(q, v, tau).qdd.dtype == np.float64
    assert jax.numpy.ones(1).dtype == before == np.float32


def test_a_program_in_jax_may_contain_it():
    import jax

    machine = shipped("five_bar")
    q, v, tau = some(machine, 4)
    dynamics = in_jax(machine)
    with double_precision():

        def power(q, v, tau):
            return (dynamics.accelerations(q, v, tau) * v).sum()

        found = float(jax.jit(power)(q, v, tau))
    expected = (machine.dynamics("interpreted").evaluate_batch(q, v, tau).qdd * v).sum()
    assert found == pytest.approx(expected, rel=1e-9)


def test_what_cannot_be_traced_is_told():
    machine = pinned_arm("  hold: {type: joint, joint: j1, compliance: 1.0e-3}\n")
    with pytest.raises(InputError, match="compliance"):
        machine.dynamics("jax")
