# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of two convex bodies in C: the interpreted ones, and closed forms over long motions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulation.test_hull_contacts import GROUND, SIZE, G, box, boxes, turned
from simulation.test_hulls_between_events import over_the_rim

import uk_dynamics as ukd
from uk_dynamics.compilation.build import compiler
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.constraints.rows import POINTS
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import ActiveConstraints, Inputs, State

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)
SLAB = GROUND.replace("4 4 1", "0.5 0.4 1").replace("0 0 -0.5", "0 0 -0.35")


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A body of 40 corners and 76 faces, none of which are in line with others."""
    trimesh = pytest.importorskip("trimesh")
    corners = np.random.default_rng(1).standard_normal((40, 3))
    corners *= 0.15 / np.linalg.norm(corners, axis=1)[:, None]
    path: Path = tmp_path_factory.mktemp("meshes") / "ball.stl"
    trimesh.convex.convex_hull(corners).export(path)
    return f'<mesh filename="file://{path}"/>'


@pytest.fixture(scope="module")
def pair() -> ukd.Mechanism:
    return boxes(box("b0", (0.4, 0.5, 0.1), 10.0), box("b1"))


@pytest.mark.parametrize(
    "shape",
    ["ball", pytest.param('<cylinder radius="0.1" length="0.2"/>', marks=pytest.mark.slow)],
)
def test_rows_are_those_of_the_interpreted_evaluator(
    shape: str, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    """Corners, edges and faces over each other, near, far and inside: each of the eight points."""
    given = request.getfixturevalue("ball") if shape == "ball" else shape
    machine = boxes(box("b0", shape=given), ground=SLAB)
    compiled, reference = CompiledDynamics(machine), InterpretedDynamics(machine)
    rng, most = np.random.default_rng(2), 0
    for k in range(60):
        quaternion = rng.standard_normal(4)
        if k % 2:  # nearly face on face, where there are most points
            quaternion = np.array([0.0, 0.0, 0.0, 1.0]) + 0.02 * quaternion
        quaternion /= np.linalg.norm(quaternion)
        place = rng.uniform([-0.4, -0.3, 0.15], [0.4, 0.3, 0.3])
        state = State(0.0, np.array([*place, *quaternion]), rng.standard_normal(6))
        for point in range(1, POINTS + 1):
            name = f"c0.{point}"
            rows = machine.constraints.slices[name]
            active = ActiveConstraints(frozenset({name, f"{name}.sticking"}))
            inputs = Inputs(active=active, stabilize=False)
            found, expected = compiled.evaluate(state, inputs), reference.evaluate(state, inputs)
            most = max(most, point * bool(expected.determined[rows].all()))
            # of edges that cross at a thousandth of a right angle the bias is a thousand times v²
            np.testing.assert_allclose(found.qdd, expected.qdd, rtol=1e-9, atol=1e-10)
    assert most >= 3
    assert "answers wrongly" not in caplog.text


def test_steps_are_those_of_the_interpreted_evaluator(
    pair: ukd.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two boxes fall, one on the other: corners, then edges, then faces strike and slide."""
    compiled, reference = CompiledDynamics(pair), InterpretedDynamics(pair)
    in_c, in_python = ContactStepping(pair), ContactStepping(pair)
    monkeypatch.setattr(in_c, "step", None)  # no step is left to Python
    fallen = [0.0, 0.0, 0.1, *turned([1, 0.7, 0.2], 0.3)]
    start = pair.state([*fallen, 0.02, 0.03, 0.3, *turned([0.2, 1, 0.5], 0.4)], [0.0] * 12)
    there = here = start
    active = same = pair.hierarchy.initial
    closed: set[str] = set()
    for k in range(200):
        given = Inputs(tau=np.zeros(12), stabilize=False, active=active)
        here, active = in_python.step(here, 1e-3, reference, given)
        there, same = in_c.advance(there, 1e-3 * (k + 1), 1, compiled, replace(given, active=same))
        closed |= active.names
    # rounding of 200 steps, multiplied by impacts; which of four redundant points carry is rounding
    np.testing.assert_allclose(there.q, here.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(there.v, here.v, rtol=0, atol=1e-8)
    assert len([name for name in closed if not name.endswith("sticking")]) > 6


def test_a_box_slides_on_a_box_and_drags_it_along(pair: ukd.Mechanism) -> None:
    """The upper one by μ g; the ground holds the lower one, whose friction is larger."""
    q = [0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0, -0.05, 0.0, 0.15, *turned([0, 0, 1], 0.3)]
    speed = 0.5
    state = pair.state(q, [0.0] * 6 + [speed * np.cos(0.3), -speed * np.sin(0.3), *[0.0] * 4])
    run = ukd.simulate(pair, state, 0.2, method="moreau", step=1e-3)
    stops = speed / (0.5 * G)
    t = np.minimum(run.t, stops)
    expected = speed * t - 0.25 * G * t * t
    # m: a step in which it stops, at a millisecond's friction, and the first one
    np.testing.assert_allclose(run.q[:, 7] + 0.05, expected, rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(run.q[:, :3] - run.q[0, :3], 0.0, rtol=0.0, atol=1e-10)
    total = sum(run.contact(f"c0.{k}").normal for k in range(1, POINTS + 1))
    np.testing.assert_allclose(total[2:], 11.0 * G, rtol=0.0, atol=1e-8)


@pytest.mark.slow
def test_features_that_are_held_between_events_are_held() -> None:
    """Which C does not do: it looks for what is nearest, and numbers it again."""
    compiled, interpreted = (over_the_rim("DOP853", backend=x) for x in ("compiled", "interpreted"))
    np.testing.assert_allclose(compiled.q, interpreted.q, rtol=0.0, atol=1e-12)


@pytest.mark.slow
def test_a_box_tips_over_its_edge() -> None:
    """It turns about the edge that stands with the energy of its fall."""
    machine = boxes(box("b0"), friction=4.0)
    width, _, height = SIZE
    arm, upright = 0.5 * np.hypot(width, height), np.arctan2(width, height)
    start = 0.1  # rad, from where its middle is over the edge
    place = [arm * np.sin(start), 0.0, arm * np.cos(start)]
    state = machine.state([*place, *turned([0, 1, 0], start + upright)], [0.0] * 6)
    run = ukd.simulate(machine, state, 0.24, method="moreau", step=1e-4)
    angle = 2.0 * np.arctan2(run.q[:, 4], run.q[:, 6]) - upright
    inertia = (width**2 + height**2) / 12.0 + arm**2
    speed = np.sqrt(2.0 * G * arm * np.abs(np.cos(start) - np.cos(angle)) / inertia)
    assert angle[-1] > start + 0.2
    # rad/s, of 3: a step's error of order one, g/l times 0.1 ms
    np.testing.assert_allclose(run.v[:, 4], speed, rtol=0.0, atol=2e-3)
    # m: the edge does not slip
    np.testing.assert_allclose(run.q[:, 0] - arm * np.sin(angle), 0.0, rtol=0.0, atol=1e-7)
    touching = sum(run.contact(f"c0.{k}").normal[-1] > 0.0 for k in range(1, POINTS + 1))
    assert touching in (1, 2)


@pytest.mark.slow
def test_what_tumbles_is_never_inside_nor_gains_energy() -> None:
    """Eight boxes that fall on corners and edges of a slab, in rollouts."""
    machine = boxes(box("b0"), ground=GROUND.replace("4 4 1", "0.5 0.5 1"), restitution=0.3)
    rng, dynamics = np.random.default_rng(5), machine.dynamics("compiled")
    quaternions = rng.standard_normal((8, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1)[:, None]
    places = rng.uniform([-0.3, -0.3, 0.3], [0.3, 0.3, 0.4], (8, 3))
    q, steps = np.hstack((places, quaternions)), 400
    efforts = np.zeros((8, steps, 6))
    over = {"steps": steps, "dt": 1e-3, "every": 4, "method": "moreau"}
    runs = dynamics.rollout(q, np.zeros((8, 6)), efforts, **over)
    assert not runs.stopped
    contacts = ContactStepping(machine)
    for all_q, all_v in zip(runs.q, runs.v, strict=True):
        states = [State(0.0, *x) for x in zip(all_q, all_v, strict=True)]
        energy = np.array([machine.energy(state).total for state in states])
        # J, of 4: a step's error in flight, h³
        assert np.diff(energy).max() < 1e-6
        assert min(contacts.places(state).gap.min() for state in states) > -1e-9  # m
        assert energy[-1] < energy[0] - 0.1
