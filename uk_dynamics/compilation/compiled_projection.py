"""Moving one state onto the constraints in C: a trajectory without steps."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.batch_call import TrajectoriesCall
from uk_dynamics.compilation.compiled_batch import CompiledBatch
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism.state import Array


class CompiledProjection:
    """Keeps the memory of its calls; not to be shared between threads."""

    def __init__(self, batch: CompiledBatch, nv: int, rows: int, *, followed: bool) -> None:
        """Lay out the memory.

        Args:
            batch: The library; it must integrate trajectories.
            nv: Positions and velocities.
            rows: Constraint rows, m.
            followed: Whether rows may follow references.
        """
        m = max(rows, 1)
        self._function = batch.rollout
        self._inputs = np.zeros((2, nv))
        self._answers = np.zeros((2, nv))
        self._end = np.zeros(2)
        self._active = np.ones(m)
        self._followed = np.zeros(3 * m) if followed else None
        self._call = TrajectoriesCall(
            count=1,
            every=1,
            project=1,
            dt=1.0,
            q=self._inputs[0].ctypes.data,
            v=self._inputs[1].ctypes.data,
            active=self._active.ctypes.data,
            followed=None if self._followed is None else self._followed.ctypes.data,
            q_out=self._answers[0].ctypes.data,
            v_out=self._answers[1].ctypes.data,
            stopped=self._end[:1].ctypes.data,
            reason=self._end[1:].ctypes.data,
        )
        self._reference = ctypes.byref(self._call)

    def follow(self, sample: ReferenceSample | None, mask: NDArray[np.bool_] | None) -> None:
        """Tell what rows follow from now on, and which of them act; None: nothing, and all."""
        if self._followed is not None:
            self._followed[:] = 0.0 if sample is None else np.concatenate(sample)
        self._active[:] = 1.0 if mask is None else mask

    def project(self, t: float, q: Array, v: Array) -> Array | None:
        """Positions and velocities on the constraints, (2, nv); None: they cannot be closed.

        Args:
            t: In s.
            q: (nv,).
            v: (nv,).
        """
        self._inputs[0] = q
        self._inputs[1] = v
        self._call.t = t
        if self._function(self._reference) or self._end[0] or not np.isfinite(self._answers).all():
            return None
        return self._answers.copy()
