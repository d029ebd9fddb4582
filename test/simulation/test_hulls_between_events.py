# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Event-driven motion of convex bodies that touch: against closed forms and other formulations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from simulation.test_hull_contacts import GROUND, POSES, SIZE, G, box, boxes, turned

from uk_dynamics import Mechanism, Trajectory, simulate
from uk_dynamics.mechanism.contact import ContactDynamics
from uk_dynamics.mechanism.resolution.state import State

SLAB = GROUND.replace("4 4 1", "0.5 0.4 1")
BAR = GROUND.replace('xyz="0 0 -0.5"', 'rpy="0 0.785398163397448 0"').replace("4 4 1", "0.2 1 0.2")


def moved(machine: Mechanism, q, v, duration: float, **options) -> Trajectory:
    options = {"method": "DOP853", "backend": "interpreted", **options}
    return simulate(machine, machine.state(q, v), duration, **options)


def energies(machine: Mechanism, run: Trajectory) -> np.ndarray:
    states = map(State, run.t.tolist(), run.q, run.v)
    return np.array([machine.energy(state).total for state in states])


def closings(run: Trajectory) -> list[float]:
    """Instants at which something strikes."""
    return [one.t for one in run.switchings if one.energy_lost > 0.0]


@pytest.mark.parametrize("pose", [*POSES, "edge on edge", "face of the child"])
def test_rows_of_features_that_are_held_are_derivatives(pose: str) -> None:
    """Along the normal and in the plane, beyond the place where the features are nearest, too."""
    if pose == "edge on edge":
        machine = boxes(box("b0", (1.0, 0.2, 0.2)), ground=BAR)
        place, quaternion = [0.1, 0.05, 0.3], turned([1, 0.1, 0.2], np.pi / 4)
    elif pose == "face of the child":  # a plate over a corner of the ground
        machine = boxes(box("b0", (3.0, 3.0, 0.1)))
        place, quaternion = [2.1, 2.1, 0.0], turned([-1.0, 1.0, 0.0], 0.2)
    else:
        machine = boxes(box("b0"))
        place, quaternion = POSES[pose]
    contacts, rng, h = ContactDynamics(machine), np.random.default_rng(3), 1e-6
    q = np.array([*place, *quaternion])
    contacts.features = contacts.nearest_features(State(0.0, q, np.zeros(6)))
    for far in (0.0, 0.3):
        for _ in range(3):
            v = rng.standard_normal(6)
            there = machine.model.integrate(q, far * rng.standard_normal(6))
            rows = contacts._evaluated(State(0.0, there, v))
            after, before = (
                contacts._evaluated(State(0.0, machine.model.integrate(there, side * h * v), v))
                for side in (1.0, -1.0)
            )
            rate = (after.residual - before.residual) / (2.0 * h)
            gaps = machine.constraints.position_rows
            np.testing.assert_allclose(rows.A[gaps] @ v, rate[gaps], rtol=1e-8, atol=1e-8)  # m/s
            bias = (after.rate - before.rate) / (2.0 * h)
            np.testing.assert_allclose(rows.bias, bias, rtol=1e-6, atol=1e-6)  # m/s²


def test_a_rocking_block_is_that_of_housner() -> None:
    b, h = 0.1, 0.4  # half width and height
    machine = boxes(box("b0", (2.0 * b, 0.3, 2.0 * h)), friction=5.0)
    alpha, radius, tilt = np.arctan2(b, h), np.hypot(b, h), 0.1
    about_edge = (b**2 + h**2) / 3.0 + radius**2
    place = [b - radius * np.sin(alpha - tilt), 0.0, radius * np.cos(alpha - tilt)]
    run = moved(machine, [*place, *turned([0, 1, 0], tilt)], [0.0] * 6, 0.45)
    # times of the fall, with the singularity at its start substituted away: θ = tilt (1 − s²)
    p2 = 2.0 * G * radius / about_edge

    def slowness(s: float) -> float:
        theta = tilt * (1.0 - s * s)
        fallen = np.cos(alpha - tilt) - np.cos(alpha - theta)
        return 2.0 * tilt * s / np.sqrt(p2 * fallen)

    falls = quad(slowness, 0.0, 1.0, epsabs=1e-13, epsrel=1e-13)[0]
    assert closings(run)[0] == pytest.approx(falls, rel=1e-8)
    lost = next(one.energy_lost for one in run.switchings if one.energy_lost > 0.0)
    rate2 = p2 * (np.cos(alpha - tilt) - np.cos(alpha))
    kept = 1.0 - 1.5 * np.sin(alpha) ** 2
    assert lost == pytest.approx(0.5 * about_edge * rate2 * (1.0 - kept**2), rel=1e-8)
    # Housner's quarter period is that of small angles
    quarter = np.arccosh(1.0 / (1.0 - tilt / alpha)) / np.sqrt(G * radius / about_edge)
    assert closings(run)[0] == pytest.approx(quarter, rel=alpha**2)
    after = energies(machine, run)[run.t > falls]
    np.testing.assert_allclose(after, after[0], rtol=1e-9)


