# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fundamental equation of constrained motion; stabilisation, projection, non-ideal forces."""

from uk_dynamics.core.equation import projection
from uk_dynamics.core.equation.fundamental_equation import Factorization
from uk_dynamics.core.equation.integrability import PfaffianSystem, integrability
from uk_dynamics.core.equation.load_dependent_force import LoadForces, solve_nonideal
from uk_dynamics.core.equation.projection import (
    ProjectionFailedError,
    project_along,
    project_position,
    project_velocity,
)
from uk_dynamics.core.equation.solution import (
    WHITENING,
    WITH_PSEUDOINVERSE,
    Instant,
    Method,
    OfMany,
    Result,
    Results,
    Solution,
    Status,
    formulas,
    results,
)
from uk_dynamics.core.equation.stabilization import (
    DAMPING_RATIO,
    FREQUENCY,
    position_gains,
    row_gains,
    stabilizing_terms,
)
from uk_dynamics.core.equation.udwadia_kalaba import UdwadiaKalaba
