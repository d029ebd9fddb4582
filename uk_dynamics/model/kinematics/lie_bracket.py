# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Velocities of free bodies do not commute: the Lie bracket of the joint coordinates.

The velocity coordinates of one-dof joints are derivatives of coordinates; their bracket is zero.
Those of a floating or planar joint are the body's velocity in its own frame, left-invariant vector
fields on SE(3) or SE(2): forwards and then turning ends elsewhere than turning and then forwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
