# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many states of one motion, evaluated in C one after the other."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.compilation.runtime.cluster_tables import ClusterTables, attached
from uk_dynamics.compilation.runtime.compiled_solution import (
    STATUSES,
    CompiledSolution,
    CompiledStructure,
)
from uk_dynamics.compilation.runtime.reference_table import reference_table
from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.dynamics import Dynamics, sample_each
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, Samples, States


class CompiledSamples:
    """What recordings hold, in C; see :meth:`Dynamics.samples`."""

    def __init__(
        self,
        path: Path,
        mechanism: ResolvedMechanism,
        structure: CompiledStructure,
        tables: ClusterTables | None = None,
    ) -> None:
        library = ctypes.CDLL(str(path))
        self._function = library.uk_evaluate_samples
        self._function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        self._function.restype = None
        self._mechanism, self._structure = mechanism, structure
        self._layout: Layout = structure.layout
        self._memory = self._layout.memory()
        self._clusters = attached(library, tables, self._memory, self._layout)

    def samples(self, given: States, inputs: Inputs, otherwise: Dynamics) -> Samples:
        """Samples; those that C does not answer come from another evaluator."""
        answers, failed = self._evaluate(given, inputs)
        if failed.any():
            return sample_each(otherwise, given, inputs)
        layout, rows = self._layout, self._layout.rows
        scale = self._mechanism.constraints.reference_scale

        def part(name: str) -> Array:
            return answers[:, layout[name]]

        def solution(k: int) -> Solution:
            return CompiledSolution(answers[k][layout["qdd"]], answers[k], self._structure)

        return Samples(
            qdd=part("qdd"),
            rank=part("rank")[:, 0].astype(np.intp),
            multipliers=part("multipliers")[:, :rows],
            residual=part("residual")[:, :rows] / scale,
            residual_rate=part("rate")[:, :rows] / scale,
            status=[STATUSES[int(status)] for status in part("status")[:, 0]],
            solution=solution,
        )

    def _evaluate(self, given: States, inputs: Inputs) -> tuple[Array, Array]:
        mechanism, count = self._mechanism, len(given.q)
        mask = mechanism.hierarchy.mask(inputs.active)
        active = np.ones(max(self._layout.rows, 1))
        if mask is not None:
            active[:] = mask
        table = None
        if mechanism.follows_references:
            captured = mechanism.hierarchy.captured(inputs.active)
            table = reference_table(mechanism.references, {**(inputs.references or {}), **captured})
        tau = np.zeros_like(given.v) if given.tau is None else given.tau
        times = np.broadcast_to(given.t, (count,))
        arrays = {
            name: np.ascontiguousarray(array)
            for name, array in zip(
                ("t", "q", "v", "tau"), (times, given.q, given.v, tau), strict=True
            )
        }
        arrays["active"] = active
        arrays["answers"] = answers = np.empty((count, self._layout["bias"].start))
        arrays["failed"] = failed = np.zeros(count)
        places = {name: array.ctypes.data for name, array in arrays.items()}
        call = structure("uk_samples")(count=count, stabilize=inputs.stabilize, **places)
        call.followed = None if table is None else table.ctypes.data
        self._function(self._memory.ctypes.data, ctypes.byref(call))
        return answers, failed
