# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Charts of configurations: their coordinates ξ, with q = q₀ ⊕ ξ, and how these change with time.

Pinocchio's ``dIntegrate`` has the same, up to 2e-10 for angles about 1e-3 rad, where its series
end early.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from uk_dynamics.model.kinematics.bodies import Body
from uk_dynamics.model.kinematics.lie_bracket import free_body, planar_body
from uk_dynamics.model.urdf.description import Array

SERIES_BELOW = (
    0.3  # rad; below it the series of the coefficients have five digits more than numbers
)


def chart_rate(bodies: Iterable[Body], xi: Array, v: Array) -> Array:
    """ξ̇ for the velocity v (nv,) at q₀ ⊕ ξ, ξ (nv,); q₀ does not matter.

    Of a floating or planar joint it is v + [ξ, v]/2 + [ξ, [ξ, v]]/12 − …, whose brackets from the
    fifth on are sums of the second and the fourth.
    """
    rate = np.array(v, dtype=float)
    for body in bodies:
        if body.kind in ("floating", "planar"):
            constants = _constants(body.kind)
            part = slice(body.velocity, body.velocity + len(constants))
            bracket = np.einsum("cab,a->cb", constants, xi[part])
            turn = xi[part][3:] if body.kind == "floating" else xi[part][2:]
            two, four = _coefficients(float(np.linalg.norm(turn)))
            twice = bracket @ bracket
            rate[part] += (0.5 * bracket + two * twice + four * twice @ twice) @ v[part]
    return rate


@cache
def _constants(kind: str) -> Array:
    return free_body() if kind == "floating" else planar_body()


def _coefficients(angle: float) -> tuple[float, float]:
    """Of the second and the fourth bracket."""
    s = angle * angle
    if angle < SERIES_BELOW:
        two = 1.0 / 12.0 - s * s * (1.0 / 30240.0 + s * (1.0 / 604800.0 + s / 15966720.0))
        four = -1.0 / 720.0 - s * (1.0 / 15120.0 + s * (1.0 / 403200.0 + s / 11975040.0))
        return two, four
    flat, cotangent = s / (1.0 - np.cos(angle)), angle / np.tan(0.5 * angle)
    two = (8.0 - flat - 3.0 * cotangent) / (4.0 * s)
    return two, (4.0 - flat - cotangent) / (4.0 * s * s)
