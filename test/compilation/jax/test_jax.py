# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches in JAX: sizes, precision, and use in programs of JAX; see also test_conformance."""

from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from support.mechanism_builder import closed_states, pinned_arm, shipped

from uk_dynamics.compilation.jax.jax_tape import double_precision
from uk_dynamics.exceptions import InputError

# not imported in every process that collects tests: it takes seconds
pytestmark = [
    pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed"),
    pytest.mark.together("jax"),
]


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


def some(machine, count):
    """States on the constraints and a little off."""
    rng = np.random.default_rng(5)
    states = list(closed_states(machine, rng, count))
    q, v = np.array([s.q for s in states]), np.array([s.v for s in states])
    off = np.array([machine.model.integrate(x, 1e-3 * rng.standard_normal(v.shape[1])) for x in q])
    return np.vstack([q, off]), np.vstack([v, v]), rng.standard_normal((2 * count, v.shape[1]))


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
