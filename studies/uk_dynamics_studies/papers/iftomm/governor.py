# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The flyball governor in minimal coordinates: both arms at one angle.

Angular momentum about the shaft is constant, so angle of the arms and height of the slider are all
that Lagrange's equations are needed for. Nothing here comes from the package.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from uk_dynamics_studies.papers.iftomm.pendulum import GRAVITY, Array

_ARM, _BALL, _SLIDER, _SHAFT = 0.3, 5.0, 3.0, 0.3  # kg
_SECTION, _CUBE, _OFFSET = 0.01, 0.1, 0.05  # m; arms hang next to the axis
_AXIAL, _ACROSS = _ARM * _SECTION**2 / 6.0, _ARM * (1.0 + _SECTION**2) / 12.0  # kg m²
_STIFFNESS, _DAMPING, _REST = 8.0e5, 4.0e4, 0.5  # N/m, N s/m, m
SPIN = 2.0 * np.pi  # rad/s, at the start
ANGLE, HEIGHT = -np.pi / 6, 0.5  # rad, m
_ALONE = _SHAFT * _SECTION**2 / 6.0 + _SLIDER * _CUBE**2 / 6.0  # kg m², shaft and slider
_LIFTED = _ACROSS + 0.25 * _ARM + _BALL  # kg m², of one arm about its pin


def motion(t: Array) -> dict[str, Array]:
    """Joints of the governor, to some 1e-9.

    Args:
        t: Times from 0 on, in s, (K,).

    Returns:
        Position in rad or m by joint, (K,) each.
    """
    momentum = _about_the_shaft(ANGLE)[0] * SPIN

    def rates(_: float, y: Array) -> tuple[float, ...]:
        angle, height, _, lift, rise = y
        inertia, slope = _about_the_shaft(angle)
        spin = momentum / inertia
        c, s = np.cos(angle), np.sin(angle)
        across, above = 0.5 * c, 1.0 + 0.5 * s - height
        length = np.hypot(across, above)
        by_angle = 0.5 * (above * c - across * s) / length
        by_height = -above / length
        stretching = by_angle * lift + by_height * rise
        force = _STIFFNESS * (length - _REST) + _DAMPING * stretching
        weight = GRAVITY * (0.5 * _ARM + _BALL) * c
        return (
            lift,
            rise,
            spin,
            (0.25 * slope * spin**2 - weight - force * by_angle) / _LIFTED,
            -GRAVITY - 2.0 * force * by_height / _SLIDER,
        )

    start = (ANGLE, HEIGHT, 0.0, 0.0, 0.0)
    found = solve_ivp(  # stiff: the dampers settle within 0.1 ms
        rates, (0.0, t[-1] or 1e-9), start, "LSODA", t_eval=t, rtol=1e-13, atol=1e-14
    )
    arms, slider, shaft = found.y[:3]
    return {"right": arms, "left": arms, "slider": slider, "shaft": shaft}


def _about_the_shaft(angle: float) -> tuple[float, float]:
    """Moment of inertia about the shaft, in kg m², and its derivative by the angle of the arms."""
    c, s = np.cos(angle), np.sin(angle)
    arm = _ARM * (_OFFSET + 0.5 * c) ** 2 + _AXIAL * s**2 + _ACROSS * c**2
    ball = _BALL * (_OFFSET + c) ** 2
    slope = -_ARM * (_OFFSET + 0.5 * c) * s + 2.0 * (_AXIAL - _ACROSS) * s * c
    slope -= 2.0 * _BALL * (_OFFSET + c) * s
    return _ALONE + 2.0 * (arm + ball), 2.0 * slope
