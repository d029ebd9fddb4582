# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""An electrical network as M, f, A, b: Orsino's method is not only for mechanisms.

A bridge of six branches, each a coil, a resistor and a capacitor in series, and a source in the
sixth. Branch currents i are the quasi-velocities, branch charges q the coordinates (dq/dt = i). A
branch by itself is a module of first order in the currents:

    L di/dt = e(t) - R i - q / C + γ

Kirchhoff's current law at the nodes is the constraint, A di/dt = 0, and the constraint force is
γ = Aᵀ λ: λ are the potentials of the nodes. The law at the last node follows from the
others; it need not be known which one.

    left --1-- top --2-- right        branch 5 bridges top and bottom,
    left --3-- bottom --4-- right     branch 6 with the source joins right and left

Run it:  python examples/electrical_network.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.equation.solution import Solution
from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.solver_methods import Factorization, factorize

Array = NDArray[np.float64]

NODES = ("left", "top", "bottom", "right")
BRANCHES = (  # from, to
    ("left", "top"),
    ("top", "right"),
    ("left", "bottom"),
    ("bottom", "right"),
    ("top", "bottom"),
    ("right", "left"),
)
L = np.array([0.10, 0.20, 0.15, 0.05, 0.30, 0.02])  # H
R = np.array([1.0, 2.0, 0.5, 1.5, 3.0, 0.2])  # Ω
C = np.array([0.05, 0.02, 0.04, 0.10, 0.03, 1.0])  # F
# Levels: the two paths from left to right by themselves first, then the network.
LEVELS = ([NODES.index("top"), NODES.index("bottom")], [0, 3])


def incidence() -> Array:
    """A: 1 where a branch leaves a node, −1 where it arrives, (nodes, branches)."""
    A = np.zeros((len(NODES), len(BRANCHES)))
    for branch, (start, end) in enumerate(BRANCHES):
        A[NODES.index(start), branch] = 1.0
        A[NODES.index(end), branch] = -1.0
    return A


@cache
def network() -> Factorization:
    """Coils and nodes do not change: one factorisation serves all times."""
    return factorize(
        mass_factor(np.diag(L)),
        incidence(),
        method="hierarchical",
        levels=[np.array(level) for level in LEVELS],
    )


def source(t: float) -> Array:
    """Voltages of the sources, (branches,), in V."""
    e = np.zeros(len(BRANCHES))
    e[5] = 10.0 * np.sin(20.0 * t)
    return e


def currents_change(t: float, q: Array, i: Array) -> Solution:
    """di/dt of all branches, and the potentials behind it.

    Args:
        t: Time, in s.
        q: Charges, (branches,), in A s.
        i: Currents, (branches,), in A.

    Returns:
        ``qdd`` is di/dt in A/s, ``multipliers`` are the potentials of the nodes in V, up to one
        constant.
    """
    # Currents that have drifted off Kirchhoff's law return to it within a second or so.
    return network().solve(source(t) - R * i - q / C, -5.0 * (network().A @ i))


def integrate(duration: float, step: float) -> tuple[Array, Array, Array]:
    """Times (K,), charges (K, branches) and currents (K, branches), from rest, by RK4."""

    def rate(t: float, x: Array) -> Array:
        q, i = np.split(x, 2)
        return np.concatenate((i, currents_change(t, q, i).qdd))

    times = np.linspace(0.0, duration, round(duration / step) + 1)
    states = [np.zeros(2 * len(BRANCHES))]
    for t in times[:-1]:
        states.append(_rk4(rate, float(t), states[-1], float(times[1])))
    charges, currents = np.split(np.array(states), 2, axis=1)
    return times, charges, currents


def _rk4(rate: Callable[[float, Array], Array], t: float, x: Array, h: float) -> Array:
    a = rate(t, x)
    b = rate(t + h / 2, x + h / 2 * a)
    c = rate(t + h / 2, x + h / 2 * b)
    d = rate(t + h, x + h * c)
    return x + h / 6 * (a + 2 * b + 2 * c + d)


def main() -> None:
    """Print currents and potentials after a second."""
    times, charges, currents = integrate(1.0, 1e-3)
    solution = currents_change(float(times[-1]), charges[-1], currents[-1])
    print(f"rank of Kirchhoff's law: {solution.rank} of {len(NODES)} nodes")
    for (start, end), current in zip(BRANCHES, currents[-1], strict=True):
        print(f"{start:>6} to {end:<6} {current:9.5f} A")
    potentials = solution.multipliers
    for node, potential in zip(NODES, potentials - potentials[0], strict=True):
        print(f"{node:>6} {potential:9.5f} V")


if __name__ == "__main__":
    main()
