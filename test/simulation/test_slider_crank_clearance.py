# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A slider-crank whose slider has clearance in its guide, without friction, in two formulations.

Numbers are those of Flores, Leine and Glocker (Multibody Syst. Dyn. 23, 2010), with restitution 0.4
as the examples of Siconos have it; the slider turns at first, or both corners on a wall would
always strike at once. The reference is another formulation: the mass matrix in absolute angles,
Newton's law at each corner that strikes, events located by scipy.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.mechanism_builder import joint, link, mechanism
from support.repository import ROOT

from uk_dynamics import Mechanism, simulate
from uk_dynamics.mechanism.resolution import State

G = 9.81
L1, L2 = 0.153, 0.306
MASSES, INERTIAS = (0.038, 0.038, 0.076), (7.4e-5, 5.9e-4, 2.7e-6)
HALF_LENGTH, HALF_HEIGHT, CLEARANCE = 0.05, 0.025, 1e-3
CORNERS = [(x, z) for x in (-HALF_LENGTH, HALF_LENGTH) for z in (-HALF_HEIGHT, HALF_HEIGHT)]
RESTITUTION = 0.4
RATES = 150.0, -75.0, -5.0  # rad/s, of crank, rod and slider
AFTER = 1e-7  # s
EXAMPLE = ROOT / "examples" / "slider_crank_clearance" / "slider_crank_clearance.yaml"
WALL = HALF_HEIGHT + CLEARANCE


def machine(friction: float = 0.0) -> Mechanism:
    parts = joint("crank", "world", "crank", axis="0 -1 0")
    parts += joint("rod", "crank", "rod", axis="0 -1 0", xyz=f"{L1} 0 0")
    parts += joint("slider", "rod", "slider", axis="0 -1 0", xyz=f"{L2} 0 0")
    for name, mass, inertia, centre in zip(
        ("crank", "rod", "slider"), MASSES, INERTIAS, (L1 / 2, L2 / 2, 0.0), strict=True
    ):
        parts += link(name, mass, inertia, f"{centre} 0 0")
    walls = {"lower": ("0", -1.0), "upper": ("3.141592653589793", 1.0)}
    text = "contacts:\n"
    for name, (turned, side) in walls.items():
        points = [[x, 0.0, z] for x, z in CORNERS if z * side > 0.0]
        text += (
            f"  {name}: {{parent: {{link: world, xyz: [0, 0, {side * WALL}],"
            f" rpy: [{turned}, 0, 0]}}, child: {{link: slider}}, points: {points},"
            f" restitution: {RESTITUTION}, friction: {friction}}}\n"
        )
    return mechanism(parts, text)


def start(crank: Mechanism) -> State:
    """Stretched along x."""
    state = crank.state({})
    state.v[:] = np.diff(RATES, prepend=0.0)
    return state


def mass(q: np.ndarray) -> np.ndarray:
    (m1, m2, m3), (j1, j2, j3) = MASSES, INERTIAS
    mixed = (m2 / 2 + m3) * L1 * L2 * np.cos(q[1] - q[0])
    return np.array(
        [
            [j1 + (m1 / 4 + m2 + m3) * L1**2, mixed, 0.0],
            [mixed, j2 + (m2 / 4 + m3) * L2**2, 0.0],
            [0.0, 0.0, j3],
        ]
    )


def motion(_: float, x: np.ndarray) -> np.ndarray:
    (m1, m2, m3), q, v = MASSES, x[:3], x[3:]
    spin = (m2 / 2 + m3) * L1 * L2 * np.sin(q[1] - q[0])
    force = np.array(
        [
            spin * v[1] ** 2 - G * (m1 / 2 + m2 + m3) * L1 * np.cos(q[0]),
            -spin * v[0] ** 2 - G * (m2 / 2 + m3) * L2 * np.cos(q[1]),
            0.0,
        ]
    )
    return np.concatenate([v, np.linalg.solve(mass(q), force)])


