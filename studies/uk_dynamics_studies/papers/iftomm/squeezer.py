# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Andrews' squeezing mechanism, reduced to its one freedom in absolute angles and complex numbers.

Points of the plane are sums of bars, z = Σ c_k exp(i φ_k), with the data of E. Hairer and
G. Wanner, *Solving Ordinary Differential Equations II*, section VII.7. Nothing here comes from the
package.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from uk_dynamics_studies.papers.iftomm.pendulum import Array

TORQUE = 0.033  # N m, of the motor
_START = {  # rad, consistent; at rest
    "beta": -0.0617138900142764496,
    "theta": 0.0,
    "gamma": 0.455279819163070380,
    "phi": 0.222668390165885885,
    "delta": 0.487364979543842550,
    "omega": -0.222668390165885885,
    "epsilon": 1.23054744454982119,
}
JOINTS = tuple(_START)

# Rows: absolute angles of crank, rod, triangle, upper bar, upper arm, lower bar, lower arm.
_ABSOLUTE = np.array(
    [
        [1, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 0, 1],
    ],
    dtype=float,
)
_MASSES = np.array([0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498])  # kg
_MOMENTS = np.array([2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5])  # kg m²
_E_BY_CRANK = np.array([0.007, -0.028, 0, 0, 0, 0, 0], dtype=complex)  # m, from O to E
_E_OTHERWISE = np.array(  # from B by the triangle, from A by the upper and by the lower bars
    [
        [0, 0, -0.035j, 0, 0, 0, 0],
        [0, 0, 0, -0.02j, 0.04, 0, 0],
        [0, 0, 0, 0, 0, 0.02, -0.04j],
    ]
)
_LOOPS = _E_BY_CRANK - _E_OTHERWISE
_CENTRES = np.diag([0.00092, 0, 0.01043 - 0.01874j, 0, 0.02308 + 0.00916j, 0, 0.00449 - 0.01228j])
_CENTRES[1, :2] = 0.007, -0.0115
_CENTRES[3, 3:5] = -0.00579j, 0.04
_CENTRES[5, 5:7] = 0.00579, -0.04j
_FROM_C_TO_D = np.array([0, 0, 0.02 - 0.018j, 0, 0, 0, 0])
_B_FROM_C = -0.03635 + 0.03273j - (0.014 + 0.072j)
_STIFFNESS, _REST = 4530.0, 0.07785  # N/m, m


def motion(t: Array) -> dict[str, Array]:
    """Relative angles, named as in the book, to some 1e-10 rad.

    Args:
        t: Times from 0 on, in s, (K,).

    Returns:
        Angle in rad by joint, (K,) each.
    """
    start = np.append(_ABSOLUTE @ list(_START.values()), 0.0)
    found = solve_ivp(
        _rates, (0.0, t[-1] or 1e-9), start, "DOP853", t_eval=t, rtol=2.5e-14, atol=1e-13
    )
    return dict(zip(JOINTS, np.linalg.solve(_ABSOLUTE, found.y[:-1]), strict=True))


def _rates(_: float, y: Array) -> Array:
    """Rates of the absolute angles and of β̇: m β̈ = τ − V′ − ½ m′ β̇², derivatives along β."""
    turned = np.exp(1j * y[:-1])
    loops = _rows(1j * _LOOPS * turned)
    slope = np.zeros(7)
    slope[0] = 1.0
    slope[1:] = np.linalg.solve(loops[:, 1:], -loops[:, 0])
    bend = np.zeros(7)
    bend[1:] = np.linalg.solve(loops[:, 1:], _rows(_LOOPS * turned) @ slope**2)
    first = (1j * _CENTRES * turned) @ slope
    second = (1j * _CENTRES * turned) @ bend - (_CENTRES * turned) @ slope**2
    inertia = float(_MASSES @ np.abs(first) ** 2 + _MOMENTS @ slope**2)
    half_change = float(_MASSES @ (first.conj() * second).real + _MOMENTS @ (slope * bend))
    spring = _B_FROM_C + _FROM_C_TO_D @ turned
    stretch = (spring.conj() * ((1j * _FROM_C_TO_D * turned) @ slope)).real / abs(spring)
    force = _STIFFNESS * (abs(spring) - _REST)
    rate = y[-1]
    torque = TORQUE - force * stretch - half_change * rate**2
    return np.append(slope * rate, torque / inertia)


def _rows(loops: Array) -> Array:
    return np.vstack((loops.real, loops.imag))
