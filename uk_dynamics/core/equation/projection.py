# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Moving positions and velocities onto the constraints, by the least change in the metric of M."""

from collections.abc import Callable

import numpy as np

from uk_dynamics.arrays import Array, largest
from uk_dynamics.core.equation.fundamental_equation import Factorization

# The generated C has these constants from here.
ROUNDING = 1e-14  # of residuals in m or rad: nothing is gained below
REACHED = 1e-7  # largest residual that counts as closed, in m or rad
DIVERGING = 10.0  # a step that multiplies the residual by more leads away
NEWTON_STEPS = 20
# Along directions of another place: how often; what is near enough in m or rad, and in their rates
# at velocities of about one; what part of a step the next one is at most.
CHORDS = {"STEPS": 12, "NEAR": 1e-13, "STILL": 1e-14, "SLOWEST": 0.5}

CONSTANTS = {
    "ROUNDING": ROUNDING,
    "DIVERGING": DIVERGING,
    "NEWTON_STEPS": NEWTON_STEPS,
    **{f"CHORD_{name}": x for name, x in CHORDS.items()},
}


class ProjectionFailedError(ArithmeticError):
    """Newton's steps do not lead to the constraints."""

    def __init__(self, residual: float, q: Array) -> None:
        # smallest largest residual reached, in m or rad, and where, (nq,)
        self.residual, self.q = residual, q
        super().__init__(f"projection stays {residual:.3g} (m or rad) away from the constraints")


def project_position(
    q: Array,  # where to start, (nq,)
    # configuration → factorisation of M and A there, and residual ψ (m,)
    linearize: Callable[[Array], tuple[Factorization, Array]],
    integrate: Callable[[Array, Array], Array],  # configuration and tangent step → configuration
    *,
    # largest residual that counts as reached, in m or rad. Rows that are dependent but for a small
    # residual norm, near a rank change, cannot be moved and keep theirs
    tolerance: float = REACHED,
) -> tuple[Array, Factorization]:
    """Newton steps δ of least δᵀMδ with A δ = −ψ, until ψ is rounding.

    Returns:
        The configuration, (nq,), with the smallest residual found, and the factorisation there.

    Raises:
        ProjectionFailedError: The residual stays above the tolerance.
    """
    factorization, psi = linearize(q)
    best, there, smallest = q, factorization, largest(psi)
    for _ in range(NEWTON_STEPS):
        if smallest <= ROUNDING:
            break
        q = integrate(q, factorization.correction(-psi))
        factorization, psi = linearize(q)
        residual = largest(psi)
        if residual < smallest:
            stalled = residual > 0.5 * smallest and residual <= tolerance
            best, there, smallest = q, factorization, residual
            if stalled:
                break
        elif smallest <= tolerance or residual > DIVERGING * smallest:
            break
    if not smallest <= tolerance:
        raise ProjectionFailedError(smallest, best)
    return best, there


def project_velocity(
    v: Array,  # velocity, (nv,)
    factorization: Factorization,  # of M and A at the configuration
    rate: Array,  # present rate of each row, A v minus what is prescribed, (m,)
) -> Array:
    """The velocity nearest to v, in the metric of M, whose rows have no rate."""
    return v - factorization.correction(rate)


def project_along(
    x: Array,  # configuration or velocity, where to start
    correction: Callable[[Array], Array],  # of another place near it, from residuals or rates (m,)
    left: Callable[[Array], Array],  # residuals or rates, (m,)
    move: Callable[[Array, Array], Array],
    near: float,
    tolerance: float,
) -> Array | None:
    """Steps along M⁻¹Aᵀ of another place, until nothing is left; None: they do not lead there.

    Each step but the first is the one that would be the last, were these directions off by as much
    as the step before tells (Anderson's acceleration of depth one).
    """
    before, last, moved = np.inf, np.zeros(0), np.zeros(0)
    for number in range(int(CHORDS["STEPS"])):
        rest = left(x)
        if largest(rest) <= near:
            return x
        step = correction(-rest)
        size = largest(step)
        if size <= near:  # what is left no row can change
            return x if largest(rest) <= tolerance else None
        if not size <= CHORDS["SLOWEST"] * before:
            return None
        taken = step
        if number:
            change = step - last
            taken = step - (step @ change) / (change @ change) * (moved + change)
        x, before, last, moved = move(x, taken), size, step, taken
    return None
