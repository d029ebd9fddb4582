# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of two convex bodies: their rows, against another library, and closed forms."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from uk_dynamics import Mechanism, MotionDerivatives, simulate
from uk_dynamics.compilation.build import compiler
from uk_dynamics.constraints.rows import POINTS, Hull, HullPair
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.contact import ContactDynamics, ContactPoints
from uk_dynamics.mechanism.resolution.state import State

G = 9.81
in_c = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)
SIZE = np.array([0.2, 0.3, 0.1])
GROUND = (
    '<link name="ground"><collision><origin xyz="0 0 -0.5"/><geometry><box size="4 4 1"/>'
    "</geometry></collision></link>"
)


def box(name: str, size=SIZE, mass: float = 1.0, shape: str = "") -> str:
    x, y, z = size
    inertia = mass / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    moments = " ".join(f'i{a}{a}="{i!r}"' for a, i in zip("xyz", inertia.tolist(), strict=True))
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia {moments} ixy="0" ixz="0"'
        f' iyz="0"/></inertial><collision><geometry>{shape or f"<box size={chr(34)}{x} {y} {z}"}'
        f"{'' if shape else chr(34) + '/>'}</geometry></collision></link>"
        f'<joint name="{name}" type="floating"><parent link="ground"/>'
        f'<child link="{name}"/></joint>'
    )


def boxes(*parts: str, gravity=(0.0, 0.0, -G), ground: str = GROUND, **contact) -> Mechanism:
    """Bodies on top of each other, the first on the ground."""
    names = ["ground", *(f"b{k}" for k in range(len(parts)))]
    contacts = {
        f"c{k}": {
            "parent": {"link": names[k]},
            "child": {"link": names[k + 1]},
            "surface": {"type": "collision"},
            "friction": 0.5,
            **contact,
        }
        for k in range(len(parts))
    }
    return Mechanism.from_data(
        {"model": {"gravity": list(gravity)}, "contacts": contacts},
        robot_description=f'<robot name="stack">{ground}{"".join(parts)}</robot>',
    )


def turned(axis, angle: float) -> list[float]:
    unit = np.array(axis) / np.linalg.norm(axis)
    return [*(np.sin(0.5 * angle) * unit).tolist(), float(np.cos(0.5 * angle))]


def steps(machine: Mechanism, q, v, duration: float, backend: str = "interpreted"):
    options = {"method": "moreau", "step": 1e-3, "backend": backend}
    return simulate(machine, machine.state(q, v), duration, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "duration"), [("interpreted", 0.02), pytest.param("compiled", 1.0, marks=in_c)]
)
def test_a_stack_of_five_stands(backend: str, duration: float) -> None:
    machine = boxes(*(box(f"b{k}") for k in range(5)))
    q: list[float] = []
    for k in range(5):
        q += [0.01 * k, 0.02 * (-1) ** k, 0.05 + 0.1 * k, *turned([0, 0, 1], 0.4 * k)]
    run = steps(machine, q, [0.0] * 30, duration, backend)
    assert not run.warnings
    np.testing.assert_allclose(run.q[-1], run.q[0], rtol=0.0, atol=1e-12)  # m
    assert np.abs(run.v).max() < 1e-12  # m/s
    for k in range(5):
        normal = sum(run.contact(f"c{k}.{point}").normal[-1] for point in range(1, POINTS + 1))
        assert normal == pytest.approx((5 - k) * G, abs=1e-9)


def test_it_slides_down_a_slope_of_a_body() -> None:
    angle = 0.7
    machine = boxes(box("b0"), gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)))
    run = steps(machine, [0.0, 0.0, 0.05, *turned([0, 0, 1], 0.3)], [0.0] * 6, 0.05)
    expected = G * (np.sin(angle) - 0.5 * np.cos(angle)) * run.t
    # m/s, after a first step that may end the sticking
    np.testing.assert_allclose(
        run.v[2:] @ rotated(run.q[0], 6)[0], expected[2:], rtol=0.0, atol=1e-8
    )


def rotated(q, nv: int):
    """World axes of the velocity coordinates, which floating joints have in the body."""
    x, y, z, w = q[3:7]
    first = np.zeros((1, nv))
    first[0, :3] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    return first


def test_edges_rest_on_edges() -> None:
    """A bar on its edge across a roof: one point, which carries all of it."""
    ground = GROUND.replace('xyz="0 0 -0.5"', 'rpy="0 0.785398163397448 0"').replace(
        "4 4 1", "0.2 1 0.2"
    )
    bar = box("b0", (1.0, 0.2, 0.2), mass=2.0)
    machine = boxes(bar, ground=ground)
    height = 2.0 * 0.1 * np.sqrt(2.0)
    run = steps(machine, [0.0, 0.0, height, *turned([1, 0, 0], np.pi / 4)], [0.0] * 6, 0.01)
    forces = [run.contact(f"c0.{point}").normal[-1] for point in range(1, POINTS + 1)]
    assert sum(forces) == pytest.approx(2.0 * G, abs=1e-9)
    assert np.abs(run.q[-1] - run.q[0]).max() < 1e-12


def test_a_mesh_rests_on_its_corners(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    corners = np.array(
        [[0.1, 0.0, -0.05], [-0.1, 0.1, -0.05], [-0.1, -0.1, -0.05], [0.0, 0.0, 0.2]]
    )
    path = tmp_path / "wedge.stl"
    trimesh.Trimesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).export(path)
    machine = boxes(box("b0", shape=f'<mesh filename="file://{path}"/>'))
    run = steps(machine, [0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0], [0.0] * 6, 0.005)
    forces = np.array([run.contact(f"c0.{point}").normal[-1] for point in range(1, POINTS + 1)])
    # the weight acts in the origin, a third of the way from the far corners to the near one
    assert sorted(forces[forces > 0.0]) == pytest.approx([0.25 * G, 0.25 * G, 0.5 * G], abs=1e-6)


