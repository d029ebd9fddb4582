# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The solution of the fundamental equation: acceleration at once, forces when asked for."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from functools import cache, cached_property
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, get_args, overload

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.arrays import Array

Method = Literal[
    "auto",
    "udwadia_kalaba",
    "nullspace",
    "hierarchical",
    "udwadia_kalaba_pseudoinverse",
    "range_space",
    "augmented_pseudoinverse",
    "udwadia_phohomsiri",
    "kkt",
]

#: Forms that divide by M and look at rows whitened by it; the others scale coordinates by 1/√M_jj.
WHITENING: frozenset[str] = frozenset(
    {"auto", "udwadia_kalaba", "hierarchical", "udwadia_kalaba_pseudoinverse", "range_space"}
)
#: Forms whose result depends on the choice of a pseudoinverse algorithm.
WITH_PSEUDOINVERSE: frozenset[str] = frozenset(
    {"udwadia_kalaba_pseudoinverse", "range_space", "augmented_pseudoinverse", "udwadia_phohomsiri"}
)
#: Forms for any positive semi-definite M, ``auto`` aside.
FOR_SINGULAR_MASS: tuple[str, ...] = (
    "nullspace",
    "augmented_pseudoinverse",
    "udwadia_phohomsiri",
    "kkt",
)


class Status(Enum):
    """How far the acceleration can be trusted."""

    OK = "ok"
    """All rows hold."""
    NEAR_SINGULAR = "near_singular"
    """Rows that are nearly, but not exactly, dependent do not hold."""
    INCONSISTENT = "inconsistent"
    """Rows contradict each other; independent ones hold, those in ``offending`` do not."""
    UNDETERMINED_LOAD = "undetermined_load"
    """All rows hold; friction in ``offending`` depends on a load that redundant rows share."""
    NOT_CONVERGED = "not_converged"
    """All rows hold; non-ideal forces do not fit the loads they depend on, as where joints jam."""


