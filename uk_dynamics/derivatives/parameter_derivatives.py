# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of acceleration, multipliers and constraint force by numbers of the mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation import motion_sparsity
from uk_dynamics.derivatives.differentiator import (
    DerivativeBackend,
    Differentiator,
    One,
    differentiable,
)
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import DerivativeStatus
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State


class ParameterSlopes(NamedTuple):
    """How the motion changes with P parameters while the state and the efforts are held.

    Attributes:
        acceleration: Of q̈, (nv, P).
        multipliers: Of the multipliers of least norm, (m, P).
        force: Of the ideal constraint force Aᵀλ, (nv, P).
        exist: False for parameters that move redundant rows apart, as lengths may, (P,); told by
            accelerations that cannot satisfy all rows, so by positions where b has stabilisation.
            Their columns follow the rows that the solution takes as independent, and mean
            something together alone: for parameters changed so that all rows keep holding, the sum
            of the columns is the derivative.
    """

    acceleration: Array
    multipliers: Array
    force: Array
    exist: NDArray[np.bool_]


class BatchParameterSlopes(NamedTuple):
    """How the motion changes with P parameters, at K states.

    Attributes:
        qdd: Accelerations, (K, nv).
        acceleration: (K, nv, P); where there is no solution NaN.
        exist: (K, P).
        status: Whether there is a solution: ``EXIST``, ``UNDETERMINED`` or ``NOT_FINITE`` of
            :class:`~uk_dynamics.mechanism.dynamics.DerivativeStatus`, (K,).
        multipliers: (K, m, P); None where not asked for.
        force: (K, nv, P); likewise.
    """

    qdd: Array
    acceleration: Array
    exist: NDArray[np.bool_]
    status: NDArray[np.int8]
    multipliers: Array | None = None
    force: Array | None = None


class ParameterPatterns(NamedTuple):
    """Which derivatives by P parameters may differ from zero, at any state.

    Attributes:
        acceleration: (nv, P).
        multipliers: (m, P).
        force: (nv, P).
    """

    acceleration: NDArray[np.bool_]
    multipliers: NDArray[np.bool_]
    force: NDArray[np.bool_]


class ParameterDerivatives:
    """Derivatives by parameters of one mechanism; not to be shared between threads."""

    def __init__(
        self,
        mechanism: ResolvedMechanism,
        names: Sequence[str],
        backend: DerivativeBackend = "cached",
    ) -> None:
        """Trace the equations by these parameters, or load what was compiled for their names.

        Args:
            mechanism: What to differentiate, at its values of the parameters.
            names: Of ``Mechanism.parameters``: masses, lengths, springs, friction, gravity. One
                library serves all their values.
            backend: As of :class:`~uk_dynamics.MotionDerivatives`.

        Raises:
            UnknownNameError: There is no such parameter.
            InputError: There are no names, or the mechanism has no derivatives, as for
                :class:`~uk_dynamics.MotionDerivatives`.
            CompilationError: With backend ``compiled``: it cannot be compiled.
        """
        self._names = tuple(names)
        self._differentiator = Differentiator(by_parameters(mechanism, names), backend)
        varied = sorted(set(names))
        self._columns: slice | list[int]
        columns = [varied.index(name) for name in names]
        ordered = columns == list(range(len(varied)))  # no copies then
        self._columns = slice(len(varied)) if ordered else columns

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parameters, in the order of the columns."""
        return self._names

    @cached_property
    def patterns(self) -> ParameterPatterns:
        """Which of them do not vanish by structure."""
        found = motion_sparsity(self._differentiator.mechanism)
        return ParameterPatterns(*(x[:, self._columns] for x in found))

    def at(self, state: State, inputs: Inputs | None = None) -> ParameterSlopes:
        """All of them at a state; in C where it is compiled.

        Args:
            state: Where the mechanism is.
            inputs: What acts on it; None for nothing.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            StateError: The state or the forces have the wrong size, or are not finite.
        """
        _, slopes, exist = self._at(state, inputs or Inputs(), forces=True)
        acceleration, multipliers, force = (x[:, self._columns] for x in slopes)
        return ParameterSlopes(acceleration, multipliers, force, exist[self._columns])

    def batch(
        self,
        q: Array,
        v: Array,
        tau: Array | None = None,
        t: Array | float = 0.0,
        *,
        forces: bool = False,
        threads: int | None = None,
    ) -> BatchParameterSlopes:
        """Of the acceleration at many states in one call, of multipliers and force if asked for.

        Arguments and errors as of :meth:`uk_dynamics.MotionDerivatives.batch`.
        """

        def alone(state: State, inputs: Inputs) -> One:
            qdd, slopes, exist = self._at(state, inputs, forces=forces)
            return One(qdd, slopes, DerivativeStatus.EXIST, exist)

        found = self._differentiator.many(q, v, tau, t, forces=forces, threads=threads, alone=alone)
        acceleration, *others = (x[..., self._columns] for x in found.slopes)
        exist = found.exist[:, self._columns]
        return BatchParameterSlopes(found.qdd, acceleration, exist, found.status, *others)

    def _at(
        self, state: State, inputs: Inputs, *, forces: bool
    ) -> tuple[Array, tuple[Array, ...], NDArray[np.bool_]]:
        """Acceleration, slopes by all parameters and forces, and which parameters have some."""
        compiled = self._differentiator.compiled
        slopes = self._differentiator.in_c(state, inputs, forces=forces)
        if compiled is not None and slopes is not None:
            return compiled.qdd, slopes, compiled.exist > 0.0
        found = self._differentiator.solve(state, inputs)
        each = np.eye(found.rows.shape[1], found.rates.shape[1])
        exist = np.logical_not(np.any(found.offending(each), axis=0))
        return found.solution.qdd, found.slopes, np.asarray(exist)


def by_parameters(mechanism: ResolvedMechanism, names: Sequence[str]) -> ResolvedMechanism:
    """A mechanism that varies these parameters alone, at its own values of them.

    Raises:
        UnknownNameError: There is no such parameter.
        InputError: There are no names, or the mechanism has no derivatives.
    """
    if not names or isinstance(names, str):
        raise InputError(
            'expected names of parameters in a list, such as ["gravity.z"], of those of'
            f" Mechanism.parameters; found {names!r}",
            place=mechanism.name,
        )
    known = mechanism.parameters
    # others are constants; these have the values of the files in what decides on the library
    settled = mechanism.with_parameters(names).as_filed().parameters
    filed = mechanism.with_parameters({name: settled[name].value for name in names})
    return differentiable(filed).with_parameters({name: known[name].value for name in names})
