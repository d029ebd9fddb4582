"""How the constrained motion changes with state, forces and time."""

from uk_dynamics.derivatives.linearization import linearize, linearize_along
from uk_dynamics.derivatives.motion_derivatives import (
    DerivativeBackend,
    MotionDerivatives,
    ParameterDerivatives,
    differentiable,
)
from uk_dynamics.derivatives.statics import equilibrium

__all__ = [
    "DerivativeBackend",
    "MotionDerivatives",
    "ParameterDerivatives",
    "differentiable",
    "equilibrium",
    "linearize",
    "linearize_along",
]
