from uk_dynamics.core.factorization import (
    Factorization,
    SingularMassError,
    UndeterminedCoordinatesError,
    factorize,
)

__all__ = ["Factorization", "SingularMassError", "UndeterminedCoordinatesError", "factorize"]
