"""The compiled functions of a servo law, called as quickly as this Python can."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.servo_layout import ServoLayout
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.resolution.state import Array, State


class ServoCall:
    """The memory of a compiled servo law with what evaluates it; see :class:`CompiledCall`.

    Attributes:
        memory: As the layout says.
    """

    def __init__(self, path: Path, layout: ServoLayout) -> None:
        """Load a library.

        Args:
            path: Of the library.
            layout: Of its memory.
        """
        library = ctypes.CDLL(str(path))
        self._closure_error: Callable[[Any], float] = library.uk_closure_error
        self._errors: Callable[[Any], int] = library.uk_errors
        self._servo: Callable[[Any], int] = library.uk_servo
        self._allocate: Callable[[Any], int] = library.uk_allocate
        for function in (
            library.uk_closure_error,
            library.uk_errors,
            library.uk_servo,
            library.uk_allocate,
        ):
            function.argtypes, function.restype = (ctypes.c_void_p,), ctypes.c_int
        library.uk_closure_error.restype = ctypes.c_double
        self._layout = layout
        self.memory = np.zeros(layout.size)
        self.memory[layout["stabilize"]] = 1.0
        self.memory[layout["active"]] = 1.0
        self._address = ctypes.c_void_p(self.memory.ctypes.data)
        self._quick: tuple[Callable[..., Any], ...] | None = None
        if hasattr(library, "uk_bind_servo"):
            bind = ctypes.PyDLL(str(path)).uk_bind_servo
            bind.argtypes, bind.restype = (ctypes.py_object,), ctypes.py_object
            self._quick = bind(self.memory)

    def loop_closure_error(self, state: State) -> float:
        """Largest residual of a structural row that acts."""
        if self._quick is not None:
            found = self._quick[0](state.t, state.q, state.v)
            if found is not NotImplemented:
                largest: float = found
                return largest
        self._fill(state)
        return self._closure_error(self._address)

    def errors(self, state: State, followed: ReferenceSample) -> Array:
        """Residuals, then rates of the task rows, fresh, (2 mt,)."""
        if self._quick is not None:
            found = self._quick[1](state.t, state.q, state.v, *followed)
            if found is not NotImplemented:
                answer: Array = found
                return answer
        self._fill(state, followed)
        self._errors(self._address)
        return self.memory[self._layout.errors].copy()

    def servo(
        self,
        state: State,
        followed: ReferenceSample,
        tau: Array | None,
        pull: Array,
        weights: Array,
        preload: Array | None,
    ) -> tuple[Array, Array] | None:
        """Answers of the mechanism and of the law, fresh, as the layout has them; None: none.

        Args:
            state: t, q, v.
            followed: References of the task rows.
            tau: Generalized forces besides the motors, (nv,); None is zero.
            pull: b_t at zero bias, (mt,).
            weights: Diagonal of W, (motors,).
            preload: s, (motors,); None is zero.
        """
        if self._quick is not None:
            found = self._quick[2](
                state.t, state.q, state.v, *followed, tau, pull, weights, preload
            )
            if found is not NotImplemented:
                answers: tuple[Array, Array] | None = found
                return answers
        self._fill(state, followed)
        memory, layout = self.memory, self._layout
        memory[layout["tau"]] = 0.0 if tau is None else tau
        memory[layout["pull"]] = pull
        memory[layout["weights"]] = weights
        memory[layout["preload"]] = 0.0 if preload is None else preload
        if self._servo(self._address):
            return None
        return memory[: layout.answered].copy(), memory[layout.decision].copy()

    def allocate(self, lower: Array, upper: Array) -> Array | None:
        """Efforts within limits at the last state of :meth:`servo`, then 1 where none are better.

        The search begins where the last one ended, unless :meth:`forget` was called.

        Args:
            lower: Smallest efforts, (motors,).
            upper: Largest efforts, (motors,).

        Returns:
            (motors + 1,), fresh; None: the search failed.
        """
        if self._quick is not None:
            found = self._quick[3](lower, upper)
            if found is not NotImplemented:
                efforts: Array | None = found
                return efforts
        memory, layout = self.memory, self._layout
        memory[layout["lower"]] = lower
        memory[layout["upper"]] = upper
        return None if self._allocate(self._address) else memory[layout.allocation].copy()

    def forget(self) -> None:
        """Forget where the last search ended."""
        self.memory[self._layout["warm"]] = 0.0

    def _fill(self, state: State, followed: ReferenceSample | None = None) -> None:
        memory, layout = self.memory, self._layout
        memory[0] = state.t
        for name, value in (("q", state.q), ("v", state.v)):
            expected = (layout.fields[name].count,)
            if np.shape(value) != expected:
                found = np.shape(value)
                raise StateError(f"expected shape {expected}, found {found}", place=name)
            memory[layout[name]] = value
        if followed is not None:
            memory[layout["task_followed"]] = np.concatenate(followed)
