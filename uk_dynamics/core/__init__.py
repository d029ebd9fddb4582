# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

from uk_dynamics.core.factorization import (
    Factorization,
    SingularMassError,
    UndeterminedCoordinatesError,
    factorize,
)
