# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many states at once in C: SIMD across states, and threads where there are many."""

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.compilation.runtime.batch_call import (
    Answers,
    BatchCall,
    CommonInputs,
    TrajectoriesCall,
    batch_call,
    trajectories_call,
)
from uk_dynamics.compilation.runtime.cluster_tables import ClusterMemory, ClusterTables
from uk_dynamics.compilation.runtime.compiled_motion import CompiledMotion
from uk_dynamics.compilation.runtime.reference_table import structural_table
from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.mechanism.contact import ClosedContacts, roll_over_contacts
from uk_dynamics.mechanism.dynamics import INFINITE, Dynamics
from uk_dynamics.mechanism.resolution import (
    Array,
    BatchSolution,
    Indices,
    Inputs,
    Plan,
    ResolvedMechanism,
    Rollout,
    Samples,
    States,
    Stopped,
)

_WORTH_A_THREAD = 1024  # states; to start one costs as much as some hundred
_STEPS_WORTH_A_THREAD = 256  # over contacts; one with a memory of its own costs as much as some ten
_REASONS = {
    1: "the mass matrix is singular",
    2: INFINITE,
    3: "the loops cannot be kept closed",
    4: "constraints jump within a step: a reference or an expression is too steep for it",
}


class CompiledBatch:
    """The library of a mechanism for many states."""

    def __init__(
        self, path: Path, rows: int, *, rolls: bool, tables: ClusterTables | None = None
    ) -> None:
        """Load a library of so many constraint rows; ``rolls``: it integrates trajectories.

        With tables of a mechanism in clusters a thread takes one state after the other.
        """
        self._library = library = ctypes.CDLL(str(path))
        self._tables = tables
        self._idle: list[ClusterMemory] = []  # of threads
        # large mechanisms take as long for one state as others for a hundred
        self._worth = _WORTH_A_THREAD if tables is None else 16
        self._function: Callable[[Any], int] = library.uk_evaluate_batch
        library.uk_evaluate_batch.argtypes = (ctypes.POINTER(BatchCall),)
        library.uk_evaluate_batch.restype = ctypes.c_int
        #: States per vector.
        self.width: int = library.uk_width()
        self._rows = rows
        #: Whether it integrates trajectories.
        self.rolls = rolls
        if rolls:
            self._rollout: Callable[[Any], int] = library.uk_rollout
            library.uk_rollout.argtypes = (ctypes.POINTER(TrajectoriesCall),)
            library.uk_rollout.restype = ctypes.c_int

    def evaluate(
        self, given: States, common: CommonInputs, *, forces: bool, threads: int | None
    ) -> tuple[BatchSolution, Indices]:
        """Solutions at all states, and numbers of those that C has none of."""
        answers = self.answers(given, common, forces=forces, threads=threads)
        solution, failed = answers.solution(answers.block)
        return solution, failed.nonzero()[0]

    def answers(
        self,
        given: States,
        common: CommonInputs,
        *,
        forces: bool,
        threads: int | None,
        rates: bool = False,
    ) -> Answers:
        """What C answers at arrays in C's order; with ``rates`` also residuals and their rates."""
        count, nv = given.v.shape
        answers = Answers(count, nv, self._rows, forces=forces, rates=rates)

        def run(first: int, end: int) -> None:
            if self._run(self._function, batch_call(given, common, answers, first, end)):
                raise MemoryError("not enough memory for a batch")

        in_parts(run, count, threads, self.width, self._worth)
        return answers

    def roll(self, given: Plan, common: CommonInputs, threads: int | None) -> Rollout:
        """Trajectories."""
        found, count = Rollout.unknown(given), len(given.q)
        stopped, reason = np.zeros((2, count))

        def run(first: int, end: int) -> None:
            outputs = {"q_out": found.q, "v_out": found.v, "stopped": stopped, "reason": reason}
            if self._run(self._rollout, trajectories_call(given, common, first, end, outputs)):
                raise MemoryError("not enough memory for trajectories")

        in_parts(run, count, threads, self.width, max(1, self._worth // (4 * given.steps)))
        return to_rollout(given, found.t, found.q, found.v, stopped, reason)

    def _run(self, function: Callable[[Any], int], call: Any) -> int:
        """Call a function; what it returns."""
        if self._tables is None:
            return function(ctypes.byref(call))
        try:
            memory = self._idle.pop()
        except IndexError:
            memory = ClusterMemory(self._library, self._tables)
        call.tree = int(memory.address[0])
        failed = function(ctypes.byref(call))
        self._idle.append(memory)
        return failed


def in_parts(
    run: Callable[[int, int], None],
    count: int,
    threads: int | None,
    width: int,
    worth: int = _WORTH_A_THREAD,
) -> None:
    """Call ``run(first, end)`` for parts of 0 … count, in parallel where that pays."""
    limit = threads or len(os.sched_getaffinity(0))
    parts = max(1, min(limit, count // (1 if threads else worth), -(-count // width)))
    if parts == 1:
        run(0, count)
        return
    size = -(-count // (parts * width)) * width
    edges = [(at, min(at + size, count)) for at in range(0, count, size)]
    with ThreadPoolExecutor(len(edges)) as pool:
        for future in [pool.submit(run, *edge) for edge in edges]:
            future.result()


def to_rollout(
    given: Plan, instants: Array, q: Array, v: Array, stopped: Array, reason: Array
) -> Rollout:
    """The results of C as trajectories, with what has stopped and why."""
    ends = {}
    for k in stopped.nonzero()[0]:
        t = given.t + (float(stopped[k]) - 1.0) * given.dt
        ends[int(k)] = Stopped(t, _REASONS[int(reason[k])])
    return Rollout(instants, q, v, ends)


class StateBatch(CompiledBatch):
    """What recordings hold, by the library of one state: no further one is compiled for them.

    See :meth:`Dynamics.samples`.
    """

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
        """Samples, whose solutions a function finds; None: C has no answer to some state."""
        followed = self._followed(given, inputs)
        if followed is None:
            return None
        active = np.ones(max(self._rows, 1))
        active[: self._rows] = self._mechanism.hierarchy.acting(inputs.active)
        common = CommonInputs(bool(inputs.stabilize), active, followed, self._parameters)
        given = States(*(np.ascontiguousarray(x) for x in given if x is not None))
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
            status=[tuple(Status)[int(status)] for status in found["status"]],
            solution=solution,
        )

    def _followed(self, given: States, inputs: Inputs) -> Array | None:
        """What rows follow at each state, (K, 3 m); None: something is not finite."""
        mechanism, rows = self._mechanism, max(self._rows, 1)
        times = np.ascontiguousarray(given.t, dtype=float)
        followed = np.zeros((len(times), 3 * rows))
        table = structural_table(mechanism, inputs.references, inputs.active)
        if table is not None:
            places = (x.ctypes.data for x in (table, times, followed))
            if self._follow(len(times), rows, *places):
                return None
        return followed


class ContactRollouts:
    """Trajectories over contacts, stops and ropes: one after the other, in threads.

    Threads may share it.
    """

    def __init__(
        self, mechanism: ResolvedMechanism, new_motion: Callable[[], CompiledMotion | None]
    ) -> None:
        self._mechanism, self._new_motion = mechanism, new_motion
        self._contacts = ClosedContacts(mechanism)
        self._idle: list[CompiledMotion] = []  # of threads

    def roll(self, dynamics: Dynamics, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """See :meth:`Dynamics.rollout`; what C cannot solve goes by steps of the evaluator."""
        found = Rollout.unknown(given)
        outputs = {"q_out": found.q, "v_out": found.v, "stopped": np.ones(len(given.q))}
        base = self._contacts.without(inputs.active or self._mechanism.hierarchy.initial)
        smooth = replace(inputs, active=base, stabilize=False)
        motors, nv = len(self._mechanism.actuators), given.v.shape[1]

        def run(first: int, end: int) -> None:
            try:
                motion: CompiledMotion | None = self._idle.pop()
            except IndexError:
                motion = self._new_motion()
            if motion is None:
                return
            motion.act(smooth, np.zeros(motors), np.zeros(nv))
            nothing = CommonInputs(False, np.ones(1), None, None)  # it has what acts
            call = trajectories_call(given, nothing, first, end, outputs)
            motion.roll(self._contacts.tables, call)
            self._idle.append(motion)

        if inputs.nonideal is None:
            in_parts(run, len(given.q), threads, 1, max(1, _STEPS_WORTH_A_THREAD // given.steps))
        left = outputs["stopped"].nonzero()[0].tolist()
        for k in left:  # it begins again
            found.q[k], found.v[k] = np.nan, np.nan
        if left:
            roll_over_contacts(self._mechanism, dynamics, given, inputs, found, left)
        return found