def test_a_box_falls_as_its_eight_corners_do() -> None:
    """It lands on a corner, then an edge, then a face; of a box that is the ground nothing else."""
    x, y, z = 0.5 * SIZE
    corners = {
        f"p{k}": [i * x, j * y, h * z] for k, (i, j, h) in enumerate(product((1.0, -1.0), repeat=3))
    }
    touches = {"parent": {"link": "ground"}, "child": {"link": "b0"}, "points": corners}
    points = Mechanism.from_data(
        {
            "model": {"gravity": [0.0, 0.0, -G]},
            "contacts": {"c": {**touches, "friction": 0.5, "restitution": 0.3}},
        },
        robot_description=f'<robot name="points">{GROUND}{box("b0")}</robot>',
    )
    hull = boxes(box("b0"), restitution=0.3)
    quaternion = np.random.default_rng(5).standard_normal(4)
    q = [0.0, 0.0, 0.3, *(quaternion / np.linalg.norm(quaternion))]
    run, other = (moved(machine, q, [0.0] * 6, 0.3) for machine in (hull, points))
    assert len(closings(run)) > 3
    np.testing.assert_allclose(closings(run), closings(other), rtol=0.0, atol=1e-10)  # s
    np.testing.assert_allclose(run.q, other.q, rtol=0.0, atol=1e-9)
    assert np.diff(energies(hull, run)).max() < 1e-9  # J


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 11, 18])  # of 11 and 18 a corner barely slides
def test_what_falls_comes_to_rest_and_is_never_inside(seed: int) -> None:
    machine, rng = boxes(box("b0"), ground=SLAB), np.random.default_rng(seed)
    quaternion = rng.standard_normal(4)
    place = [*rng.uniform([-0.25, -0.2, 0.25], [0.25, 0.2, 0.3])]
    q = [*place, *(quaternion / np.linalg.norm(quaternion))]
    run = moved(machine, q, [0.0] * 6, 0.5)
    assert run.statistics.evaluations < 12_000
    assert np.diff(energies(machine, run)).max() < 1e-8  # J
    contacts = ContactDynamics(machine)  # of what is nearest at each instant
    states = list(map(State, run.t.tolist(), run.q, run.v))
    assert min(contacts.places(state).gap.min() for state in states) > -1e-9  # m


def test_it_sticks_up_to_its_friction_and_slides_beyond() -> None:
    for more, slides in ((-1e-6, False), (0.2, True)):
        angle = np.arctan(0.5) + more
        machine = boxes(box("b0"), gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)))
        run = moved(machine, [0.0, 0.0, 0.05, *turned([0, 0, 1], 0.3)], [0.0] * 6, 0.1)
        expected = slides * 0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)) * run.t**2
        np.testing.assert_allclose(run.q[:, 0], expected, rtol=1e-9, atol=1e-12)  # m


def over_the_rim(method: str, **options) -> Trajectory:
    machine = boxes(box("b0", (0.2, 0.1, 0.1)), ground=SLAB, friction=0.2)
    q = [0.1, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0]
    return moved(machine, q, [1.2, *[0.0] * 5], 0.24, method=method, sample_period=0.02, **options)


