# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many states of a mechanism whose evaluation is loops over its clusters."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.compilation.runtime.batch_call import BatchCall, TrajectoriesCall
from uk_dynamics.compilation.runtime.cluster_tables import ClusterMemory, ClusterTables
from uk_dynamics.compilation.runtime.compiled_batch import CompiledBatch
from uk_dynamics.mechanism.resolution import Array


class ClusterBatch(CompiledBatch):
    """One state after the other in each thread; every thread has a memory of its own."""

    worth = 16  # states; a large mechanism takes as long for one as others for a hundred

    def __init__(self, path: Path, tables: ClusterTables, rows: int, *, rolls: bool) -> None:
        self._library, self._tables = ctypes.CDLL(str(path)), tables
        self._idle: list[ClusterMemory] = []
        self.width, self.rolls = 1, rolls
        self._rows = rows
        self._function: Callable[[Any], int] = self._called(
            self._library.uk_cluster_batch, BatchCall
        )
        self.rollout: Callable[[Any], int] = self._called(
            self._library.uk_cluster_rollout, TrajectoriesCall
        )

    def _called(self, function: Any, structure: type[ctypes.Structure]) -> Callable[[Any], int]:
        function.argtypes = (ctypes.c_void_p, ctypes.POINTER(structure))
        function.restype = ctypes.c_int
        return partial(self._call, function)

    def _call(self, function: Callable[[int, Any], int], given: Any) -> int:
        try:
            memory = self._idle.pop()
        except IndexError:
            memory = ClusterMemory(self._library, self._tables)
        failed = function(int(memory.address[0]), given)
        self._idle.append(memory)
        return failed


class ClusterProjection:
    """One state onto the constraints: a trajectory without steps; not for several threads."""

    def __init__(self, batch: CompiledBatch, nq: int, nv: int) -> None:
        self._function = batch.rollout
        self._inputs, self._answers = np.zeros(nq + nv), np.zeros(nq + nv)
        self._split = [nq]
        self._end = np.zeros(2)
        self._call = TrajectoriesCall(
            count=1,
            every=1,
            project=1,
            dt=1.0,
            q=self._inputs[:nq].ctypes.data,
            v=self._inputs[nq:].ctypes.data,
            q_out=self._answers[:nq].ctypes.data,
            v_out=self._answers[nq:].ctypes.data,
            stopped=self._end[:1].ctypes.data,
            reason=self._end[1:].ctypes.data,
        )
        self._reference = ctypes.byref(self._call)

    def project(self, t: float, q: Array, v: Array) -> tuple[Array, Array] | None:
        """Positions and velocities on the constraints; None: they cannot be closed."""
        np.concatenate((q, v), out=self._inputs)
        self._call.t = t
        if self._function(self._reference) or self._end[0] or not np.isfinite(self._answers).all():
            return None
        reached, speed = np.split(self._answers.copy(), self._split)
        return reached, speed
