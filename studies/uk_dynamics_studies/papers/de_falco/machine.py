# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The over-constrained five-bar of de Falco, Pennestrì and Vita, solved as its paper varies it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import ellipj

from uk_dynamics.core.equation import Method
from uk_dynamics.core.equation.published import PseudoinverseMethod
from uk_dynamics.mechanism.files import SolverSpec, StabilizationSpec
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism

ALPHA, BETA = 1000.0, 100.0  # 1/s, the stabilisation that the paper found by trying
REGULAR, FLAT = -60.0, 10.0  # degrees; from the second one it passes the flat configuration

_LEGS = ("left", "middle", "right")
_ANGLES = (*(f"{leg}_angle" for leg in _LEGS), "coupler_angle")
# Masses [kg] and inertias [kg m²] of the legs of 1 m; the coupler of 2 kg does not turn.
_LEG_MASSES = {False: (1.0, 1.0, 1.0), True: (1.0, 1.0, 2.5)}
_LEG_INERTIAS = {False: (0.1, 0.1, 0.1), True: (0.1, 0.1, 0.3)}
_COUPLER_MASS = 2.0


def from_alpha_beta(alpha: float, beta: float) -> tuple[float, float]:
    """Frequency and damping ratio of gains given as b −= 2α ψ̇ + β² ψ (de Falco (32)).

    Args:
        alpha: α = ζω, 1/s.
        beta: β = ω, 1/s, positive.

    Returns:
        Frequency β/2π, Hz, and damping ratio α/β.
    """
    return beta / (2.0 * np.pi), alpha / beta


@dataclass(frozen=True)
class Solver:
    """What the paper varies in the equation (31), or (32) with stabilisation."""

    algorithm: PseudoinverseMethod = "svd"
    rank_tolerance: float = 1e-4  # its relative threshold
    stabilized: bool = False  # with α = 1000 and β = 100, or without
    # the variant of this package, with one heavier leg and a coupler off its middle: in the paper's
    # machine the three legs are alike, and errors that are alike in all of them leave the redundant
    # row redundant
    asymmetric: bool = False

    def machine(self) -> Mechanism:
        """The shipped mechanism with this solver."""
        shipped = _shipped(self.asymmetric)
        gains = from_alpha_beta(ALPHA, BETA) if self.stabilized else (0.0, 1.0)
        stabilization = StabilizationSpec(*gains)
        method: Method = "udwadia_kalaba_pseudoinverse"
        spec = replace(
            shipped.spec,
            solver=SolverSpec(method, self.rank_tolerance, pseudoinverse=self.algorithm),
            constraints=tuple(
                replace(pin, stabilization=stabilization) for pin in shipped.spec.constraints
            ),
        )
        return Mechanism(spec, shipped.model.description)


@cache
def _shipped(asymmetric: bool) -> Mechanism:
    return Mechanism.from_file("five_bar_maximal" + "_asymmetric" * asymmetric)


def state_at(mechanism: Mechanism, angle: float, rate: float = 0.0) -> State:
    """The closed state with legs at θ above the horizontal, in rad; the rate is θ̇, in rad/s."""
    c, s = np.cos(angle), np.sin(angle)
    middle = 1.4 if mechanism.name.endswith("_asymmetric") else 1.0  # of the coupler's mass
    q = {"coupler_x": middle + c, "coupler_z": s, "coupler_angle": 0.0}
    v = {"coupler_x": -s * rate, "coupler_z": c * rate, "coupler_angle": 0.0}
    for place, leg in enumerate(_LEGS):
        q |= {f"{leg}_x": place + 0.5 * c, f"{leg}_z": 0.5 * s, f"{leg}_angle": angle}
        v |= {f"{leg}_x": -0.5 * s * rate, f"{leg}_z": 0.5 * c * rate, f"{leg}_angle": rate}
    return mechanism.state(q, v)


def exact_angle(t: float | Array, start: float, *, asymmetric: bool = False) -> Array:
    """θ(t) from rest at ``start``, within π of −π/2, by Jacobi's elliptic functions; in rad."""
    k = np.sin(0.5 * (start + 0.5 * np.pi))
    frequency = np.sqrt(_pendulum(asymmetric))
    _, cn, dn, _ = ellipj(frequency * np.asarray(t), k * k)
    angle: Array = 2.0 * np.arcsin(k * cn / dn) - 0.5 * np.pi
    return angle


def exact_acceleration(angle: float, *, asymmetric: bool = False) -> float:
    """θ̈ = −(G/J) cos θ, in rad/s²."""
    return float(-_pendulum(asymmetric) * np.cos(angle))


def _pendulum(asymmetric: bool) -> float:
    """G/J of the pendulum J θ̈ = −G cos θ that the closed machine is, in 1/s²."""
    masses = _LEG_MASSES[asymmetric]
    inertia = sum(_LEG_INERTIAS[asymmetric]) + 0.25 * sum(masses) + _COUPLER_MASS
    return 9.81 * (0.5 * sum(masses) + _COUPLER_MASS) / inertia


def angles(mechanism: Mechanism, q: Array) -> Array:
    """θ of the three legs, then the angle of the coupler, which is zero, (4,), in rad."""
    return q[[mechanism.model.position_index(name) for name in _ANGLES]]


def angular_accelerations(mechanism: Mechanism, qdd: Array) -> Array:
    """θ̈ of the three legs, then of the coupler, (4,), in rad/s²."""
    return qdd[[mechanism.model.velocity_index(name) for name in _ANGLES]]