class Reactions(Protocol):
    """Where the forces of a solution come from."""

    @property
    def method(self) -> Method:
        """Form of the equation."""

    @property
    def rank(self) -> int:
        """Number of independent rows."""

    @property
    def condition(self) -> float:
        """Condition number of the independent rows at unit norm."""

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Whether the multiplier of each row is unique, (m,)."""

    def multipliers(self, coordinates: Array) -> Array:
        """Multipliers of minimum norm, (m,)."""

    def ideal_force(self, coordinates: Array) -> Array:
        """Ideal constraint force, (nv,)."""

    def nonideal_force(self, force: Array) -> Array:
        """Part of a given force that the constraints let through, (nv,)."""

    def holding(self, force: Array) -> Array:
        """Ideal force, in the basis of the rows, that keeps a given force from moving them."""


One = TypeVar("One")
Many = TypeVar("Many")


class Instant(NamedTuple):
    """A state and its solution as arrays of numbers, or of symbols that are traced into C."""

    t: Any  # in s
    q: Array  # (nq,)
    v: Array  # (nv,)
    F: Array  # all forces but those of constraints: M q̈ = F + constraint_force, (nv,)
    bias: Array  # h in M q̈ + h, gravity and velocity terms, which F has with a minus, (nv,)
    qdd: Array  # (nv,)
    constraint_force: Array  # (nv,)


class OfOne(ABC):
    """Has the results of one state."""

    @abstractmethod
    def _find(self, result: "Result[Any, Any]") -> Any:
        """Find a result that is read for the first time."""


class OfMany:
    """Has the results of many states, a row for each."""


class Result(Generic[One, Many]):
    """A result of a state, found when it is first read; and the same of many states."""

    name: str  # of the attribute

    def __init__(
        self,
        doc: str,
        size: Literal["1", "NV", "M"],  # its numbers: 1, one for each velocity or constraint row
        memory: str,  # its field in the memory of C
        comment: str,  # what the C header says of it
        *,
        kind: type[np.generic] = np.float64,  # of the numbers in batches
        single: Callable[[float], Any] = float,  # what solutions have of a result that is a number
        always: bool = False,  # whether it is found where accelerations alone are wanted
        # finds it from what the interpreted evaluator has left in a solution
        find: Callable[[Any], One] | None = None,
        # or over arrays, where it follows from state and solution alone: run by the interpreted
        # evaluator, and traced into C
        formula: Callable[[Instant], Array] | None = None,
    ) -> None:
        self.__doc__ = doc
        self.size, self.memory, self.comment = size, memory, comment
        self.kind, self.single, self.always = kind, single, always
        self.find, self.formula = find, formula

    def of_one(self, numbers: Array) -> Any:
        """What solutions have, of numbers as C or the formula gives them."""
        if self.size == "1":
            return self.single(numbers[0])
        return numbers.astype(self.kind, copy=False)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "Result[One, Many]": ...
    @overload
    def __get__(self, instance: OfOne, owner: type) -> One: ...
    @overload
    def __get__(self, instance: OfMany, owner: type) -> Many: ...
    def __get__(self, instance: OfOne | OfMany | None, owner: type) -> Any:
        """Find it; from then on it is an attribute of its own."""
        if instance is None or isinstance(instance, OfMany):
            return self
        found = vars(instance)[self.name] = instance._find(self)
        return found


class Results:
    """What is found at every state, of which evaluators, C and batches make what they have of it.

    Entries in the order of the memory of C.
    """

    status: Result[Status, NDArray[np.int8]] = Result(
        "Whether all rows hold; in batches the index into ``tuple(Status)``, 0 is OK.",
        "1",
        "status",
        "UK_OK, UK_NEAR_SINGULAR or UK_INCONSISTENT",
        kind=np.int8,
        single=lambda number: tuple(Status)[int(number)],
        always=True,
    )
    rank: Result[int, NDArray[np.intp]] = Result(
        "Number of independent rows.",
        "1",
        "rank",
        "number of independent rows",
        kind=np.intp,
        single=int,
        always=True,
        find=lambda solution: solution.reactions.rank,
    )
    qdd: Result[Array, Array] = Result(
        "Acceleration q̈, (nv,), rad/s² or m/s².", "NV", "qdd", "accelerations", always=True
    )
    residual: Result[Array, Array | None] = Result("A q̈ − b, (m,).", "M", "violation", "A qdd - b")
    constraint_force: Result[Array, Array | None] = Result(
        "Ideal force plus what the constraints let through of c, (11) + (12), (nv,), N m or N.",
        "NV",
        "ideal_force",
        "A^T multipliers",
        find=lambda solution: solution._with_nonideal(),
    )
    multipliers: Result[Array, Array | None] = Result(
        """Multipliers λ of minimum Euclidean norm with ideal_force = Aᵀ λ, (m,).

        Of the rows of A, in which angles are multiplied by the declared length: in N.
        """,
        "M",
        "multipliers",
        "of least norm",
        find=lambda solution: solution.reactions.multipliers(solution.coordinates),
    )
    determined: Result[NDArray[np.bool_], NDArray[np.bool_] | None] = Result(
        "Whether the multiplier of each row is unique, (m,).",
        "M",
        "determined",
        "1 where the multiplier is unique",
        kind=np.bool_,
        find=lambda solution: solution.reactions.determined,
    )

    def __repr__(self) -> str:
        """Show what is known so far."""
        known = (f"{name}={x!r}" for name, x in vars(self).items() if not name.startswith("_"))
        return f"{type(self).__name__}({', '.join(known)})"

    def __init_subclass__(cls) -> None:
        """Show them, with their types, among the members of the class: those are documented."""
        which = 0 if issubclass(cls, OfOne) else 1
        for name, declared in vars(Results).items():
            if isinstance(declared, Result):
                setattr(cls, name, declared)
                cls.__annotations__[name] = get_args(Results.__annotations__[name])[which]


@cache
def results(*, always: bool | None = None) -> tuple[Result[Any, Any], ...]:
    """All results as declared; or those that there are without forces, or only with them."""
    found = (x for x in vars(Results).values() if isinstance(x, Result))
    return tuple(x for x in found if always in (None, x.always))


@cache
def formulas() -> tuple[Result[Any, Any], ...]:
    """Results that follow from state and solution alone."""
    return tuple(x for x in results() if x.formula is not None)


class Solution(OfOne, Results):
    """Constrained motion at one instant; M q̈ = F + constraint_force.

    Forces and multipliers are computed when first read. They depend on nothing that a later
    evaluation changes.

    Attributes:
        offending: Rows that do not hold, for the reason that ``status`` names, (k,).
        reactions: Source of the forces.
        coordinates: Ideal force as its source keeps it: in a basis of the rows or whitened.
        nonideal: Given non-ideal force c, (nv,), or None.
    """

    nonideal: Array | None = None

    def __init__(
        self,
        qdd: Array,
        residual: Array,
        status: Status,
        offending: NDArray[np.intp],
        reactions: Reactions,
        coordinates: Array,
        nonideal: Array | None,
    ) -> None:
        self.qdd, self.residual, self.status, self.offending = qdd, residual, status, offending
        self.reactions, self.coordinates, self.nonideal = reactions, coordinates, nonideal

    def _find(self, result: Result[Any, Any]) -> Any:
        assert result.find is not None, result.name
        return result.find(self)

    def apply(self, at: Instant) -> None:
        """Find the results of formulas, of arrays that later change."""
        for result in formulas():
            assert result.formula is not None
            vars(self)[result.name] = result.of_one(result.formula(at))

    @property
    def method(self) -> Method:
        """Form of the equation that gave the solution; what ``auto`` chose."""
        return self.reactions.method

    @cached_property
    def ideal_force(self) -> Array:
        """Force of ideal constraints, servo paper (11), in the range of Aᵀ, (nv,), N m or N."""
        return self.reactions.ideal_force(self.coordinates)

    def _with_nonideal(self) -> Array:
        if self.nonideal is None:
            return self.ideal_force
        return self.ideal_force + self.reactions.nonideal_force(self.nonideal)

    @cached_property
    def joint_multipliers(self) -> Array:
        """Multipliers that the joints transmit, (m,): constraint_force = c + Aᵀ joint_multipliers.

        Those of the ideal force alone leave out that the rows also resist c.
        """
        if self.nonideal is None:
            return self.multipliers
        return self.reactions.multipliers(self.coordinates + self.reactions.holding(self.nonideal))

    @property
    def condition(self) -> float:
        """Condition number of the independent rows at unit norm."""
        return self.reactions.condition
