# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References of tasks: t → value, rate and acceleration of each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.expressions.compiled import (
    CompiledExpressions,
    JointPlaces,
    Source,
    make_scope,
)
from uk_dynamics.constraints.expressions.differentiation import Differentiator
from uk_dynamics.constraints.expressions.nodes import ONE, TIME, Expression
from uk_dynamics.constraints.expressions.parser import parse
from uk_dynamics.exceptions import StateError, expect_names


class ReferenceSample(NamedTuple):
    """Reference at one instant; units are those of the rows (m or rad), per s and per s².

    Attributes:
        value: (m,).
        rate: (m,).
        acceleration: (m,).
    """

    value: Array
    rate: Array
    acceleration: Array

    @classmethod
    def at_rest(cls, value: Array) -> "ReferenceSample":
        """A value without motion."""
        return cls(value, np.zeros_like(value), np.zeros_like(value))


class Reference(Protocol):
    """A twice differentiable function of time with m components."""

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""


Followed = ReferenceSample | Reference
References = Mapping[str, Followed]  # by name
"""What replaces a declared reference: a sample that holds at all times, or a function of time."""


@dataclass(frozen=True)
class Constant:
    """The same value at all times."""

    value: Array  # (m,), in m or rad

    def sample(self, t: float) -> ReferenceSample:
        """Value, zero rate, zero acceleration."""
        return ReferenceSample.at_rest(self.value)


@dataclass(frozen=True)
class Sinusoid:
    """offset + amplitude · sin(2π · frequency · t + phase)."""

    offset: Array  # (m,), in m or rad
    amplitude: Array  # (m,), in m or rad
    frequency: Array  # (m,), in Hz
    phase: Array  # (m,), in rad

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""
        omega = 2.0 * np.pi * self.frequency
        angle = omega * t + self.phase
        swing = self.amplitude * np.sin(angle)
        rate = self.amplitude * omega * np.cos(angle)
        return ReferenceSample(self.offset + swing, rate, -omega * omega * swing)


@dataclass(frozen=True)
class Live:
    """A slot: samples arrive through the inputs of an evaluation; until then the initial value."""

    value: Array  # wanted value before the first sample, (m,), in m or rad

    def sample(self, t: float) -> ReferenceSample:
        """The initial value at rest."""
        return ReferenceSample.at_rest(self.value)


@dataclass(frozen=True)
class ReferenceSet:
    """References by name of their constraint; a constraint without one is to be zero."""

    role: str  # what errors call a constraint: ``constraint`` or ``task``
    rows: Mapping[str, int]  # number of rows of each constraint, in declared order
    references: Mapping[str, Reference]  # what some of the constraints follow

    def sample(
        self,
        t: float,  # time, in s
        # samples or functions of time that replace the declared references, by constraint name
        live: References | None = None,
    ) -> ReferenceSample | None:
        """References of all rows, (m,) each; None where every one is zero.

        Raises:
            UnknownNameError: A live sample is for a constraint that does not exist.
            StateError: A live sample has the wrong size.
        """
        live = live or {}
        if not live and not self.references:
            return None
        expect_names(self.role, live, self.rows)
        samples = [self.one(name, t, live.get(name)) for name in self.rows]
        if len(samples) == 1:
            return samples[0]
        return ReferenceSample(*map(np.concatenate, zip(*samples, strict=True)))

    def one(self, name: str, t: float, live: Followed | None = None) -> ReferenceSample:
        """Reference of one constraint, (rows,) each."""
        shape = (self.rows[name],)
        if live is None:
            if name in self.references:
                return self.references[name].sample(t)
            return ReferenceSample(*np.zeros((3, *shape)))
        sample = live if isinstance(live, ReferenceSample) else live.sample(t)
        if any(np.shape(part) != shape for part in sample):
            raise StateError(f"expected value, rate and acceleration of shape {shape}", place=name)
        return sample


_NO_JOINTS = JointPlaces({}, {}, 0)
_EMPTY: Array = np.zeros(0)


class ExpressionReference:
    """Value, rate and acceleration of expressions of t, by symbolic differentiation."""

    def __init__(self, texts: Sequence[str], parameters: Mapping[str, float], owner: str) -> None:
        """Read and derive the expressions, one per row; errors call the reference ``owner``."""
        scope = make_scope(_NO_JOINTS, parameters, {}, highest_order=0)
        values: list[Expression] = [parse(text, scope) for text in texts]
        rates = [Differentiator().along(value, {TIME: ONE}) for value in values]
        accelerations = [Differentiator().along(rate, {TIME: ONE}) for rate in rates]
        sources = [Source(owner, text) for text in texts]
        # t → values, rates and accelerations of all rows, (3 rows,)
        self.function = CompiledExpressions(
            [*values, *rates, *accelerations], sources * 3, _NO_JOINTS
        )

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s.

        Raises:
            ExpressionValueError: One of them has no value at t.
        """
        return ReferenceSample(*np.array(self.function(t, _EMPTY, _EMPTY)).reshape(3, -1))
