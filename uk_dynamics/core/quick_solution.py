"""What the quick forms of the fundamental equation have in common: they answer the rest later."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.mass_factor import DenseMass
from uk_dynamics.core.methods import Method
from uk_dynamics.core.solution import Solution, Status
from uk_dynamics.core.udwadia_kalaba import UdwadiaKalaba

Array = NDArray[np.float64]

_NO_ROWS: NDArray[np.intp] = np.empty(0, dtype=np.intp)


class QuickMotion(Protocol):
    """What solves accelerations quickly at most states, in memory of its own.

    Attributes:
        natural_scale: How large each row is over the configurations, (m,).
        rank_tolerance: Largest relative remainder of a dependent row.
        independent: Which rows are taken for independent, (r,), ascending.
    """

    natural_scale: Array
    rank_tolerance: float
    independent: NDArray[np.intp]

    def solve(self, M: Array, F: Array, A: Array, b: Array) -> QuickSolution | None:
        """Acceleration and forces, or None; see :meth:`RegularMotion.solve`."""

    def acceleration(self, M: Array, F: Array, A: Array, b: Array) -> Array | None:
        """Acceleration alone, (nv,), fresh; see :meth:`solve`."""


class QuickSolution(Solution):
    """All rows hold; what is rarely asked for is found by the form of Udwadia and Kalaba."""

    status = Status.OK
    offending = _NO_ROWS

    def __init__(
        self,
        motion: QuickMotion,
        qdd: Array,
        borne: Array,
        lower: Array,
        A: Array,
        F: Array,
        b: Array,
    ) -> None:
        """Keep the answers and what they come from.

        Args:
            motion: What solved.
            qdd: Acceleration, (nv,).
            borne: Multipliers of the independent rows, (r,).
            lower: Factor of M, (nv, nv).
            A: Constraint matrix, (m, nv).
            F: Generalized force without constraints, (nv,), N m or N.
            b: Right-hand side of A q̈ = b, (m,).
        """
        self.qdd = qdd
        self._borne = borne
        self._origin = motion, lower, A, F, b

    @property
    def method(self) -> Method:
        """Form of the equation."""
        return "udwadia_kalaba"

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        return len(self._borne)

    @cached_property
    def ideal_force(self) -> Array:
        """Aᵀλ, (nv,), N m or N."""
        motion, _, A, _, _ = self._origin
        force: Array = self._borne.dot(A.take(motion.independent, 0))
        return force

    @cached_property
    def _factorization(self) -> UdwadiaKalaba:
        motion, lower, A, _, _ = self._origin
        return UdwadiaKalaba(DenseMass(lower), A, motion.natural_scale, motion.rank_tolerance)

    def __getattr__(self, name: str) -> Any:
        """What is not looked at yet."""
        if name == "reactions":
            self.reactions = self._factorization
        elif name in ("residual", "coordinates"):
            _, _, A, F, b = self._origin
            if name == "residual":
                self.residual = A.dot(self.qdd) - b
            else:
                self.coordinates = self._factorization.solve(F, b).coordinates
        else:
            raise AttributeError(name)
        return self.__dict__[name]