def rim_by_another_formulation(t: np.ndarray) -> np.ndarray:
    """Place along the ground and angle of the box, (k, 2), once it tips over the rim.

    Its coordinates are where its bottom lies on the rim, s, and its angle; N acts there.
    """
    mu, h, inertia = 0.2, 0.1, 0.05 / 12.0
    until = 0.25 - 0.5 * mu * h - 0.1  # the normal force is ahead of the middle by μ h / 2
    begin = (1.2 - np.sqrt(1.44 - 2.0 * mu * G * until)) / (mu * G)

    def rates(_: float, y: np.ndarray) -> list[float]:
        s, theta, slip, turns = y
        rows = [[1.0, 0.5 * h, mu], [0.0, -s, -1.0], [0.0, inertia, -(s + 0.5 * mu * h)]]
        along = G * np.sin(theta) + s * turns**2
        across = (2.0 * slip + 0.5 * h * turns) * turns - G * np.cos(theta)
        s_rate, turn_rate, _ = np.linalg.solve(rows, [along, across, 0.0])
        return [slip, turns, s_rate, turn_rate]

    start = [-0.5 * mu * h, 0.0, 1.2 - mu * G * begin, 0.0]
    given = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13, "t_eval": t}
    s, theta, *_ = solve_ivp(rates, (begin, t[-1]), start, **given).y
    return np.column_stack((0.25 + s * np.cos(theta) + 0.5 * h * np.sin(theta), theta))


def test_a_box_slides_over_the_rim_and_tips() -> None:
    run = over_the_rim("DOP853")
    late = run.t > 0.135
    angle = 2.0 * np.arctan2(run.q[:, 4], run.q[:, 6])
    found = np.column_stack((run.q[:, 0], angle))[late]
    assert found[-1, 1] > 0.2
    np.testing.assert_allclose(found, rim_by_another_formulation(run.t[late]), rtol=0, atol=1e-9)
    assert len([one for one in run.switchings if one.t > 0.0]) == 2  # both corners lift off


@pytest.mark.slow
def test_steps_converge_to_it_at_order_one() -> None:
    exact = over_the_rim("DOP853").q
    off = [np.abs(over_the_rim("moreau", step=step).q - exact).max() for step in (2e-3, 1e-3, 5e-4)]
    assert off[2] < 1e-3
    assert off[0] / off[2] == pytest.approx(4.0, rel=0.35)


@pytest.mark.parametrize("aside", [0.0, 0.1])
def test_a_bar_bounces_across_a_bar(aside: float) -> None:
    """Edge on edge: the impulse is that of a body struck off its middle, by Newton's law."""
    e, fall, mass = 0.5, 0.05, 2.0
    machine = boxes(box("b0", (1.0, 0.2, 0.2), mass), ground=BAR, friction=0.0, restitution=e)
    height = 2.0 * 0.1 * np.sqrt(2.0)
    q = [aside, 0.0, height + fall, *turned([1, 0, 0], np.pi / 4)]
    run = moved(machine, q, [0.0] * 6, 0.25)
    first, speed = np.sqrt(2.0 * fall / G), np.sqrt(2.0 * G * fall)
    assert closings(run)[0] == pytest.approx(first, rel=1e-9)
    inertia = mass * (1.0**2 + 0.2**2) / 12.0
    struck = 1.0 / (1.0 / mass + aside**2 / inertia)
    lost = next(one.energy_lost for one in run.switchings if one.energy_lost > 0.0)
    assert lost == pytest.approx(0.5 * struck * speed**2 * (1.0 - e * e), rel=1e-9)
    if not aside:
        assert closings(run)[1] == pytest.approx(first + 2.0 * e * speed / G, rel=1e-9)


def test_a_bar_rolls_off_a_bar_without_loss() -> None:
    """One edge slides and turns on the other: the second derivative of their distance is right."""
    machine = boxes(box("b0", (1.0, 0.2, 0.2), mass=2.0), ground=BAR, friction=0.0)
    height = 2.0 * 0.1 * np.sqrt(2.0)
    q = [0.1, 0.0, height, *turned([1, 0, 0], np.pi / 4)]
    along = 0.3 * np.sqrt(0.5)  # m/s, of the lower bar's edge, in axes of the upper one
    run = moved(machine, q, [0.0, along, -along, 0.0, 0.0, 2.0], 0.15)
    assert run.contact("c0.1").closed.mean() > 0.5
    energy = energies(machine, run)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-10)
