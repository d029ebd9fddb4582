# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How the equation of motion is solved: the section ``solver`` of a mechanism file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from uk_dynamics.core.equation import WITH_PSEUDOINVERSE, Method
from uk_dynamics.core.equation.published import PseudoinverseMethod
from uk_dynamics.core.linalg import (
    DEFAULT_CONSISTENCY_TOLERANCE,
    DEFAULT_RANK_TOLERANCE,
    DEFAULT_TASK_RANK_TOLERANCE,
    LEAST_RANGE_SPACE_TOLERANCE,
)
from uk_dynamics.exceptions import MechanismFileError

_OF_DIGITS = 1e-8  # of the machine's size: a closure tolerance below is for rounded numbers
_MARGIN = 10.0  # of the rank tolerance: several errors add up in a row, with their levers


@dataclass(frozen=True)
class SolverSpec:
    """How the equation of motion is solved."""

    method: Method = "auto"  # form of the fundamental equation
    # part of its own whitened norm below which a row is dependent
    rank_tolerance: float = DEFAULT_RANK_TOLERANCE
    # relative error above which a dependent row contradicts the others
    consistency_tolerance: float = DEFAULT_CONSISTENCY_TOLERANCE
    # as rank_tolerance, for the map from motors to tasks
    task_rank_tolerance: float = DEFAULT_TASK_RANK_TOLERANCE
    # largest loop-closure error, as a part of the machine's size; see :meth:`closing_within`
    closure_tolerance: float = 1e-10
    # algorithm of the forms with an explicit pseudoinverse
    pseudoinverse: PseudoinverseMethod = "svd"
    impacts: Literal["newton", "poisson"] = "newton"  # whose restitution is meant

    @property
    def measured(self) -> bool:
        """Whether the machine is measured: loops close to more than rounded numbers."""
        return self.closure_tolerance > _OF_DIGITS

    @classmethod
    def from_data(cls, data: Mapping[str, Any], *, file: str) -> "SolverSpec":
        """Build it from checked data; method, pseudoinverse and tolerance have to go together."""
        method = data.get("method", cls.method)
        given: dict[str, Any] = {k: float(x) if isinstance(x, int) else x for k, x in data.items()}
        spec = cls(**given)
        if "pseudoinverse" in data and method not in WITH_PSEUDOINVERSE:
            raise MechanismFileError(
                f'method "{method}" computes no pseudoinverse; choose one of '
                f"{', '.join(sorted(WITH_PSEUDOINVERSE))}, or leave this out",
                file=file,
                place="solver.pseudoinverse",
            )
        if method == "range_space" and spec.rank_tolerance < LEAST_RANGE_SPACE_TOLERANCE:
            raise MechanismFileError(
                f"method range_space sees the square of the rank tolerance {spec.rank_tolerance:g},"
                f" which is rounding; give at least {LEAST_RANGE_SPACE_TOLERANCE:g}, or choose "
                "udwadia_kalaba_pseudoinverse",
                file=file,
                place="solver.rank_tolerance",
            )
        return spec.closing_within(spec.closure_tolerance)

    def closing_within(self, tolerance: float) -> "SolverSpec":
        """With a closure tolerance, a part of the machine's size, and others as wide as it needs.

        Axes and lengths of a measured machine are off by some part of its size, so that rows which
        repeat others in the ideal machine seem independent by that part: they count as dependent.
        They then hold to the closure tolerance instead of to the last digit, which projections
        judge; accelerations do not have to agree with them.
        """
        changed = replace(self, closure_tolerance=tolerance)
        if not changed.measured:
            return changed
        return replace(
            changed,
            rank_tolerance=max(self.rank_tolerance, _MARGIN * tolerance),
            consistency_tolerance=1.0,
        )
