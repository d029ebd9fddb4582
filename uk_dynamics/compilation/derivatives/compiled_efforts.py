# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law's efforts with their derivatives in C."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.build.library import Library, is_cached, library_of
from uk_dynamics.compilation.derivatives.compiled_projection import WORTH_A_THREAD, at, stride_of
from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import EffortLayout
from uk_dynamics.compilation.runtime.compiled_batch import in_parts
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array


class EffortSettings(NamedTuple):
    """What all states have in common.

    Attributes:
        weights: Diagonal of W, (motors,).
        preload: Efforts to come close to, (motors,); None: zero.
        lower: Smallest efforts, (motors,); None: no limits.
        upper: Largest efforts, (motors,).
        damping: 2ζω of the task rows, (mt,).
        stiffness: ω² of the task rows, (mt,).
    """

    weights: Array
    preload: Array | None
    lower: Array | None
    upper: Array | None
    damping: Array
    stiffness: Array


class ManyEfforts(NamedTuple):
    """Of K states, as ``uk_effort_batch`` has them.

    Attributes:
        efforts: (K, motors).
        slopes: By q, v, t, values, rates, accelerations, (K, motors, 2 nv + 1 + 3 mt).
        held: 1 for motors at a limit, (K, motors).
        status: What ``uk_effort_slopes`` returns, (K,).
        motions: Rows: changes of q and v that keep the loops closed at the last state, (f, 2 nv).
    """

    efforts: Array
    slopes: Array
    held: Array
    status: NDArray[np.int8]
    motions: Array

    @classmethod
    def none(cls, count: int, motors: int, columns: int) -> ManyEfforts:
        """Of states that are left to Python."""
        efforts, held = np.full((2, count, motors), np.nan)
        slopes = np.full((count, motors, columns), np.nan)
        return cls(efforts, slopes, held, np.ones(count, np.int8), np.zeros((0, 0)))


_Call = structure("uk_effort_batch")


class CompiledEfforts:
    """The library of some tasks for derivatives of their efforts."""

    def __init__(self, tasks: Tasks) -> None:
        """Load the library; compile it when it is not in the cache.

        Args:
            tasks: Of a mechanism that varies no parameters.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
        """
        self._function = ctypes.CDLL(str(library_of(tasks, Library.EFFORTS))).uk_effort_slopes_many
        self._function.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Call))
        self._function.restype = None
        self._layout = EffortLayout(tasks)
        self._acting = tasks.mechanism.hierarchy.acting()

    def differentiate(
        self,
        q: Array,
        v: Array,
        t: Array,
        followed: Array | None,
        task_followed: Array,
        settings: EffortSettings,
        threads: int | None,
    ) -> ManyEfforts:
        """At all states: arrays (K, …), contiguous; t and references may be common to all."""
        layout, count = self._layout, len(v)
        found, status = ManyEfforts.none(count, layout.motors, layout.columns), np.empty(count)
        begin, ends = layout.memory(), {}
        begin[layout["active"]][: len(self._acting)] = self._acting
        for name, value, otherwise in (
            ("weights", settings.weights, 1.0),
            ("preload", settings.preload, 0.0),
            ("lower", settings.lower, -np.inf),
            ("upper", settings.upper, np.inf),
            ("task_damping", settings.damping, 0.0),
            ("task_stiffness", settings.stiffness, 0.0),
        ):
            begin[layout[name]] = otherwise if value is None else value

        def run(first: int, end: int) -> None:
            memory = ends[end] = begin.copy()
            strides = [stride_of(x) for x in (t, followed, task_followed)]
            arrays = (t, q, v, followed, task_followed, *found[:3], status)
            call = _Call(end - first, *strides, *[at(x, first) for x in arrays])
            self._function(memory.ctypes.data, ctypes.byref(call))

        in_parts(run, count, threads, 1, WORTH_A_THREAD)
        last = ends.get(count, begin)
        motions = last[layout["motions"]].reshape(-1, 2 * v.shape[1])
        allowed = int(last[layout["allowed"]][0])
        return found._replace(status=status.astype(np.int8), motions=motions[:allowed])


def efforts_in_c(tasks: Tasks, *, make: bool) -> CompiledEfforts | None:
    """None where they are not compiled and not to be made.

    Raises:
        CompilationError: They are to be made, and cannot be.
    """
    return CompiledEfforts(tasks) if make or is_cached(tasks, Library.EFFORTS) else None
