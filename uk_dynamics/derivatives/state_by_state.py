# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives at one state and at many: in C where it can, else by the interpreted evaluator."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import EllipsisType
from typing import NamedTuple

import numpy as np

from uk_dynamics.compilation import CompiledStates, Library, States, Subject
from uk_dynamics.compilation.verification import (
    AnswersOfMany,
    Comparison,
    Trial,
    derivative_answers,
    states_of,
    verify,
)
from uk_dynamics.derivatives.differentiator import Differentiator
from uk_dynamics.mechanism.dynamics import (
    Derivative,
    Derivatives,
    DerivativeStatus,
    References,
    require_finite,
)
from uk_dynamics.mechanism.resolution import Array, State

Arrays = dict[str, Array]


class Given(NamedTuple):
    """What derivatives depend on beside the states, in common for all of them."""

    settings: Mapping[str, Array]  # fields of the memory of C by name
    # samples, or functions of time, that replace those of the tasks file
    references: References | None = None
    forces: bool = False  # whether those of multipliers and constraint force are wanted


NOTHING = Given({})


class StateByState(Differentiator, ABC):
    """Differentiates by a library that takes many states; threads may share it."""

    #: The library.
    _library: Library
    #: Quantities that a library is tried for; None: all.
    _tried: Sequence[str] | None = None
    #: Statuses with numbers.
    _numbers: Sequence[int] = (DerivativeStatus.EXIST,)
    #: Statuses of one state that need no answer of Python.
    _final: Sequence[int] = tuple(DerivativeStatus)

    @abstractmethod
    def _subject(self) -> Subject | None:
        """Give what the library is of; None where C cannot do it, or is not wanted."""

    @abstractmethod
    def _room(self, states: States, given: Given) -> tuple[Derivatives, Arrays]:
        """Make room for results, and for all of them under the names that C has for them."""

    @abstractmethod
    def _in_python(self, state: State, tau: Array | None, given: Given) -> Derivatives:
        """Differentiate at one state by the interpreted evaluator."""

    @abstractmethod
    def _interpreted(self) -> "StateByState":
        """Give the same without C, which libraries are tried against."""

    def _given(self) -> Given:
        """Give what a library is tried with."""
        return NOTHING

    def _asked(self, t: float, given: Given) -> Array | None:
        """Sample what tasks follow at a time, (3 mt,); None where there are no tasks."""
        return None

    def _read(self, found: Derivatives, arrays: Arrays) -> None:
        """Convert what C says of results in numbers of its own."""

    @cached_property
    def _compiled(self) -> CompiledStates | None:
        subject = self._subject()
        if subject is None:
            return None
        compiled = CompiledStates(subject, self._library)

        def differentiated(trials: Sequence[Trial]) -> list[Arrays | None]:
            all_of = states_of(trials)
            states = self._states(all_of.q, all_of.v, all_of.tau, all_of.t)
            found = self._in_c(compiled, states, self._given(), 1)
            return [self._answers(found, k, status) for k, status in enumerate(found.status)]

        self._verify(compiled.path, differentiated, compiled.width)
        return compiled

    def _verify(self, path: Path, compiled: AnswersOfMany, width: int = 1) -> None:
        """Compare a library with Python, the first time that it is loaded."""

        def comparisons() -> Iterator[Comparison]:
            python, given = self._interpreted(), self._given()

            def expected(trial: Trial) -> Arrays | None:
                found = python._in_python(trial.state, trial.tau, given)
                if found.exist is not True and np.ndim(found.exist) and not np.all(found.exist):
                    return None  # some parameters have none
                return self._answers(found, ..., found.status)

            return derivative_answers(self._mechanism, expected, compiled, width)

        verify(path, f"{self._library.value} of {self._mechanism.name}", comparisons)

    def _answers(self, found: Derivatives, k: int | EllipsisType, status: int) -> Arrays | None:
        """Name the derivatives that are compared, of all states or one; None without numbers."""
        if status not in self._numbers:
            return None
        tried = self._tried or found.quantities
        return {f"derivatives of {name}": found.quantities[name].whole[k] for name in tried}

    def _in_c(
        self, compiled: CompiledStates | None, states: States, given: Given, threads: int | None
    ) -> Derivatives:
        """Differentiate in C what can be; other states are left to Python."""
        found, arrays = self._room(states, given)
        if compiled is not None:
            if len(states.t) and self._asked(float(states.t[0]), given) is not None:
                asked = [self._asked(float(t), given) for t in states.t]
                states = states._replace(task_followed=np.array(asked))
            found.status[:] = compiled.differentiate(states, arrays, given.settings, threads)
            self._read(found, arrays)
        return found

    @cached_property
    def _alone(self) -> "_OneState":
        assert self._compiled is not None
        return _OneState(self, self._compiled)

    def _at(self, state: State, given: Given) -> Derivatives:
        """Differentiate at one state, in C where it is compiled."""
        require_finite(self._mechanism.model, state)
        if self._compiled is not None:
            status = self._alone.differentiate(state, given)
            if status in self._final:
                return self._alone.copied(DerivativeStatus(status))
        return self._in_python(state, None, given)

    def _batch(self, states: States, given: Given, threads: int | None) -> Derivatives:
        """Differentiate at many states, in C what can be; NaN where there are no numbers."""
        found = self._in_c(self._compiled, states, given, threads)
        found = self._fill(states, found, lambda state, tau: self._in_python(state, tau, given))
        if found.status.any():  # mostly, derivatives exist at all states
            absent = ~np.isin(found.status, self._numbers)
            for x in found.quantities.values():
                x.whole[absent] = np.nan
        return found


class _OneState(threading.local):
    """A batch of one state and the call of C on it, prepared once for each thread."""

    def __init__(self, differentiator: StateByState, compiled: CompiledStates) -> None:
        """Prepare results and call for arrays of a state."""
        self._of, mechanism = differentiator, differentiator.mechanism
        nq, nv, rows = mechanism.model.nq, mechanism.model.nv, 3 * len(mechanism.constraints)
        followed = np.zeros((1, rows)) if mechanism.follows_references else None
        t = np.zeros(1)
        asked = differentiator._asked(0.0, NOTHING)
        place = np.zeros((1, nq)), np.zeros((1, nv))
        self._states = States(t, *place, None, followed, None if asked is None else asked[None])
        self._found, self._arrays = differentiator._room(self._states, NOTHING)
        self._call, self._memory = compiled.alone(self._states, self._arrays)

    def differentiate(self, state: State, given: Given) -> int:
        """Differentiate at a state, of the right sizes; the status."""
        t, q, v, _, followed, asked = self._states
        t[0], q[0], v[0] = state.t, state.q, state.v
        sample = None if followed is None else self._of.reference(state.t)
        if followed is not None and sample is not None:
            np.concatenate(sample, out=followed[0])
        if asked is not None:
            asked[0] = self._of._asked(state.t, given)
        status = self._call(given.settings)
        self._of._read(self._found, self._arrays)
        return status

    def copied(self, status: DerivativeStatus) -> Derivatives:
        """Copy the results of the last state, which the next call overwrites."""
        one = self._found
        copies = {
            name: Derivative(x.whole[0].copy(), x.groups, x.value[0].copy())
            for name, x in one.quantities.items()
        }
        if "motions" not in self._memory:
            return Derivatives(copies, status)
        count = int(self._memory["allowed"][0])
        motions = self._memory["motions"].reshape(-1, 2 * self._states.v.shape[1])[:count]
        return Derivatives(copies, status, limited=one.limited[0].copy(), motions=motions.T.copy())
