# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""N parallelograms in a row: the mechanism for any N, and its motion in closed form."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import yaml
from scipy.special import ellipj, ellipk

from uk_dynamics import resources
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.papers.iftomm.pendulum import GRAVITY, Array

_Angle = TypeVar("_Angle", float, Array)

_SHIPPED = "package://uk_dynamics/config/n_four_bar.yaml"
_UPRIGHT = np.pi / 2  # rad
RATE = -1.0  # rad/s, of all cranks at the start: 1 m/s at their tips


def mechanism(cells: int) -> Mechanism:
    """The shipped mechanism with any number of cells."""
    file = yaml.safe_load(resources.resolve(_SHIPPED).read_text(encoding="utf-8"))
    file["model"]["xacro"]["cells"] = cells
    file["constraints"]["pin"]["indices"]["cells"] = cells
    file["initial_guess"] = _by_joint(cells, _UPRIGHT)
    return Mechanism.from_spec(
        MechanismSpec.from_text(yaml.safe_dump(file), file="n_four_bar.yaml")
    )


def start(machine: Mechanism, cells: int) -> State:
    """Upright, the tips at 1 m/s."""
    return machine.state(_by_joint(cells, _UPRIGHT), _by_joint(cells, RATE))


def motion(cells: int, t: Array) -> dict[str, Array]:
    """All joints, as long as all cells stay parallelograms.

    N + 1 cranks turn about their ends, N couplers move on circles, so that ψ, from straight down,
    obeys (N + 1)/3 + N times ψ̈ = −g ((N + 1)/2 + N) sin ψ: a pendulum that turns over, whose ψ/2 is
    Jacobi's amplitude.

    Args:
        cells: N.
        t: Times, in s, (K,).

    Returns:
        Angle in rad by joint, (K,) each.
    """
    stiffness = GRAVITY * ((cells + 1) / 2 + cells) / ((cells + 1) / 3 + cells)
    fastest = np.sqrt(RATE**2 + 4.0 * stiffness)  # rad/s, straight down
    m = 4.0 * stiffness / fastest**2
    amplitude = ellipj(ellipk(m) + 0.5 * fastest * t, m)[3]
    return _by_joint(cells, _UPRIGHT - (2.0 * amplitude - np.pi))


def passes(cells: int, duration: float) -> int:
    """How often all bars lie flat, where N + 1 freedoms meet."""
    angle = motion(cells, np.linspace(0.0, duration, 10_001))["crank_0"]
    return int(np.abs(np.diff(np.floor(angle / np.pi))).sum())


def _by_joint(cells: int, angle: _Angle) -> dict[str, _Angle]:
    joints = {f"crank_{i}": angle for i in range(cells + 1)}
    return joints | {f"coupler_{i}": -angle for i in range(1, cells + 1)}
