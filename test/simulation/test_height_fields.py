# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Ground over a grid of heights: its rows, against planes and closed forms, and bad files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support.mechanism_builder import link, mechanism

from uk_dynamics import Mechanism, simulate
from uk_dynamics.constraints.rows import HeightField
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.contact import ContactDynamics
from uk_dynamics.mechanism.resolution.state import State

G = 9.81
R = 0.1


def ball(heights, size, *, radius: float = R, turned=(0.0, 0.0, 0.0), **contact) -> Mechanism:
    """A ball of 2 kg, floating, over a height field of the world; over a plane where it is None."""
    surface = (
        {}
        if heights is None
        else {"surface": {"type": "height_field", "heights": heights, "size": size}}
    )
    entry = {
        "parent": {"link": "world", "rpy": list(turned)},
        "child": {"link": "ball"},
        "radius": radius,
    }
    data = {"model": {"root": "floating"}, "contacts": {"ground": entry | surface | contact}}
    inertia = 0.4 * 2.0 * max(radius, R) ** 2
    return mechanism(link("ball", 2.0, inertia), yaml.safe_dump(data))


def grid(function, size, count) -> np.ndarray:
    """Heights at the points of a grid, rows along x."""
    x, y = (np.linspace(-0.5 * a, 0.5 * a, n) for a, n in zip(size, count, strict=True))
    return function(x[None, :], y[:, None])


def slope_and_plane(radius: float) -> tuple[Mechanism, Mechanism]:
    """A field that is a plane, and that plane: about y, then about the y axis that this leaves."""
    angle = 0.3
    heights = grid(lambda x, y: np.tan(angle) * x + 0.0 * y, (2.0, 1.0), (5, 4))
    field = ball(heights.tolist(), [2.0, 1.0], radius=radius, friction=0.5)
    return field, ball(None, None, radius=radius, turned=(0.0, -angle, 0.0), friction=0.5)


@pytest.mark.slow
@given(
    place=st.tuples(*[st.floats(-3.0, 3.0)] * 3),
    v=st.tuples(*[st.floats(-2.0, 2.0)] * 6),
    radius=st.sampled_from([0.0, R]),
)
def test_a_field_that_is_a_plane_is_that_plane(place, v, radius: float) -> None:
    """Everywhere, beyond the border of the field as well."""
    q = np.array([*place, 0.0, 0.6, 0.0, 0.8])
    found, wanted = (
        (c.places(s), c._normal_rows(s))
        for c in map(ContactDynamics, slope_and_plane(radius))
        for s in [State(0.0, q, np.array(v))]
    )
    for a, b in zip([*found[0], *found[1]], [*wanted[0], *wanted[1]], strict=True):
        # m, m/s, m/s²: 1e-14 m of rounding in a height bends a grid of 0.1 m by 1e-12/m, times v²
        np.testing.assert_allclose(a, b, rtol=0.0, atol=2e-11)


