# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the motion at many states in C: SIMD across states, and threads."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.build.library import Library, library_of
from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import DerivativeLayout
from uk_dynamics.compilation.runtime.compiled_batch import in_parts
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism

_WORTH_A_THREAD = 128  # states
_ALONE = 2  # UK_ALONE of derivatives_lanes.h


_Call = structure("uk_derivative_batch")


class ManySlopes(NamedTuple):
    """At K states; rows of those that stand alone hold nothing yet.

    Attributes:
        qdd: (K, nv).
        slopes: By q, v, t, forces: of the acceleration, (K, nv, 3 nv + 1); then, where they are
            asked for, of multipliers, (K, m, 3 nv + 1), and constraint force, (K, nv, 3 nv + 1).
        status: Values of ``DerivativeStatus``, (K,).
        alone: Which states need pivoting.
        exist: Which parameters have derivatives, (K, P); no columns where they are not by these.
    """

    qdd: Array
    slopes: tuple[Array, ...]
    status: NDArray[np.int8]
    alone: NDArray[np.intp]
    exist: NDArray[np.bool_]

    @classmethod
    def none(cls, mechanism: ResolvedMechanism, count: int, *, forces: bool) -> ManySlopes:
        """Of states all of which stand alone."""
        layout, nv = DerivativeLayout(mechanism), mechanism.model.nv
        quantities = (nv, layout.rows, nv) if forces else (nv,)
        return cls(
            np.empty((count, nv)),
            tuple(np.empty((count, k, layout.directions + nv)) for k in quantities),
            np.zeros(count, np.int8),
            np.arange(count),
            np.zeros((count, len(layout.parameters)), dtype=bool),
        )


class CompiledDerivativeBatch:
    """The library of a mechanism for derivatives at many states."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Load the library; compile it when it is not in the cache.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler with vectors.
        """
        library = ctypes.CDLL(str(library_of(mechanism, Library.DERIVATIVE_BATCH)))
        self._function = library.uk_differentiate_batch
        self._function.argtypes = (ctypes.POINTER(_Call),)
        self._width: int = library.uk_width()
        self._mechanism = mechanism
        self._parameters = DerivativeLayout(mechanism).parameters

    def differentiate(
        self,
        q: Array,
        v: Array,
        tau: Array,
        t: Array,
        followed: Array | None,
        threads: int | None,
        *,
        forces: bool,
    ) -> ManySlopes:
        """At all states: arrays (K, …), contiguous; t and references may be common to all."""
        found = ManySlopes.none(self._mechanism, len(v), forces=forces)
        count, status = len(v), np.empty(len(v))
        exist = np.empty(found.exist.shape)
        wanted = (found.qdd, *found.slopes, *[None] * (3 - len(found.slopes)))

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
                *map(at, (t, q, v, tau, followed, *wanted, status)),
                self._parameters.ctypes.data,
                at(exist),
            )
            if self._function(ctypes.byref(call)):
                raise MemoryError("not enough memory for a batch")

        in_parts(run, count, threads, self._width, _WORTH_A_THREAD)
        return found._replace(
            status=status.astype(np.int8),
            alone=np.flatnonzero(status == _ALONE),
            exist=exist.astype(bool),
        )
