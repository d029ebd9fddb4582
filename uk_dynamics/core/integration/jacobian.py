# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivative of the equations of motion, which implicit methods need and stiffness shows in."""

from collections.abc import Callable

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.core.integration.fixed_step import ConfigurationSpace

#: (t, configurations (K, nq), velocities (K, nv)) → accelerations (K, nv), NaN where none are.
Accelerations = Callable[[float, Array, Array], Array]

# Of a radian, a metre, or their rates. Rounding of the accelerations and curvature count the same.
_PART = float(np.sqrt(np.finfo(float).eps))


def motion_jacobian(
    space: ConfigurationSpace,  # where q lives
    accelerations: Accelerations,  # at many states
    t: float,  # in s
    q: Array,  # where the chart begins, (nq,)
    xi: Array,  # coordinates in the chart, (nv,)
    v: Array,  # velocity, (nv,)
) -> Array:
    """Derivative of (ξ̇, v̇) with respect to (ξ, v), where the configuration is q ⊕ ξ, (2 nv, 2 nv).

    Forward differences, all of them in one call. Their steps are bounded from both sides: a
    coordinate that nothing depends on, such as the angle of a wheel, gets the same as the others.
    Where a step leads to where there is no acceleration, the one to the other side is taken; where
    there is none either, columns are NaN. (An evaluator that knows derivatives has its place here.)
    """
    nv = space.nv
    y = np.concatenate((xi, v))
    steps = _PART * np.maximum(1.0, np.abs(y))

    def rates(points: Array) -> Array:
        configurations = np.array([space.integrate(q, y[:nv]) for y in points])
        chart = [space.tangent_rate(q, y[:nv], y[nv:]) for y in points]
        found = accelerations(t, configurations, np.ascontiguousarray(points[:, nv:]))
        return np.concatenate((chart, found), axis=1)

    points = np.vstack((y, y + np.diag(steps)))
    found = rates(points)
    ahead = points[1:] - y  # as rounded
    differences = found[1:] - found[0]
    lost = np.flatnonzero(~np.isfinite(differences).all(axis=1))
    if len(lost) and np.isfinite(found[0]).all():
        behind = y - np.diag(steps)[lost]
        differences[lost] = rates(behind) - found[0]
        ahead[lost] = behind - y
    jacobian: Array = (differences / ahead.diagonal()[:, None]).T
    return jacobian
