# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fundamental equation as a mechanism file asks for it, with errors that name joints."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core import (
    Factorization,
    SingularMassError,
    UndeterminedCoordinatesError,
    factorize,
)
from uk_dynamics.core.equation import Method
from uk_dynamics.core.tree import factor_inertia
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array


class Solver:
    """Factors M and A with the method, tolerances and levels of a mechanism."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        spec = mechanism.spec.solver
        self.rank_tolerance = spec.rank_tolerance  # of the mechanism file
        self._natural_scale = mechanism.natural_scale
        self._file = mechanism.spec.file
        self._velocity_names = mechanism.model.velocity_names
        self._factorize = functools.partial(
            factorize,
            natural_scale=mechanism.natural_scale,
            rank_tolerance=spec.rank_tolerance,
            method=spec.method,
            pseudoinverse=spec.pseudoinverse,
            levels=mechanism.hierarchy.levels,
            clearance=mechanism.hierarchy.clearance,
        )
        # Levels change nothing about a projection.
        method: Method = "auto" if spec.method == "hierarchical" else spec.method
        self._factorize_part = functools.partial(
            factorize, method=method, pseudoinverse=spec.pseudoinverse
        )

    def factorize(self, mass: Array, A: Array) -> Factorization:
        """For accelerations: all rows, in their levels.

        Args:
            mass: M, (nv, nv).
            A: All rows, (m, nv).

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            SingularMassError: M is singular, and the method of the file divides by it.
        """
        try:
            return self._factorize(factor_inertia(mass), A)
        except (SingularMassError, UndeterminedCoordinatesError) as error:
            raise self._named(error) from None

    def factorize_part(
        self,
        mass: Array,  # M, (nv, nv)
        A: Array,  # the chosen rows, (k, nv)
        rank_tolerance: float,  # instead of that of the file
        chosen: NDArray[np.intp] | None = None,  # which rows these are, (k,); None: all
    ) -> Factorization:
        """For projections: rows that hold exactly, all on one level.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            SingularMassError: M is singular, and the method of the file divides by it.
        """
        scale = self._natural_scale if chosen is None else self._natural_scale[chosen]
        try:
            return self._factorize_part(
                factor_inertia(mass), A, natural_scale=scale, rank_tolerance=rank_tolerance
            )
        except (SingularMassError, UndeterminedCoordinatesError) as error:
            raise self._named(error) from None

    def _named(self, error: SingularMassError | UndeterminedCoordinatesError) -> Exception:
        if isinstance(error, SingularMassError):
            return error.located(file=self._file, place="solver.method")
        return error.named(self._velocity_names)
