# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Charts of configurations: their coordinates ξ, with q = q₀ ⊕ ξ, and how these change with time.

Velocities of free bodies do not commute. The velocity coordinates of one-dof joints are derivatives
of coordinates; their bracket is zero. Those of a floating or planar joint are the body's velocity
in its own frame, left-invariant vector fields on SE(3) or SE(2): forwards and then turning ends
elsewhere than turning and then forwards.

Pinocchio's ``dIntegrate`` has the same, up to 2e-10 for angles about 1e-3 rad, where its series
end early.
"""

from collections.abc import Callable, Iterable

import numpy as np

import uk_dynamics.core.linalg.rotation_coefficients as coefficients
from uk_dynamics.arrays import Array
from uk_dynamics.core.linalg import at_least, below, cosine, polar_angle, square_root, where
from uk_dynamics.model.kinematics.bodies import Body

# Velocities of a free body that joints have.
_KEPT = {"floating": [0, 1, 2, 3, 4, 5], "planar": [0, 1, 5]}


def chart_rate(bodies: Iterable[Body], xi: Array, v: Array) -> Array:
    """ξ̇ for the velocity v (nv,) at q₀ ⊕ ξ, ξ (nv,); q₀ does not matter."""
    return _of_free_joints(bodies, floating_rate, np.array(v, dtype=float), xi, v)


def lie_bracket(bodies: Iterable[Body], x: Array, y: Array) -> Array:
    """[x, y] of two constant velocities, (nv,)."""
    return _of_free_joints(bodies, bracket, np.zeros(len(x)), x, y)


def _of_free_joints(
    bodies: Iterable[Body], make: Callable[[Array, Array], Array], found: Array, x: Array, y: Array
) -> Array:
    """``found``, (nv,), with what floating and planar joints make of x and y in their places."""
    for body in bodies:
        if body.kind in _KEPT:
            kept = _KEPT[body.kind]
            part = slice(body.velocity, body.velocity + len(kept))
            motions = np.zeros((2, 6))
            motions[:, kept] = x[part], y[part]
            found[part] = make(*motions)[kept]
    return found


# The motions of a floating joint, of numbers or of symbols: they are compiled, too. Places are
# x y z and a quaternion x y z w, (7,); motions are those of the body in its own frame, (6,).


def floating_rate(xi: Array, v: Array) -> Array:
    """ξ̇ = v + [ξ, v]/2 + [ξ, [ξ, v]]/12 − … for the velocity v of a floating joint at q₀ ⊕ ξ.

    The brackets from the fifth on are sums of the second and the fourth.
    """
    once = bracket(xi, v)
    twice = bracket(xi, once)
    fourth = bracket(xi, bracket(xi, twice))
    square = _dot(xi[3:], xi[3:])
    four = -coefficients.e_rate(square)
    return v + 0.5 * once + (coefficients.e(square) + square * four) * twice + four * fourth


def bracket(x: Array, y: Array) -> Array:
    """[(v₁, ω₁), (v₂, ω₂)] = (ω₁ × v₂ − ω₂ × v₁, ω₁ × ω₂), of twists (..., 6)."""
    (v, omega), (u, psi) = np.split(x, 2, axis=-1), np.split(y, 2, axis=-1)
    linear = np.cross(omega, u) - np.cross(psi, v)
    return np.concatenate((linear, np.cross(omega, psi)), axis=-1)


def floating_place(place: Array, motion: Array) -> Array:
    """The place that a motion leads a floating joint to."""
    v, turn = motion[:3], motion[3:]
    square = _dot(turn, turn)
    angle = square_root(square)
    once = np.cross(turn, v)
    way = v + coefficients.a(angle) * once + coefficients.c(square) * np.cross(turn, once)
    half = np.concatenate([0.5 * coefficients.sinc(0.5 * angle) * turn, cosine(0.5 * angle)])
    turned = _product(place[3:], half)
    return np.concatenate(
        [place[:3] + _turned(place[3:], way), turned / square_root(_dot(turned, turned))]
    )


def floating_motion(place: Array, other: Array) -> Array:
    """The motion that leads a floating joint from one place to another."""
    back = place[3:] * np.array([-1.0, -1.0, -1.0, 1.0])
    way = _turned(back, other[:3] - place[:3])
    turned = _product(back, other[3:])
    turned = turned * where(below(turned[3:], 0.0), -1.0, 1.0)  # the shorter way around
    half = at_least(square_root(_dot(turned[:3], turned[:3])), 1e-300)
    turn = 2.0 * polar_angle(half, turned[3:]) / half * turned[:3]
    once = np.cross(turn, way)
    return np.concatenate(
        [way - 0.5 * once + coefficients.e(_dot(turn, turn)) * np.cross(turn, once), turn]
    )


def _product(x: Array, y: Array) -> Array:
    """Product of two quaternions x y z w, (4,)."""
    vector = x[3:] * y[:3] + y[3:] * x[:3] + np.cross(x[:3], y[:3])
    return np.concatenate([vector, x[3:] * y[3:] - _dot(x[:3], y[:3])])


def _dot(x: Array, y: Array) -> Array:
    """Scalar product as an array, (1,)."""
    product: Array = np.sum(x * y, keepdims=True)
    return product


def _turned(quaternion: Array, vector: Array) -> Array:
    u = quaternion[:3]
    return vector + 2.0 * np.cross(u, np.cross(u, vector) + quaternion[3:] * vector)