POSES = {
    "face on face": ([0.01, 0.02, 0.0501], turned([0.01, 0.02, 1.0], 0.4)),
    "corner on face": ([0.0, 0.0, 0.19], turned([1.0, 0.7, 0.2], 0.8)),
    "over the rim": ([1.98, 0.3, 0.06], turned([0.1, 0.3, 0.2], 0.3)),
    "face on corner": ([2.02, 2.01, 0.045], turned([-1.0, 1.0, 0.1], 0.5)),
    "edge on rim": ([2.02, 0.1, 0.11], turned([0.6, 1.0, 0.9], 0.9)),
}


@pytest.mark.parametrize("pose", POSES)
def test_rows_are_derivatives_of_gaps(pose: str) -> None:
    machine, rng = boxes(box("b0")), np.random.default_rng(3)
    contacts = ContactDynamics(machine)
    place, quaternion = POSES[pose]
    q = np.array([*place, *quaternion])
    h = 1e-6
    for _ in range(5):
        v = rng.standard_normal(6)
        rate, there = contacts.places(State(0.0, q, v)).rate, []
        slip = []
        for side in (1.0, -1.0):
            moved = State(0.0, machine.model.integrate(q, side * h * v), v)
            there.append(contacts.places(moved))
            slip.append(contacts._normal_rows(moved)[0] @ v)
        difference = (there[0].gap - there[1].gap) / (2.0 * h)
        np.testing.assert_allclose(rate, difference, rtol=0.0, atol=1e-8)  # m/s
        _, bias = contacts._normal_rows(State(0.0, q, v))
        np.testing.assert_allclose(bias, (slip[0] - slip[1]) / (2.0 * h), rtol=0.0, atol=1e-7)


def test_gaps_are_those_of_coal() -> None:
    """The depth of bodies that overlap a little, in 200 poses; its tolerance is 1e-6 m."""
    coal = pytest.importorskip("coal")
    machine, rng = boxes(box("b0")), np.random.default_rng(0)
    contacts = ContactDynamics(machine)
    ground, body = coal.Box(4.0, 4.0, 1.0), coal.Box(*SIZE)
    compared = 0
    for _ in range(200):
        quaternion = rng.standard_normal(4)
        quaternion /= np.linalg.norm(quaternion)
        place = [rng.uniform(1.9, 2.1), rng.uniform(-1.0, 1.0), rng.uniform(-0.02, 0.16)]
        state = State(0.0, np.array([*place, *quaternion]), np.zeros(6))
        R = machine.model.workspace()
        R.update(state.q, state.v)
        rotation = R.rotation[machine.model.frame_index("b0")]
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        at = coal.Transform3s(np.eye(3), np.array([0.0, 0.0, -0.5]))
        there = coal.Transform3s(rotation, np.array(place))
        expected = coal.distance(ground, at, body, there, request, result)
        found = contacts.places(state).gap.min()
        if expected < 0.0:
            compared += 1
            assert found == pytest.approx(expected, abs=2e-5)
        else:
            assert 0.0 <= found <= expected + 2e-5  # a lower bound of the distance
    assert compared > 20


def test_the_lowest_corner_of_a_flake_is_seen() -> None:
    """It is not one of the face that looks at the ground most, in many poses of such bodies."""
    ground = Hull(np.array(list(product((-2.0, 2.0), (-2.0, 2.0), (-1.0, 0.0)))))
    rng, height = np.random.default_rng(0), 1e-4
    flake = Hull(rng.standard_normal((12, 3)) * [0.2, 0.05, 0.02])
    for _ in range(100):
        quaternion = rng.standard_normal(4)
        R = Rotation.from_quat(quaternion / np.linalg.norm(quaternion)).as_matrix()
        lift = height - (flake.corners @ R.T)[:, 2].min()
        place = np.concatenate((np.eye(3).ravel(), np.zeros(3), R.ravel(), [0.0, 0.0, lift]))
        gaps = HullPair(ground, flake)(place)[:, 0]
        assert gaps.min() == pytest.approx(height, abs=1e-12)  # m


def test_what_is_no_hull_is_refused() -> None:
    machine = boxes(box("b0"))
    state = machine.state([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0], [0.0] * 6)
    with pytest.raises(InputError, match="there are no derivatives of them"):
        MotionDerivatives(machine).at(state)
    with pytest.raises(
        InputError, match=r"contacts\.c0\.surface: the collision shape of \"b0\" is a"
    ):
        boxes(box("b0", shape='<sphere radius="0.1"/>'))
    with pytest.raises(MechanismFileError, match=r"contacts\.c0\.radius: both bodies are those of"):
        boxes(box("b0"), radius=0.1)


def test_what_a_pair_of_hulls_does_not_need_is_nowhere_else() -> None:
    """A box on an edge touches at fewer points than a face has."""
    machine = boxes(box("b0"))
    q = np.array([0.0, 0.0, 0.2, *turned([0, 1, 0], 0.5)])
    points, axes = ContactPoints(machine).at(q)
    away = np.array([one.gap < 100.0 for one in machine.contacts(machine.state(q)).values()])
    assert 0 < away.sum() < POINTS
    assert points[~away] == pytest.approx(np.tile(q[:3], ((~away).sum(), 1)), abs=1e-15)
    assert axes @ axes.transpose(0, 2, 1) == pytest.approx(np.tile(np.eye(3), (POINTS, 1, 1)))
