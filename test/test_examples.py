"""The examples beside closed forms and independent methods."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.repository import ROOT

EXAMPLES = ROOT / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_runs(path, capsys):
    example(path.stem).main()
    assert capsys.readouterr().out


def test_the_network_is_that_of_mesh_analysis():
    """Loop currents as the only unknowns: no node, no constraint, another integrator."""
    network = example("electrical_network")
    # Each loop by its branches: left-top-bottom, top-right-bottom, and the lower path with the
    # source; written down from the drawing.
    loops = np.array(
        [
            [1.0, 0.0, -1.0, 0.0, 1.0, 0.0],
            [0.0, 1.0, 0.0, -1.0, -1.0, 0.0],
            [0.0, 0.0, 1.0, 1.0, 0.0, 1.0],
        ]
    )
    inductance = (loops * network.L) @ loops.T
    resistance = (loops * network.R) @ loops.T
    elastance = (loops / network.C) @ loops.T

    def rate(t, x):
        charge, current = np.split(x, 2)
        voltage = loops @ network.source(t) - resistance @ current - elastance @ charge
        return np.concatenate((current, np.linalg.solve(inductance, voltage)))

    times, charges, currents = network.integrate(1.0, 1e-3)
    exact = solve_ivp(rate, (0.0, 1.0), np.zeros(6), t_eval=times, rtol=1e-11, atol=1e-12).y.T
    # RK4 at 1 ms, fastest mode of some hundred rad/s: errors of (0.1)⁴ per unit, 1e-6 A of 1 A.
    np.testing.assert_allclose(charges, exact[:, :3] @ loops, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(currents, exact[:, 3:] @ loops, rtol=0.0, atol=1e-5)
    assert np.abs(currents).max() > 0.3


def test_potentials_of_the_network_obey_every_branch():
    network = example("electrical_network")
    rng = np.random.default_rng(0)
    A = network.incidence()
    free = np.linalg.svd(A)[2][3:].T
    q, i = free @ rng.standard_normal(3), free @ rng.standard_normal(3)
    solution = network.currents_change(0.3, q, i)
    potentials = solution.multipliers
    for branch, (start, end) in enumerate(network.BRANCHES):
        across = potentials[network.NODES.index(start)] - potentials[network.NODES.index(end)]
        drop = (
            network.L[branch] * solution.qdd[branch]
            + network.R[branch] * i[branch]
            + q[branch] / network.C[branch]
            - network.source(0.3)[branch]
        )
        # Voltages of a hundred volts: rounding.
        assert across == pytest.approx(drop, abs=1e-10)
    assert solution.rank == 3
    assert np.abs(A @ solution.qdd).max() < 1e-10


def test_a_network_of_first_order_its_unknowns_are_rates_of_voltages():
    """Capacitors to ground, resistors between them, two nodes tied by a source of 1 V sin t.

    M v̇ = f + Aᵀλ, with capacitances for masses; λ is the current of the source.
    """
    from uk_dynamics.core.factorization import factorize
    from uk_dynamics.core.mass_factor import mass_factor

    capacitance = np.array([1.0, 2.0, 0.5])
    conductance = np.array([[3.0, -1.0, -2.0], [-1.0, 4.0, -3.0], [-2.0, -3.0, 5.0]])
    v, t = np.array([0.2, -0.1, 0.2 - np.sin(0.7)]), 0.7
    A = np.array([[1.0, 0.0, -1.0]])  # v₁ − v₃ = sin t
    solution = factorize(mass_factor(np.diag(capacitance)), A).solve(
        -conductance @ v, np.array([np.cos(t)])
    )
    # By hand: charge of the two tied nodes together, the third by itself.
    flow = -conductance @ v
    first = (flow[0] + flow[2] + capacitance[2] * np.cos(t)) / (capacitance[0] + capacitance[2])
    expected = [first, flow[1] / capacitance[1], first - np.cos(t)]
    np.testing.assert_allclose(solution.qdd, expected, rtol=0.0, atol=1e-14)
    assert solution.multipliers[0] == pytest.approx(capacitance[0] * first - flow[0], abs=1e-14)


def test_the_sleigh_is_that_of_the_textbooks():
    sleigh = example("body_velocities")
    effective = sleigh.INERTIA + sleigh.MASS * sleigh.AHEAD**2
    rng = np.random.default_rng(0)
    for forward, turning in rng.standard_normal((5, 2)):
        solution = sleigh.rates(np.array([forward, 0.0, turning]))
        # Chaplygin: u̇ = a ω², ω̇ = −m a u ω / (I + m a²), and no sideways acceleration.
        expected = [
            sleigh.AHEAD * turning**2,
            0.0,
            -sleigh.MASS * sleigh.AHEAD * forward * turning / effective,
        ]
        np.testing.assert_allclose(solution.qdd, expected, rtol=0.0, atol=1e-13)
        power = sleigh.MASS * forward * solution.qdd[0] + effective * turning * solution.qdd[2]
        assert power == pytest.approx(0.0, abs=1e-12)
