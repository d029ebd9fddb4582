# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the motion at many states in C: SIMD across states, and threads."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.build.library import derivative_batch_library_of
from uk_dynamics.compilation.runtime.compiled_batch import in_parts
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism

_WORTH_A_THREAD = 128  # states
_ALONE = 2  # UK_ALONE of derivatives_lanes.h


class _Call(ctypes.Structure):
    """``uk_derivative_batch`` of derivatives_lanes.h."""

    _fields_ = (
        *((name, ctypes.c_longlong) for name in ("count", "t_stride", "followed_stride")),
        ("stabilize", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("t", "q", "v", "tau", "followed")),
        *((name, ctypes.c_void_p) for name in ("qdd", "slopes", "status")),
    )


class ManySlopes(NamedTuple):
    """At K states; rows of those that stand alone hold nothing yet.

    Attributes:
        qdd: (K, nv).
        slopes: Of the acceleration by q, v, t, forces, (K, nv, 3 nv + 1).
        status: Values of ``DerivativeStatus``, (K,).
        alone: Which states need pivoting.
    """

    qdd: Array
    slopes: Array
    status: NDArray[np.int8]
    alone: NDArray[np.intp]


class CompiledDerivativeBatch:
    """The library of a mechanism for derivatives at many states."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Load the library; compile it when it is not in the cache.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler with vectors.
        """
        library = ctypes.CDLL(str(derivative_batch_library_of(mechanism)))
        self._function = library.uk_differentiate_batch
        self._function.argtypes = (ctypes.POINTER(_Call),)
        self._width: int = library.uk_width()

    def differentiate(
        self, q: Array, v: Array, tau: Array, t: Array, followed: Array | None, threads: int | None
    ) -> ManySlopes:
        """At all states: arrays (K, …), contiguous; t and references may be common to all."""
        count, nv = v.shape
        qdd, slopes = np.empty((count, nv)), np.empty((count, nv, 3 * nv + 1))
        status = np.empty(count)

        def run(first: int, end: int) -> None:
            def at(array: Array | None) -> int | None:
                if array is None:
                    return None
                common = len(array) == 1  # t and references may be
                return array.ctypes.data + (0 if common else first * array.strides[0])

            call = _Call(
                end - first,
                int(len(t) > 1),
                0 if followed is None or len(followed) == 1 else followed.shape[1],
                1.0,
                *map(at, (t, q, v, tau, followed, qdd, slopes, status)),
            )
            if self._function(ctypes.byref(call)):
                raise MemoryError("not enough memory for a batch")

        in_parts(run, count, threads, self._width, _WORTH_A_THREAD)
        alone = np.flatnonzero(status == _ALONE)
        return ManySlopes(qdd, slopes, status.astype(np.int8), alone)
