# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How a result of a solved state is declared; :class:`Results` declares all of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

import numpy as np

from uk_dynamics.arrays import Array

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
