# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The projection and its derivatives in C."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.build.library import Library, is_cached, library_of
from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import DerivativeLayout, rolls
from uk_dynamics.compilation.runtime.compiled_batch import in_parts
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism

WORTH_A_THREAD = 64  # states


class ProjectedStates(NamedTuple):
    """Of K states, as ``uk_projections`` has them.

    Attributes:
        q: Projected, (K, nq).
        v: Projected, (K, nv).
        slopes: Of q', then of v', by q, v, t, (K, 2 nv, 2 nv + 1).
        status: What ``uk_projection_slopes`` returns, (K,).
    """

    q: Array
    v: Array
    slopes: Array
    status: NDArray[np.int8]

    @classmethod
    def none(cls, q: Array, v: Array) -> ProjectedStates:
        """Of states that are left to Python, (K, …)."""
        count, nv = v.shape
        slopes = np.zeros((count, 2 * nv, 2 * nv + 1))
        return cls(np.empty_like(q), np.empty_like(v), slopes, np.ones(count, np.int8))


_Call = structure("uk_projections")


class CompiledProjection:
    """The library of a mechanism for derivatives of the projection."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Load the library; compile it when it is not in the cache.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
        """
        self._function = ctypes.CDLL(str(library_of(mechanism, Library.PROJECTION))).uk_project_many
        self._function.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Call))
        self._function.restype = None
        self._layout = DerivativeLayout(mechanism)
        self._acting = mechanism.hierarchy.acting()

    def differentiate(
        self, q: Array, v: Array, t: Array, followed: Array | None, threads: int | None
    ) -> ProjectedStates:
        """At all states: arrays (K, …), contiguous; t and references may be common to all."""
        found, status = ProjectedStates.none(q, v), np.empty(len(v))

        def run(first: int, end: int) -> None:
            memory = self._layout.memory()
            memory[self._layout["active"]][: len(self._acting)] = self._acting
            strides = [stride_of(x) for x in (t, followed)]
            pointers = [at(x, first) for x in (t, q, v, followed, *found[:3], status)]
            call = _Call(end - first, *strides, *pointers)
            self._function(memory.ctypes.data, ctypes.byref(call))

        in_parts(run, len(v), threads, 1, WORTH_A_THREAD)
        return found._replace(status=status.astype(np.int8))


def projection_in_c(mechanism: ResolvedMechanism, *, make: bool) -> CompiledProjection | None:
    """None where it is not compiled and not to be made, or cannot be: where q is no vector.

    Raises:
        CompilationError: It is to be made, and there is no compiler.
    """
    if rolls(mechanism) and (make or is_cached(mechanism, Library.PROJECTION)):
        return CompiledProjection(mechanism)
    return None


def stride_of(array: Array | None) -> int:
    """Numbers from one state to the next; 0 where all have the same."""
    return 0 if array is None or len(array) == 1 else array.strides[0] // array.itemsize


def at(array: Array | None, state: int) -> int | None:
    """Address of what a state has of an array; None of none."""
    if array is None:
        return None
    return int(array.ctypes.data) + state * stride_of(array) * array.itemsize
