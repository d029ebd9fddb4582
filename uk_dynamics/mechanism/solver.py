"""The fundamental equation as a mechanism file asks for it, with errors that name joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.factorization import (
    Factorization,
    SingularMassError,
    UndeterminedCoordinatesError,
    factorize,
)
from uk_dynamics.core.mass_factor import mass_factor
from uk_dynamics.core.methods import Method
from uk_dynamics.mechanism.state import Array

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism


class Solver:
    """Factors M and A with the method, tolerances and levels of a mechanism.

    Attributes:
        rank_tolerance: Of the mechanism file.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        spec = mechanism.spec.solver
        self.rank_tolerance = spec.rank_tolerance
        self._spec = spec
        self._natural_scale = mechanism.natural_scale
        self._hierarchy = mechanism.hierarchy
        self._file = mechanism.spec.file
        self._velocity_names = mechanism.model.velocity_names
        # Levels change nothing about a projection.
        self._projection_method: Method = "auto" if spec.method == "hierarchical" else spec.method

    def factorize(self, mass: Array, A: Array) -> Factorization:
        """For accelerations: all rows, in their levels.

        Args:
            mass: M, (nv, nv).
            A: All rows, (m, nv).

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            SingularMassError: M is singular, and the method of the file divides by it.
        """
        return self._named(
            mass,
            A,
            natural_scale=self._natural_scale,
            rank_tolerance=self.rank_tolerance,
            method=self._spec.method,
            levels=self._hierarchy.levels,
            clearance=self._hierarchy.clearance,
        )

    def factorize_part(
        self,
        mass: Array,
        A: Array,
        rank_tolerance: float,
        chosen: NDArray[np.intp] | None = None,
    ) -> Factorization:
        """For projections: rows that hold exactly, all on one level.

        Args:
            mass: M, (nv, nv).
            A: The chosen rows, (k, nv).
            rank_tolerance: Instead of that of the file.
            chosen: Which rows these are, (k,); None: all.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            SingularMassError: M is singular, and the method of the file divides by it.
        """
        scale = self._natural_scale
        return self._named(
            mass,
            A,
            natural_scale=scale if chosen is None else scale[chosen],
            rank_tolerance=rank_tolerance,
            method=self._projection_method,
        )

    def _named(self, mass: Array, A: Array, **options: Any) -> Factorization:
        try:
            return factorize(
                mass_factor(mass), A, pseudoinverse=self._spec.pseudoinverse, **options
            )
        except SingularMassError as error:
            raise error.located(file=self._file, place="solver.method") from None
        except UndeterminedCoordinatesError as error:
            raise error.named(self._velocity_names) from None
