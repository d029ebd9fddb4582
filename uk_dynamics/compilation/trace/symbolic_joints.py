# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What joints do, on symbols: how they place bodies, and the motions that they allow."""

from dataclasses import dataclass

import numpy as np

from uk_dynamics.compilation.trace.symbols import Objects, as_objects, sine_and_cosine
from uk_dynamics.core.linalg import of_unit_quaternion
from uk_dynamics.model.kinematics import Body

_ROUNDING = 4e-16  # entries of a rotation matrix below this are rounding of π/2


@dataclass(frozen=True)
class Placement:
    """Pose of a body, in its parent and in the world."""

    local: Objects  # rotation in the parent, (3, 3)
    offset: Objects  # origin in the parent, (3,)
    rotation: Objects  # rotation in the world, (3, 3)
    translation: Objects  # origin in the world, (3,)


def placements(bodies: tuple[Body, ...], q: Objects) -> list[Placement]:
    """Poses of all bodies at a configuration, (nq,)."""
    places: list[Placement] = []
    for body in bodies:
        turned, moved = _joint(body, q)
        fixed = constant(body.rotation)
        local = fixed @ turned
        offset = fixed @ moved + as_objects(body.translation.tolist())
        if body.parent < 0:
            places.append(Placement(local, offset, local, offset))
        else:
            base = places[body.parent]
            rotation = base.rotation @ local
            translation = base.rotation @ offset + base.translation
            places.append(Placement(local, offset, rotation, translation))
    return places


def motions(body: Body) -> list[tuple[Objects, Objects]]:
    """Motion (linear, angular) of each velocity in the body's frame."""
    zero = zeros(3)
    unit = [as_objects(row) for row in np.eye(3).tolist()]
    if body.kind == "floating":
        return [(e, zero) for e in unit] + [(zero, e) for e in unit]
    if body.kind == "planar":
        return [(unit[0], zero), (unit[1], zero), (zero, unit[2])]
    axis = as_objects(body.axis.tolist())
    return [(zero, axis) if body.kind == "revolute" else (axis, zero)]


def _joint(body: Body, q: Objects) -> tuple[Objects, Objects]:
    """Rotation and translation of a joint at its positions."""
    at = body.position
    if body.kind == "floating":
        return as_objects(of_unit_quaternion(*q[at + 3 : at + 7])), q[at : at + 3]
    if body.kind == "planar":
        c, s = q[at + 2], q[at + 3]
        turned = as_objects([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return turned, as_objects([q[at], q[at + 1], 0.0])
    axis = as_objects(body.axis.tolist())
    identity = as_objects(np.eye(3).tolist())
    if body.kind == "prismatic":
        return identity, axis * q[at]
    # Rodrigues in the form that leaves zeros of the axis zeros, and ones ones
    s, c = sine_and_cosine(q[at])
    outer = np.outer(body.axis, body.axis)
    turning = as_objects((np.eye(3) - outer).tolist())
    return as_objects(outer.tolist()) + turning * c + skew(axis) * s, zeros(3)


def constant(rotation: np.ndarray) -> Objects:
    """A constant rotation whose zeros and ones are exact."""
    whole = np.round(rotation)
    near = np.abs(rotation - whole) < _ROUNDING
    return as_objects(np.where(near, whole + 0.0, rotation).tolist())


def skew(x: Objects) -> Objects:
    """The matrix that multiplies y to x × y."""
    return as_objects([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def cross(x: Objects, y: Objects) -> Objects:
    """Vector product, (3,)."""
    return as_objects(
        [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
    )


def zeros(*shape: int) -> Objects:
    """Zeros, which symbols can take the place of."""
    return np.full(shape, 0.0, dtype=object)
