# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How the constrained motion changes with state, forces and time."""

from uk_dynamics.derivatives.differentiator import (
    DerivativeBackend,
    differentiable,
    followed_by,
    many_states,
)
from uk_dynamics.derivatives.effort_derivatives import (
    BatchEffortDerivatives,
    EffortDerivatives,
    EffortPatterns,
    EffortStatus,
)
from uk_dynamics.derivatives.linearization import linearize, linearize_along
from uk_dynamics.derivatives.motion_derivatives import ForceDerivatives, MotionDerivatives
from uk_dynamics.derivatives.parameter_derivatives import (
    BatchParameterSlopes,
    ParameterDerivatives,
    ParameterSlopes,
    by_parameters,
)
from uk_dynamics.derivatives.projection_derivatives import (
    BatchProjectionDerivatives,
    ProjectionDerivatives,
    ProjectionPatterns,
    projection_derivatives,
    projection_derivatives_batch,
    projection_patterns,
)
from uk_dynamics.derivatives.servo_derivatives import ServoDerivatives, has_effort_derivatives
from uk_dynamics.derivatives.statics import equilibrium

__all__ = [
    "BatchEffortDerivatives",
    "BatchParameterSlopes",
    "BatchProjectionDerivatives",
    "DerivativeBackend",
    "EffortDerivatives",
    "EffortPatterns",
    "EffortStatus",
    "ForceDerivatives",
    "MotionDerivatives",
    "ParameterDerivatives",
    "ParameterSlopes",
    "ProjectionDerivatives",
    "ProjectionPatterns",
    "ServoDerivatives",
    "by_parameters",
    "differentiable",
    "equilibrium",
    "followed_by",
    "has_effort_derivatives",
    "linearize",
    "linearize_along",
    "many_states",
    "projection_derivatives",
    "projection_derivatives_batch",
    "projection_patterns",
]
