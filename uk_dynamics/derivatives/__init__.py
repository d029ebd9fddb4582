# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How motion, projection and servo efforts change with state, forces, time and parameters."""

from uk_dynamics.derivatives.differentiator import DerivativeBackend, differentiable
from uk_dynamics.derivatives.effort_derivatives import ServoDerivatives, has_effort_derivatives
from uk_dynamics.derivatives.equilibrium_search import equilibrium
from uk_dynamics.derivatives.linearization import linearize
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.derivatives.parameter_derivatives import ParameterDerivatives, by_parameters
from uk_dynamics.derivatives.projection_derivatives import ProjectionDerivatives
