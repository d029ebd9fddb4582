# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches: shapes, threads, and states without an answer; see also test_conformance."""

import numpy as np
import pytest
from support.mechanism_builder import closed_states, joint, link, mechanism, shipped

from uk_dynamics.compilation.build import compiler
from uk_dynamics.exceptions import InputError, StateError, UndeterminedMotionError
from uk_dynamics.mechanism.resolution.state import Inputs, State, States

needs_compiler = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)


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
def test_large_angles_keep_their_sines():
    machine = shipped("five_bar")
    q, v, tau = some(machine, 4)
    turns = 2.0 * np.pi * np.array([1.0, -1.0, 0.0, 0.0])
    expected = machine.dynamics("compiled").evaluate_batch(q, v, tau)
    for count in (1, 1000, 10**6):
        # q itself is only known to its own rounding there, 2e-10 at a million turns
        found = machine.dynamics("compiled").evaluate_batch(q + count * turns, v, tau)
        assert found.qdd == pytest.approx(expected.qdd, rel=1e-5 * count / 1e3, abs=1e-8)


@pytest.mark.slow
@needs_compiler
def test_angles_in_all_directions():
    """The arctangent in lanes, whose ranges meet at axes and a quarter of the way between them."""
    slides = "".join(
        link(f"at_{x}") + joint(x, "ground", f"at_{x}", kind="prismatic") for x in "xyz"
    )
    machine = mechanism(
        link("ground") + slides,
        "forces: {push: {type: expression, joints: {z: 1}, expression: 'atan2(y, x) + atan(y)'}}",
    )
    eighths = np.arange(-8, 9) * np.pi / 8
    near = np.add.outer(eighths, [0.0, 1e-15, -1e-15, 1e-9, -1e-9, 0.1, -0.1]).ravel()
    x, y = (np.outer([1e-9, 1.0, 3e7], f(near)).ravel() for f in (np.cos, np.sin))
    x[np.abs(x) < 1e-16], y[np.abs(y) < 1e-16] = 0.0, 0.0  # on the axes
    q = np.column_stack((x, y, np.zeros_like(x)))
    found = machine.dynamics("compiled").evaluate_batch(q, np.zeros_like(q), np.zeros_like(q))
    expected = np.arctan2(y, x) + np.arctan(y)
    # a few units in the last place of at most 3 pi / 2
    assert np.abs(found.qdd[:, 2] - expected).max() <= 4e-15


@pytest.mark.slow
@needs_compiler
def test_rotations_near_half_a_turn_and_others():
    """Vectors of which all lanes, some or none take a side of the logarithm of a rotation."""
    machine = mechanism(
        link("ground") + link("left") + link("right") + joint("a", "ground", "left")
        + joint("b", "ground", "right"),
        "constraints:\n"
        "  seam: {type: frame, axes: [ry], parent: {link: left}, child: {link: right}}",
    )  # fmt: skip
    apart = np.linspace(0.1, 3.1, 64)  # in order: 120 degrees are between
    q, v = np.column_stack((0.5 + apart, np.full(64, 0.5))), np.tile([1.0, -0.5], (64, 1))
    found = machine.dynamics("compiled").evaluate_batch(q, v, np.zeros_like(q))
    interpreted = machine.dynamics("interpreted")
    for k in range(len(q)):
        expected = interpreted.evaluate(State(0.0, q[k], v[k])).qdd
        assert np.abs(expected).max() > 10.0  # most of it draws the seam together
        assert np.abs(found.qdd[k] - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.slow
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


@pytest.mark.slow
@needs_compiler
def test_undetermined_motion_is_refused():
    parts = (
        '<link name="base"/><link name="l1"/>'
        '<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/></joint>'
    )
    with pytest.raises(UndeterminedMotionError, match="j1"):
        mechanism(parts).dynamics("compiled").evaluate_batch(np.zeros((3, 1)), np.zeros((3, 1)))


def test_a_batch_may_be_empty():
    none = shipped("five_bar").dynamics("interpreted").evaluate_batch(*np.zeros((2, 0, 4)))
    assert none.qdd.shape == none.constraint_force.shape == none.multipliers.shape == (0, 4)


@pytest.mark.parametrize("part", ["q", "v", "tau", "t"])
def test_wrong_shapes_are_named(part):
    machine = shipped("five_bar")
    given = {"q": np.zeros((2, 4)), "v": np.zeros((2, 4)), "tau": np.zeros((2, 4)), "t": [0.0, 1.0]}
    given[part] = np.zeros((2, 3)) if part != "t" else np.zeros(3)
    with pytest.raises(StateError) as caught:
        machine.dynamics("interpreted").evaluate_batch(**given)
    assert caught.value.place == part or part == "q"


def test_efforts_have_one_place():
    machine = shipped("five_bar")
    with pytest.raises(InputError, match="give generalized forces as tau"):
        machine.dynamics("interpreted").evaluate_batch(
            np.zeros((1, 4)), np.zeros((1, 4)), inputs=Inputs(tau=np.zeros(4))
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five_bar", "rrr3"])
def test_samples_of_arrays_that_are_views_are_those_of_copies(name: str) -> None:
    machine = shipped(name)
    dynamics = machine.dynamics("compiled")
    start = machine.start()
    count, nv = 8, machine.model.nv
    q, v = (np.repeat(x[None], 2 * count, axis=0)[::2] for x in (start.q, start.v))
    tau = np.broadcast_to(np.linspace(-1.0, 1.0, nv), (count, nv))
    views = States(np.zeros(2 * count)[::2], q, v, tau)
    copies = States(*(np.ascontiguousarray(x) for x in views if x is not None))
    given = Inputs(stabilize=False)
    found, expected = (dynamics.samples(states, given).qdd for states in (views, copies))
    np.testing.assert_array_equal(found, expected)
    one = dynamics.evaluate(*views.at(3, given))
    np.testing.assert_allclose(found[3], one.qdd, rtol=0, atol=1e-12)
