# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches by the library of one state: for recordings, which no further one is compiled for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np

from uk_dynamics.compilation.runtime.batch_call import CommonInputs
from uk_dynamics.compilation.runtime.cluster_tables import ClusterTables
from uk_dynamics.compilation.runtime.compiled_batch import CompiledBatch
from uk_dynamics.compilation.runtime.compiled_solution import STATUSES
from uk_dynamics.compilation.runtime.reference_table import reference_table
from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, Samples, States


class StateBatch(CompiledBatch):
    """What recordings hold, in C; see :meth:`Dynamics.samples`."""

    def __init__(
        self,
        path: Path,
        mechanism: ResolvedMechanism,
        parameters: Array,
        tables: ClusterTables | None = None,
    ) -> None:
        super().__init__(path, len(mechanism.constraints), rolls=False, tables=tables)
        self._mechanism, self._parameters = mechanism, parameters
        self._follow = self._library.uk_follow_times
        self._follow.argtypes = (*(ctypes.c_longlong,) * 2, *(ctypes.c_void_p,) * 3)

    def samples(
        self, given: States, inputs: Inputs, solution: Callable[[int], Solution]
    ) -> Samples | None:
        """Samples, whose solutions a function finds; None: C has no answer to some state.

        Raises:
            ForeignReferenceError: A constraint follows an object of Python.
        """
        followed = self._followed(given, inputs)
        if followed is None:
            return None
        mask = self._mechanism.hierarchy.mask(inputs.active)
        active = np.ones(max(self._rows, 1))
        if mask is not None:
            active[:] = mask
        common = CommonInputs(bool(inputs.stabilize), active, followed, self._parameters)
        answers = self.answers(given, common, forces=True, rates=True, threads=1)
        found = answers.named(answers.block)
        if found["failed"].any():
            return None
        scale = self._mechanism.constraints.reference_scale
        return Samples(
            qdd=found["qdd"],
            rank=found["rank"].astype(np.intp),
            multipliers=found["multipliers"],
            residual=found["residual"] / scale,
            residual_rate=found["rate"] / scale,
            status=[STATUSES[int(status)] for status in found["status"]],
            solution=solution,
        )

    def _followed(self, given: States, inputs: Inputs) -> Array | None:
        """What rows follow at each state, (K, 3 m); None: something is not finite."""
        mechanism, rows = self._mechanism, max(self._rows, 1)
        times = np.ascontiguousarray(given.t, dtype=float)
        followed = np.zeros((len(times), 3 * rows))
        if mechanism.follows_references:
            captured = mechanism.hierarchy.captured(inputs.active)
            table = reference_table(mechanism.references, {**(inputs.references or {}), **captured})
            places = (0 if x is None else x.ctypes.data for x in (table, times, followed))
            if self._follow(len(times), rows, *places):
                return None
        return followed