def rough(seed: int, size=(1.0, 0.8), count=(9, 7), deep: float = 0.05) -> np.ndarray:
    return deep * np.random.default_rng(seed).standard_normal(count[::-1])


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.0, R])
def test_rows_are_derivatives_of_gaps(radius: float) -> None:
    """Where it touches, of gaps; of rates everywhere."""
    machine, rng = (
        ball(rough(1).tolist(), [1.0, 0.8], radius=radius, friction=0.5),
        np.random.default_rng(2),
    )
    contacts, h = ContactDynamics(machine), 1e-6
    for _ in range(30):
        quaternion = rng.standard_normal(4)
        q = np.array([*rng.uniform(-0.7, 0.7, 2), 0.3, *(quaternion / np.linalg.norm(quaternion))])
        v = rng.standard_normal(6)
        for _ in range(30):  # down onto the field
            q[2] -= contacts.places(State(0.0, q, v)).gap[0]
        ends = [State(0.0, machine.model.integrate(q, side * h * v), v) for side in (1.0, -1.0)]
        there = [contacts.places(state) for state in ends]
        rate = contacts.places(State(0.0, q, v)).rate
        gaps, rates = ((a - b) / (2.0 * h) for a, b in zip(*(x[:2] for x in there), strict=True))
        np.testing.assert_allclose(rate, gaps, rtol=0.0, atol=1e-6)  # m/s
        _, bias = contacts._normal_rows(State(0.0, q, v))
        # m/s²; bends jump by up to 100/m between the patches of this field
        assert bias == pytest.approx(rates, abs=1e-4)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_capsule_lies_on_rough_ground(seed: int) -> None:
    """Where spheres along its axis touch; between them the ground is no higher than it bends."""
    size, length, spacing = (1.0, 0.8), 0.7, 1.0 / 8.0
    heights = rough(seed)
    capsule = ball(heights.tolist(), list(size), radius=R, length=length)
    assert len(capsule.one_sided) == 13  # every 0.0625 m at most
    centres = HeightField(heights, size).of_centres(R)
    along = np.linspace(-0.5, 0.5, 20001)[:, None] * [length, 0.0] + [0.02, 0.1]
    highest = centres.height(along).max()
    spheres = centres.height(np.linspace(-0.5, 0.5, 13)[:, None] * [length, 0.0] + [0.02, 0.1])
    lying = [0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5)]
    state = State(0.0, np.array([0.02, 0.1, spheres.max(), *lying]), np.zeros(6))
    gap = ContactDynamics(capsule).places(state).gap
    assert gap.min() == pytest.approx(0.0, abs=1e-12)
    bends = np.abs(np.diff(heights, 2, axis=1)).max() / spacing  # slopes differ by it
    assert 0.0 <= highest - spheres.max() <= bends * spacing / 32.0


def test_centres_of_spheres_are_where_they_touch() -> None:
    size, count = (1.0, 0.8), (9, 7)
    field = HeightField(rough(1), size)
    of_centres = field.of_centres(R)
    x, y = (np.linspace(-0.5 * a, 0.5 * a, n) for a, n in zip(size, count, strict=True))
    node = np.stack(np.meshgrid(x, y), axis=2).reshape(-1, 2)
    off = np.stack(np.meshgrid(*[np.linspace(-R, R, 201)] * 2), axis=2).reshape(-1, 2)
    for place, centre in zip(node, of_centres.height(node), strict=True):
        height = field.height(place + off) - centre
        nearest = np.sqrt(off[:, 0] ** 2 + off[:, 1] ** 2 + height**2).min()
        # m: samples are 1 mm apart, of a sphere and a field that bends by up to 20/m
        assert R - 1e-9 <= nearest <= R + 2e-5


def test_a_sphere_that_is_wide_for_its_grid_is_refused() -> None:
    with pytest.raises(InputError, match=r"heights: 0\.01 m between heights are fine for a radius"):
        ball(np.zeros((11, 11)).tolist(), [0.1, 0.1], radius=0.2)


