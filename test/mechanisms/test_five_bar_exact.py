# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""De Falco's over-constrained five-bar against its exact motion, through the flat configuration.

All legs stay parallel, so one angle θ above the horizontal describes it: J θ̈ = −G cos θ. There the
rank of the 12 rows is 11, and 10 where the mechanism is flat.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from uk_dynamics.compilation.build import compiler
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate

pytestmark = pytest.mark.slow

GRAVITY = 9.81
LEGS = ("left", "middle", "right")


def _pendulum(asymmetric: bool) -> tuple[float, float]:
    """J and G of the exact equation, from the masses of the paper (legs 1 m, uniform)."""
    legs = [(1.0, 0.1), (1.0, 0.1), (2.5, 0.3) if asymmetric else (1.0, 0.1)]
    coupler_mass = 2.0
    inertia = sum(i + m * 0.25 for m, i in legs) + coupler_mass
    moment = GRAVITY * (sum(0.5 * m for m, _ in legs) + coupler_mass)
    return inertia, moment


def _exact(angle: float, times: np.ndarray, asymmetric: bool) -> np.ndarray:
    inertia, moment = _pendulum(asymmetric)
    solution = solve_ivp(
        lambda _, y: (y[1], -moment / inertia * np.cos(y[0])),
        (0.0, times[-1]),
        (angle, 0.0),
        method="DOP853",
        rtol=2.5e-14,
        atol=1e-14,
        t_eval=times,
    )
    return solution.y[0]


def _angle_names(name: str) -> tuple[str, ...]:
    if "maximal" in name:
        return tuple(f"{leg}_angle" for leg in LEGS)
    return ("crank", "middle", "right")


def _run(name: str, degrees: float, duration: float, backend: Backend):
    mechanism = Mechanism.from_file(name)
    angle = np.radians(degrees)
    names = _angle_names(name)
    guess = dict.fromkeys(names, angle)
    if "maximal" in name:
        com = 1.4 if "asymmetric" in name else 1.0
        for k, leg in enumerate(LEGS):
            guess |= {f"{leg}_x": k + 0.5 * np.cos(angle), f"{leg}_z": 0.5 * np.sin(angle)}
        guess |= {"coupler_x": com + np.cos(angle), "coupler_z": np.sin(angle), "coupler_angle": 0}
    else:
        guess |= {"coupler": -angle}
    q = mechanism.assemble(guess, hold=names[:1])
    trajectory = simulate(
        mechanism,
        mechanism.state(q),
        duration,
        method="DOP853",
        rtol=5e-10,
        atol=5e-10,
        sample_period=0.02,
        backend=backend,
    )
    exact = _exact(angle, trajectory.t, "asymmetric" in name)
    errors = [np.max(np.abs(trajectory.position(joint) - exact)) for joint in names]
    return trajectory, max(errors)


IN_C = pytest.mark.skipif(compiler.find_compiler() is None, reason="there is no C compiler here")
# From -60° to -30° the motion never reaches the flat configuration; the others fall through it.
CASES = [
    *(pytest.param("compiled", x, marks=IN_C) for x in (-60, -45, -30, 10, 20, 30, 45, 60, 75, 80)),
    ("interpreted", 45),
]


@pytest.mark.parametrize(("backend", "degrees"), CASES)
@pytest.mark.parametrize("name", ["five_bar_maximal", "five_bar_maximal_asymmetric"])
def test_maximal_coordinates(name, backend, degrees):
    trajectory, error = _run(name, degrees, 20.0, backend)
    assert error < 1e-6  # of every link; 1.2e-7 at most is seen
    assert np.max(np.sum(trajectory.residual**2, axis=1)) <= 1e-20
    swing = np.ptp(trajectory.kinetic)
    assert np.ptp(trajectory.energy) <= 1e-8 * swing
    assert trajectory.statistics.evaluations <= 10_000
    assert np.all(trajectory.rank >= 10)


@pytest.mark.parametrize("name", ["five_bar", "five_bar_asymmetric"])
def test_tree_moves_the_same(name):
    trajectory, error = _run(name, 60.0, 20.0, "interpreted")
    assert error < 1e-6
    assert np.ptp(trajectory.energy) <= 1e-8 * np.ptp(trajectory.kinetic)
