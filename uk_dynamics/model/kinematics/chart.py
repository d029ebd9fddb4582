# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Charts of configurations: their coordinates ξ, with q = q₀ ⊕ ξ, and how these change with time.

Velocities of free bodies do not commute. The velocity coordinates of one-dof joints are derivatives
of coordinates; their bracket is zero. Those of a floating or planar joint are the body's velocity
in its own frame, left-invariant vector fields on SE(3) or SE(2): forwards and then turning ends
elsewhere than turning and then forwards.

Pinocchio's ``dIntegrate`` has the same, up to 2e-10 for angles about 1e-3 rad, where its series
end early.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from uk_dynamics.model.kinematics.bodies import Body
from uk_dynamics.model.urdf.description import ONE_DOF, Array, Joint

_SIZES = {"floating": 6, "planar": 3}


def structure_constants(joints: Sequence[Joint]) -> Array:
    """The c with [E_a, E_b] = Σ_c c_cab E_c for the velocity coordinates, (nv, nv, nv)."""
    sizes = [1 if joint.type in ONE_DOF else _SIZES[joint.type] for joint in joints]
    total = sum(sizes)
    constants = np.zeros((total, total, total))
    start = 0
    for size in sizes:
        if size > 1:
            part = slice(start, start + size)
            constants[part, part, part] = free_body() if size == 6 else planar_body()
        start += size
    return constants


def free_body() -> Array:
    """[(v₁, ω₁), (v₂, ω₂)] = (ω₁ × v₂ − ω₂ × v₁, ω₁ × ω₂), (6, 6, 6)."""
    cross = np.zeros((3, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        cross[i, j, k], cross[i, k, j] = 1.0, -1.0
    constants = np.zeros((6, 6, 6))
    constants[:3, 3:, :3] = cross
    constants[:3, :3, 3:] = cross
    constants[3:, 3:, 3:] = cross
    return constants


def planar_body() -> Array:
    """The same for (vx, vy, ωz), (3, 3, 3)."""
    kept = [0, 1, 5]
    return free_body()[np.ix_(kept, kept, kept)]


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
