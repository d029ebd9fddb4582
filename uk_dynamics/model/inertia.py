"""Whether numbers can be the inertia of a body."""

from __future__ import annotations

import numpy as np

from uk_dynamics.model.description import Array

RELATIVE_ROUNDING = 1e-6  # files carry six digits


def inertia_problem(mass: float, inertia: Array) -> tuple[str, bool]:
    """Look for what no distribution of mass can have.

    Args:
        mass: In kg, not negative.
        inertia: About the center of mass, symmetric, (3, 3), in kg m².

    Returns:
        A message, empty when all is well, and whether dynamics would be nonsense with it.
    """
    moments = np.linalg.eigvalsh(inertia)
    rounding = RELATIVE_ROUNDING * float(np.abs(moments).max())
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    if moments[0] < -rounding:
        return f"the inertia is not positive definite: principal moments {shown} kg m²", True
    if moments[2] > moments[0] + moments[1] + rounding:
        return (
            f"no body has principal moments {shown} kg m²: one exceeds the sum of the others",
            False,
        )
    if mass == 0.0 and moments[2] > 0.0:
        return "it has inertia but no mass", False
    return "", False
