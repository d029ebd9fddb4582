# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of round bodies: gaps and velocities against geometry and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import Mechanism
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import ActiveConstraints, Inputs, State

# surface of the parent, radius and length of the child
PAIRS = {
    "spheres": ("{type: sphere, radius: 0.3}", 0.2, 0.0),
    "point on a capsule": ("{type: capsule, radius: 0.1, length: 0.8}", 0.0, 0.0),
    "sphere on a cylinder": ("{type: cylinder, radius: 0.1}", 0.05, 0.0),
    "capsule on a sphere": ("{type: sphere, radius: 0.2}", 0.1, 0.7),
    "capsules": ("{type: capsule, radius: 0.1, length: 0.9}", 0.05, 0.7),
    "ball in its socket": ("{type: sphere, radius: 3.0, hollow: true}", 0.2, 0.0),
    "point and box": ("{type: box, size: [0.5, 0.4, 0.3]}", 0.0, 0.0),
    "sphere and rounded box": ("{type: box, size: [0.5, 0.4, 0.3], radius: 0.1}", 0.2, 0.0),
    "pin in its bearing": ("{type: cylinder, radius: 3.0, hollow: true}", 0.2, 0.0),
}


def pair(name: str) -> Mechanism:
    surface, radius, length = PAIRS[name]
    parts = "".join(joint(x, "world", x, kind="floating") + link(x) for x in ("a", "b"))
    return mechanism(
        parts,
        f"contacts: {{touch: {{parent: {{link: a}}, child: {{link: b}}, surface: {surface},"
        f" radius: {radius}, length: {length}, friction: 0.5}}}}",
    )


def random_states(machine: Mechanism, count: int = 12) -> list[State]:
    rng = np.random.default_rng(5)
    found: list[State] = []
    while len(found) < count:
        places = rng.uniform(-0.8, 0.8, (2, 3))
        if np.linalg.norm(places[1] - places[0]) < 0.4:
            continue  # half the diagonal of the boxes: the child's centre may be inside
        ends = [np.concatenate([p, Rotation.random(rng=rng).as_quat()]) for p in places]
        found.append(State(0.0, np.concatenate(ends), rng.normal(size=12)))
    return found


def rows(machine: Mechanism, state: State):
    workspace = machine.model.workspace()
    workspace.update(state.q, state.v)
    found = machine.constraints.evaluate(workspace, 0.0, state.q, state.v)
    return found, workspace


def moved(machine: Mechanism, state: State, dt: float) -> State:
    return State(0.0, machine.model.integrate(state.q, dt * state.v), state.v)