def gap(q: np.ndarray, corner: int) -> tuple[float, np.ndarray]:
    """Between a corner and the wall on its side, and how it depends on the angles."""
    x, z = CORNERS[corner]
    side = np.sign(z)
    height = L1 * np.sin(q[0]) + L2 * np.sin(q[1]) + x * np.sin(q[2]) + z * np.cos(q[2])
    slope = [L1 * np.cos(q[0]), L2 * np.cos(q[1]), x * np.cos(q[2]) - z * np.sin(q[2])]
    return WALL - side * height, -side * np.array(slope)


def strikes(count: int) -> tuple[list[float], np.ndarray]:
    """Instants of the first impacts, and angles and rates shortly after the last of them."""

    def event(corner: int):
        def distance(_: float, x: np.ndarray) -> float:
            return gap(x[:3], corner)[0]

        distance.terminal, distance.direction = True, -1.0
        return distance

    t, x, found = 0.0, np.array([0.0, 0.0, 0.0, *RATES]), []
    events = [event(corner) for corner in range(4)]
    while len(found) < count:
        path = solve_ivp(
            motion, (t, 0.2), x, method="DOP853", rtol=1e-13, atol=1e-14, events=events
        )
        (corner,) = [k for k, times in enumerate(path.t_events) if len(times)]
        t, x = float(path.t[-1]), path.y[:, -1].copy()
        _, n = gap(x[:3], corner)
        response = np.linalg.solve(mass(x[:3]), n)
        x[3:] -= (1.0 + RESTITUTION) * (n @ x[3:]) / (n @ response) * response
        found.append(t)
    return found, solve_ivp(motion, (t, t + AFTER), x, method="DOP853", rtol=1e-13, atol=1e-14).y[
        :, -1
    ]


def test_impacts_in_the_guide_are_those_of_another_formulation() -> None:
    crank, count = machine(), 6
    times, x = strikes(count)
    found = simulate(crank, start(crank), times[-1] + AFTER, rtol=1e-12, atol=1e-13)
    # s, of a motion with tolerances of 1e-12 whose impacts multiply errors
    np.testing.assert_allclose(
        [one.t for one in found.switchings if one.t > 0.0], times, rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(np.cumsum(found.q[-1]), x[:3], rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.cumsum(found.v[-1]), x[3:], rtol=0, atol=1e-6)  # of 150 rad/s


def test_the_example_is_that_machine() -> None:
    """With the rates of the paper both corners of one side strike at once, as those of it would."""
    example = Mechanism.from_file(EXAMPLE)
    begin, rates = example.start(), np.array([150.0, -75.0, 0.0])
    np.testing.assert_allclose(np.cumsum(begin.v), rates, rtol=0, atol=1e-12)

    def above(_: float, x: np.ndarray) -> float:
        return gap(x[:3], CORNERS.index((HALF_LENGTH, HALF_HEIGHT)))[0]

    path = solve_ivp(
        motion, (0.0, 3e-3), [0.0, 0.0, 0.0, *rates], "DOP853", rtol=1e-13, atol=1e-14, events=above
    )
    found = simulate(example, begin, 3e-3, backend="interpreted", rtol=1e-12, atol=1e-13)
    first = next(one for one in found.switchings if one.energy_lost)
    assert first.t == pytest.approx(path.t_events[0][0], abs=1e-10)
    assert set(first.changes) == {"upper.left", "upper.right"}
    assert found.contact("upper.left").gap.min() > -1e-9


@pytest.mark.parametrize("method", ["DOP853", pytest.param("moreau", marks=pytest.mark.slow)])
def test_friction_in_the_guide_takes_energy(method: str) -> None:
    crank = machine(0.01)
    options = {"step": 1e-5} if method == "moreau" else {}
    found = simulate(crank, start(crank), 0.02, method=method, sample_period=1e-3, **options)
    energy = [
        crank.energy(State(t, q, v)).total
        for t, q, v in zip(found.t, found.q, found.v, strict=True)
    ]
    assert np.diff(energy).max() <= 1e-6 * energy[0]
    assert energy[-1] < 0.999 * energy[0]
    assert found.contact_gaps.min() >= -1e-9
