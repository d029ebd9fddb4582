# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Chaplygin's sleigh with body velocities as unknowns: they are no rates of coordinates.

A sleigh on ice stands on a knife edge and two smooth feet; its centre of mass is a m ahead of the
edge. The unknowns are the rates of u = (forward speed, sideways speed, turning rate) of the edge,
seen from the sleigh, in which mass matrix and constraint are constant:

    M u̇ = f(u) + γ,  A u̇ = 0,  A = (0, 1, 0)

Coordinates follow from ẋ = u₁ cos θ − u₂ sin θ and so on, on demand.

Run it:  python examples/body_velocities.py
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.equation.solution import Solution
from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.solver_methods import factorize

Array = NDArray[np.float64]

MASS, INERTIA, AHEAD = 2.0, 0.3, 0.4  # kg, kg m² about the centre of mass, m

M = np.array(
    [
        [MASS, 0.0, 0.0],
        [0.0, MASS, MASS * AHEAD],
        [0.0, MASS * AHEAD, INERTIA + MASS * AHEAD**2],
    ]
)
A = np.array([[0.0, 1.0, 0.0]])


def rates(u: Array) -> Solution:
    """``qdd`` is u̇; ``multipliers`` is the sideways force of the ice on the edge, in N.

    Args:
        u: Forward and sideways speed in m/s, turning rate in rad/s.
    """
    forward, sideways, turning = u
    # Newton and Euler in axes that turn with the sleigh.
    f = MASS * turning * np.array([sideways + AHEAD * turning, -forward, -AHEAD * forward])
    return factorize(mass_factor(M), A).solve(f, np.zeros(1))


def main() -> None:
    """Print how a sleigh that turns on the spot ends up running straight ahead."""
    u, step = np.array([0.0, 0.0, 3.0]), 1e-3
    for count in range(3001):
        if count % 500 == 0:
            print(f"t = {count * step:.1f} s  {u[0]:7.4f} m/s ahead  {u[2]:7.4f} rad/s")
        middle = u + 0.5 * step * rates(u).qdd
        u = u + step * rates(middle).qdd


if __name__ == "__main__":
    main()
