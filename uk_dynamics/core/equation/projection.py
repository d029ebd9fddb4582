# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Moving positions and velocities onto the constraints, by the least change in the metric of M."""

from collections.abc import Callable

from uk_dynamics.arrays import Array, largest
from uk_dynamics.core.equation.fundamental_equation import Factorization

# The generated C has these constants from here.
ROUNDING = 1e-14  # of residuals in m or rad: nothing is gained below
REACHED = 1e-7  # largest residual that counts as closed, in m or rad
DIVERGING = 10.0  # a step that multiplies the residual by more leads away
NEWTON_STEPS = 20
# In m or rad: for so small a residual C takes the factors of the step before, whose place is
# near; what that errs by is rounding.
SAME_PLACE = 1e-11

CONSTANTS = {
    "SAME_PLACE": SAME_PLACE,
    "ROUNDING": ROUNDING,
    "DIVERGING": DIVERGING,
    "NEWTON_STEPS": NEWTON_STEPS,
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
