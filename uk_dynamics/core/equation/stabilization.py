# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Baumgarte's stabilisation: drift off a constraint decays as a damped oscillation would.

A position-level row ψ(q, t) = 0 is replaced by ψ̈ + 2ζω ψ̇ + ω² ψ = 0, a velocity-level row
φ(q, v, t) = 0 by φ̇ + ω φ = 0, with ω = 2π · frequency. Both change the right-hand side b alone.
All functions take numbers or arrays with one entry per row.
"""

from typing import Any, TypeVar

import numpy as np

from uk_dynamics.arrays import Array, Flags

Value = TypeVar("Value", float, Array)

#: What constraints, tasks and held joints have unless a file or a program says otherwise.
FREQUENCY, DAMPING_RATIO = 5.0, 1.0  # Hz; without unit, 1 is critical


def position_gains(frequency: Value, damping_ratio: Value) -> tuple[Value, Value]:
    """Gains 2ζω of ψ̇, 1/s, and ω² of ψ, 1/s²: b = −bias − 2ζω ψ̇ − ω² ψ.

    The frequency is in Hz, 0 is no stabilisation; damping ratio 1 is critical damping.
    """
    omega = velocity_gain(frequency)
    return 2.0 * damping_ratio * omega, omega * omega


def velocity_gain(frequency: Value) -> Value:
    """Gain ω of φ in velocity-level rows, 1/s, by a frequency in Hz: b = −bias − ω φ."""
    return 2.0 * np.pi * frequency


def stabilizing_terms(damping: Any, stiffness: Any, rate: Any, residual: Any) -> Any:
    """Terms −2ζω ψ̇ − ω² ψ that b has besides −bias (review (18), de Falco (32)).

    Numbers, arrays or symbols; of order velocity the damping is ω, and the rate is ψ.
    """
    return -(damping * rate + stiffness * residual)


def row_gains(
    frequency: Value,  # hz; one number or one per row
    damping_ratio: Value,  # ζ; likewise
    position_rows: Flags,  # whether each row is of order position, (m,)
    motion_rows: Flags,  # whether each row is of order position or velocity, (m,)
) -> tuple[Array, Array]:
    """Gains of ψ̇, 1/s, and ψ, 1/s², (m,) each; zero for rows of order acceleration."""
    damping, stiffness = position_gains(frequency, damping_ratio)
    decay: Array = velocity_gain(frequency) * motion_rows.astype(float)
    return np.where(position_rows, damping, decay), np.where(position_rows, stiffness, 0.0)