@pytest.mark.slow
def test_a_point_circles_in_a_bowl() -> None:
    """A paraboloid is itself, moved up by a quarter of its bends: energy and moment stay."""
    size, count = (2.0, 2.0), (21, 21)
    heights = grid(lambda x, y: 0.4 * (x * x + y * y), size, count)
    bowl = ball(heights.tolist(), list(size), radius=0.0)
    lift = 2 * 0.4 * 0.1**2 / 4
    start = bowl.state([0.5, 0.0, 0.4 * 0.25 + lift, 0, 0, 0, 1], [0.0, 1.0, 0, 0, 0, 0])
    run = simulate(bowl, start, 2.0, rtol=1e-11, atol=1e-12, sample_period=0.1)
    x, y, z = run.q[:, :3].T
    np.testing.assert_allclose(z, 0.4 * (x * x + y * y) + lift, rtol=0.0, atol=1e-9)  # m
    energy = 0.5 * (run.v[:, :3] ** 2).sum(axis=1) + G * z
    np.testing.assert_allclose(energy, energy[0], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(x * run.v[:, 1] - y * run.v[:, 0], 0.5, rtol=0.0, atol=1e-8)
    assert not run.warnings


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_a_ball_rolls_down(backend: str) -> None:
    """With 5/7 of g sin α, without slip; steps and events alike."""
    field, _ = slope_and_plane(R)
    angle = 0.3
    start = field.state([0.9, 0.1, 0.9 * np.tan(angle) + R / np.cos(angle), 0, 0, 0, 1], [0.0] * 6)
    along = np.array([-np.cos(angle), 0.0, -np.sin(angle)])
    for options in ({"method": "DOP853"}, {"method": "moreau", "step": 5e-3}):
        run = simulate(field, start, 0.1, backend=backend, **options)
        way = (run.q[-1, :3] - run.q[0, :3]) @ along
        # m: what the tolerance leaves; of steps how far the ball turns in each of them
        assert way == pytest.approx(0.5 * 5.0 / 7.0 * G * np.sin(angle) * 0.01, abs=1e-6)
        assert run.contact("ground").sticks[1:].all()


def rolling(backend: str, **options):
    """A ball over rough ground."""
    machine = ball(rough(5, deep=0.01).tolist(), [1.0, 0.8], friction=0.8)
    start = machine.state([-0.3, 0.1, 0.13, 0, 0, 0, 1], [1.0, 0.2, 0, 0, 0, 0])
    return simulate(machine, start, 0.5, backend=backend, **options)


@pytest.mark.slow
def test_steps_are_compiled_and_tend_to_events() -> None:
    exact = rolling("compiled", method="DOP853", rtol=1e-9, atol=1e-10).q[-1]
    found = [rolling("compiled", method="moreau", step=h).q[-1] for h in (2e-3, 5e-4)]
    same = rolling("interpreted", method="moreau", step=2e-3).q[-1]
    np.testing.assert_allclose(found[0], same, rtol=0.0, atol=1e-10)
    off = [np.abs(q - exact)[:3].max() for q in found]
    assert off[1] < 0.4 * off[0] < 0.4 * 0.05


@pytest.mark.slow
def test_libraries_know_their_heights() -> None:
    """Two fields that differ in one height far inside have different libraries."""
    motions = []
    for height in (0.0, 0.02):
        heights = np.zeros((41, 41))
        heights[20, 20] = height
        machine = ball(heights.tolist(), [4.0, 4.0], radius=0.0)
        start = machine.state([0.0, 0.0, 0.1, 0, 0, 0, 1], [0.0] * 6)
        motions.append(simulate(machine, start, 0.3, method="moreau", backend="compiled").q[-1, 2])
    assert motions == pytest.approx([0.0, 0.02 * 0.75**2], abs=1e-9)  # m: a spike's top is rounded


def named(path: Path, **keys) -> Mechanism:
    return ball(str(path), [2.0, 2.0], **keys)


def test_files_say_the_same(tmp_path: Path) -> None:
    heights = np.round(rough(3), 3)
    np.save(tmp_path / "a.npy", heights)
    np.savetxt(tmp_path / "a.csv", heights, delimiter=",")
    matplotlib = pytest.importorskip("matplotlib.image")
    grey = (heights - heights.min()) / np.ptp(heights)
    matplotlib.imsave(tmp_path / "a.png", grey[::-1], cmap="gray", vmin=0.0, vmax=1.0)
    state = State(0.0, np.array([0.3, 0.7, 1.0, 0, 0, 0, 1.0]), np.zeros(6))
    gaps = [
        ContactDynamics(named(tmp_path / f"a.{end}")).places(state).gap[0]
        for end in ("npy", "csv", "png")
    ]
    assert (
        gaps[0]
        == gaps[1]
        == ContactDynamics(ball(heights.tolist(), [2.0, 2.0])).places(state).gap[0]
    )
    scaled = ball(str(tmp_path / "a.png"), [2.0, 2.0, float(np.ptp(heights))])
    lifted = State(0.0, state.q - [0, 0, heights.min(), 0, 0, 0, 0], state.v)
    found = ContactDynamics(scaled).places(lifted).gap[0]
    assert found == pytest.approx(gaps[0], abs=np.ptp(heights) / 255)  # m: 8 bits


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_a_mesh_is_seen_from_above(tmp_path: Path, unit: float) -> None:
    """A slab with a ramp on it that overhangs: the higher one counts, where both are."""
    trimesh = pytest.importorskip("trimesh")
    slope, size = 0.25, np.array([2.0, 1.0])
    slab = trimesh.creation.box((2.2, 1.2, 0.4))  # its top is at 0.2 m
    ramp = trimesh.Trimesh(
        [(-1.5, -1, -0.375), (1.5, -1, 0.375), (1.5, 1, 0.375), (-1.5, 1, -0.375)],
        [(0, 1, 2), (0, 2, 3)],
    )
    file = tmp_path / "ground.stl"
    trimesh.util.concatenate([slab, ramp]).apply_scale(1.0 / unit).export(file)
    contacts = ContactDynamics(ball(str(file), [*size.tolist(), unit], radius=0.0))
    for x, y in np.random.default_rng(0).uniform(-0.49, 0.49, (40, 2)) * size:
        state = State(0.0, np.array([x, y, 1.0, 0, 0, 0, 1.0]), np.zeros(6))
        if abs(x - 0.8) < 0.03:  # rounded over two spacings of 1/64 m
            continue
        wanted = (1.0 - slope * x) / np.sqrt(1.0 + slope**2) if x > 0.8 else 0.8
        # m: STL has single precision, 4e-8 of 1 m, and a slope of it over 1/64 m
        assert contacts.places(state).gap[0] == pytest.approx(wanted, abs=1e-6)


def test_a_mesh_that_does_not_reach_is_refused(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((2.2, 0.8, 0.4)).export(tmp_path / "narrow.stl")
    with pytest.raises(InputError, match=r"narrow.stl has no surface at x = -1, y = -0.5 in"):
        ball(str(tmp_path / "narrow.stl"), [2.0, 1.0])


@pytest.mark.parametrize(
    ("heights", "problem"),
    [
        ("none.npy", r"contacts\.ground\.surface\.heights: no file"),
        ("text.npy", "text.npy holds no grid of numbers"),
        ("words.csv", "words.csv holds no grid of numbers"),
        ("text.stl", r"text.stl is no mesh"),
        ("text.txt", r"text.txt: expected a file .npy, .csv, .png or a mesh, .stl"),
        (
            "flat.npy",
            "flat.npy: expected a grid of 2 × 2 to 66049 heights, a row for each y, found 9",
        ),
        ("large.npy", "found 300 × 300"),
        ("hole.npy", "hole.npy: row 1, column 2 is nan; give a height in m"),
        ([[0, 1], [0, 1, 2]], "row 1 has 3 heights, row 0 has 2; a grid has as many in all rows"),
        ([[0, 1]], r"contacts\.ground\.surface\.heights"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, heights, problem: str) -> None:
    hole = np.zeros((3, 4))
    hole[1, 2] = np.nan
    for name, array in {"flat": np.zeros(9), "large": np.zeros((300, 300)), "hole": hole}.items():
        np.save(tmp_path / f"{name}.npy", array)
    for name in ("text.npy", "text.stl", "text.txt"):
        (tmp_path / name).write_text("no numbers")
    (tmp_path / "words.csv").write_text("1,2\n3,four\n")
    with pytest.raises(InputError, match=problem):
        named(tmp_path / heights) if isinstance(heights, str) else ball(heights, [2.0, 2.0])


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"length": 33.0}, "of 33 m would be more than 64 spheres"),
        ({"surface": {"type": "height_field", "size": [1, 1]}}, "heights"),
        (
            {"surface": {"type": "sphere", "radius": 1, "heights": [[0, 0], [0, 0]]}},
            "only a height field",
        ),
        ({"surface": {"type": "box", "size": [1, 1]}}, "give at least 3"),
        (
            {"surface": {"type": "height_field", "size": [1, 1], "heights": "a", "radius": 1}},
            "radius",
        ),
    ],
)
def test_keys_that_do_not_belong_are_named(keys, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        ball([[0, 0], [0, 0]], [1, 1], **keys)
