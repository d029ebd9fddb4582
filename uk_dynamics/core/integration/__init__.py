# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Fixed-step and adaptive integration of the constrained motion."""

from uk_dynamics.core.integration.adaptive import (
    ADAPTIVE_CONSTANTS,
    ADAPTIVE_METHODS,
    SAME_TIME,
    AdaptiveMethod,
    AdaptiveStepper,
    Tolerances,
    motion_jacobian,
)
from uk_dynamics.core.integration.fixed_step import (
    FIXED_METHODS,
    GAUSS_CONSTANTS,
    GAUSS_TABLES,
    METHOD_CODES,
    PART_OF_A_STEP,
    ConfigurationSpace,
    rk4_step,
    steps_between,
)