def nearest(machine: Mechanism, name: str, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Nearest points of the segments, by search."""
    surface, _, length = PAIRS[name]
    if "box" in surface:
        turned, origin = Rotation.from_quat(state.q[3:7]), state.q[:3]
        local = turned.inv().apply(state.q[7:10] - origin)
        clamped = np.clip(local, [-0.25, -0.2, -0.15], [0.25, 0.2, 0.15])
        return origin + turned.apply(clamped), state.q[7:10]
    half = 0.5 * float(surface.partition("length: ")[2].rstrip("}") or 0.0)
    half = 20.0 if "cylinder" in surface else half
    a, b = state.q[:7], state.q[7:]
    axes = [Rotation.from_quat(x[3:]).as_matrix()[:, 2] for x in (a, b)]

    def points(x):
        return a[:3] + x[0] * axes[0], b[:3] + x[1] * axes[1]

    best = min(
        (
            minimize(
                lambda x: np.sum((points(x)[1] - points(x)[0]) ** 2),
                start,
                bounds=[(-half, half), (-0.5 * length, 0.5 * length)],
                options={"ftol": 1e-15, "gtol": 1e-12},
            )
            for start in ([0.0, 0.0], [half, 0.0])
        ),
        key=lambda found: found.fun,
    )
    return points(best.x)


@pytest.mark.parametrize("name", PAIRS)
def test_gap_and_velocities_are_those_of_the_geometry(name: str) -> None:
    machine = pair(name)
    surface, radius, _ = PAIRS[name]
    own = float(surface.partition("radius: ")[2].partition(",")[0].rstrip("}") or 0.0)
    side = -1.0 if "hollow" in surface else 1.0
    for state in random_states(machine):
        found, workspace = rows(machine, state)
        there = nearest(machine, name, state)
        w = there[1] - there[0]
        # the search ends within about 1e-8 of a point, where the distance changes with its square
        gap = side * (np.linalg.norm(w) - own) - radius
        assert found.residual[0] == pytest.approx(gap, abs=1e-7)
        n = side * w / np.linalg.norm(w)
        contact = there[1] - radius * n
        twists = [
            np.concatenate(
                [Rotation.from_quat(q[3:]).apply(v[:3]), Rotation.from_quat(q[3:]).apply(v[3:])]
            )
            for q, v in zip(np.split(state.q, 2), np.split(state.v, 2), strict=True)
        ]
        speeds = [
            twist[:3] + np.cross(twist[3:], contact - q[:3])
            for q, twist in zip(np.split(state.q, 2), twists, strict=True)
        ]
        u = speeds[1] - speeds[0]
        assert found.rate[0] == pytest.approx(n @ u, abs=1e-5)
        # velocities across the normal, whichever the directions are
        across = np.linalg.norm(u - (n @ u) * n)
        assert np.hypot(*found.rate[1:]) == pytest.approx(across, abs=1e-5)
        directions = machine.constraints.wrenches(workspace)[:, :3]
        np.testing.assert_allclose(directions @ directions.T, np.eye(3), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", PAIRS)
def test_biases_are_derivatives_of_rates(name: str) -> None:
    machine, h = pair(name), 1e-5
    for state in random_states(machine):
        before, after = (rows(machine, moved(machine, state, x))[0] for x in (-h, h))
        found = rows(machine, state)[0]
        gap_rate = (after.residual[0] - before.residual[0]) / (2.0 * h)
        # errors of h² and of rounding over h
        assert found.rate[0] == pytest.approx(gap_rate, abs=1e-7)
        rates = (after.rate - before.rate) / (2.0 * h)
        np.testing.assert_allclose(found.bias, rates, rtol=0, atol=2e-6)


OFTEN = ("capsules", "ball in its socket", "sphere and rounded box")


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[] if x in OFTEN else [pytest.mark.slow]) for x in PAIRS]
)
def test_c_is_the_same(name: str) -> None:
    machine = pair(name)
    compiled, reference = CompiledDynamics(machine), InterpretedDynamics(machine)
    inputs = Inputs(active=ActiveConstraints(frozenset({"touch", "touch.sticking"})))
    for state in random_states(machine, 4):
        there, here = compiled.evaluate(state, inputs), reference.evaluate(state, inputs)
        size = 1.0 + np.abs(here.qdd).max()
        np.testing.assert_allclose(there.qdd, here.qdd, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("height", [0.0, 1e-17, -1e-17, -1e-3])
@pytest.mark.parametrize("face", range(6))
def test_on_a_face_of_a_box_it_is_a_plane(face: int, height: float) -> None:
    """Whatever rounding does: no curvature, and the normal of the face."""
    machine = pair("point and box")
    axis, side = face % 3, 1.0 if face < 3 else -1.0
    state = random_states(machine, 1)[0]
    place = np.array([0.05, -0.03, 0.02])
    place[axis] = side * (np.array([0.25, 0.2, 0.15])[axis] + height)
    state.q[:7] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
    state.q[7:10] = place
    state.v[:6] = 0.0
    found, workspace = rows(machine, state)
    assert found.residual[0] == pytest.approx(height, abs=1e-16)
    normal = machine.constraints.wrenches(workspace)[0, :3]
    np.testing.assert_allclose(normal, side * np.eye(3)[axis], rtol=0, atol=1e-15)
    # a point of a body that turns, on a plane: v̇ = ω × v, both in the body
    turned = Rotation.from_quat(state.q[10:])
    v, omega = (turned.apply(part) for part in np.split(state.v[6:], 2))
    assert found.bias[0] == pytest.approx(normal @ np.cross(omega, v), abs=1e-9)
