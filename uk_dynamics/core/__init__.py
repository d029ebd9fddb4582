# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

from uk_dynamics.core.equation import Factorization
from uk_dynamics.core.linalg.mass_factor import UndeterminedCoordinatesError
from uk_dynamics.core.solver_methods import SingularMassError, factorize
