"""Many states at once in C: SIMD across states, and threads where there are many."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.mechanism.batch import BatchSolution, States
from uk_dynamics.mechanism.rollout import Plan, Rollout, Stopped
from uk_dynamics.mechanism.state import Array

_WORTH_A_THREAD = 1024  # states; to start one costs as much as some hundred
_POINTERS = ("t", "q", "v", "tau", "active", "followed")
_ANSWERS = (
    "qdd",
    "violation",
    "ideal_force",
    "multipliers",
    "determined",
    "rank",
    "status",
    "failed",
)

_COUNTS = ("count", "steps", "every", "tau_state", "tau_step", "euler", "project")
_REASONS = {
    1: "the mass matrix is singular",
    2: "the motion has become infinite; take smaller steps",
    3: "the loops cannot be kept closed",
}


class _Batch(ctypes.Structure):
    """``uk_batch`` of batch.c."""

    _fields_ = (
        ("count", ctypes.c_longlong),
        ("t_stride", ctypes.c_longlong),
        ("followed_stride", ctypes.c_longlong),
        ("stabilize", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in (*_POINTERS, *_ANSWERS)),
    )


class Trajectories(ctypes.Structure):
    """``uk_trajectories`` of rollout.c."""

    _fields_ = (
        *((name, ctypes.c_longlong) for name in _COUNTS),
        *((name, ctypes.c_double) for name in ("t", "dt", "stabilize")),
        *((name, ctypes.c_void_p) for name in ("q", "v", "tau", "active", "followed")),
        *((name, ctypes.c_void_p) for name in ("q_out", "v_out", "stopped", "reason")),
    )


@dataclass(frozen=True)
class Common:
    """What states of a batch share.

    Attributes:
        stabilize: Whether b contains the stabilisation.
        active: 1 for rows that act, (m,).
        followed: References of the rows: values, rates, accelerations, (1, 3 m) or (K, 3 m).
    """

    stabilize: bool
    active: Array
    followed: Array | None


@dataclass(frozen=True, eq=False)
class Answers:
    """What C answers, an array per field; None: not asked for."""

    qdd: Array
    rank: Array
    status: Array
    failed: Array
    ideal_force: Array | None = None
    multipliers: Array | None = None
    determined: Array | None = None
    violation: Array | None = None


class CompiledBatch:
    """The library of a mechanism for many states."""

    def __init__(self, path: Path, rows: int, *, rolls: bool) -> None:
        """Load it.

        Args:
            path: Of the library.
            rows: Constraint rows, m.
            rolls: Whether whole trajectories are possible: q a vector, rows affine in v.
        """
        library = ctypes.CDLL(str(path))
        self._function = library.uk_evaluate_batch
        self._function.argtypes = (ctypes.POINTER(_Batch),)
        self._function.restype = ctypes.c_int
        #: States per vector.
        self.width: int = library.uk_width()
        self._rows = rows
        #: Whether it integrates trajectories, and what does it.
        self.rolls = rolls
        if rolls:
            self.rollout = library.uk_rollout
            self.rollout.argtypes = (ctypes.POINTER(Trajectories),)
            self.rollout.restype = ctypes.c_int

    def evaluate(
        self, given: States, common: Common, *, forces: bool, threads: int | None
    ) -> Answers:
        """Answers at all states.

        Args:
            given: The states.
            common: What they share.
            forces: Whether forces, multipliers and residuals are wanted.
            threads: At most; None: as many as pay, up to the processors of this process.

        Raises:
            MemoryError: There is not enough of it.
        """
        count, nv = given.v.shape
        answers = _answers(count, nv, self._rows, forces=forces)

        def run(first: int, end: int) -> None:
            if self._function(ctypes.byref(_call(given, common, answers, first, end))):
                raise MemoryError("not enough memory for a batch")

        in_parts(run, count, threads, self.width)
        return answers

    def roll(self, given: Plan, common: Common, threads: int | None) -> Rollout:
        """Trajectories.

        Args:
            given: What to integrate.
            common: What they share; references at all half steps.
            threads: At most; None: as many as pay.

        Raises:
            MemoryError: There is not enough of it.
        """
        count, instants = len(given.q), given.instants
        q = np.full((count, len(instants), given.q.shape[1]), np.nan)
        v = np.full((count, len(instants), given.v.shape[1]), np.nan)
        stopped, reason = np.zeros((2, count))

        def run(first: int, end: int) -> None:
            outputs = {"q_out": q, "v_out": v, "stopped": stopped, "reason": reason}
            call = _trajectories(given, common, first, end, outputs)
            if self.rollout(ctypes.byref(call)):
                raise MemoryError("not enough memory for trajectories")

        in_parts(run, count, threads, self.width, max(1, _WORTH_A_THREAD // (4 * given.steps)))
        ends = {}
        for k in np.flatnonzero(stopped):
            t = given.t + (float(stopped[k]) - 1.0) * given.dt
            ends[int(k)] = Stopped(t, _REASONS[int(reason[k])])
        return Rollout(instants, q, v, ends)


def in_parts(
    run: Callable[[int, int], None],
    count: int,
    threads: int | None,
    width: int,
    worth: int = _WORTH_A_THREAD,
) -> None:
    """Call ``run(first, end)`` for parts of 0 … count, beside each other where that pays.

    Args:
        run: Releases the interpreter's lock for most of its time.
        count: Of states.
        threads: At most; None: up to the processors of this process.
        width: A part is a multiple of it.
        worth: States for which another thread pays.
    """
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


def to_solution(answers: Answers) -> BatchSolution:
    """Answers of C as the caller knows them."""
    determined = answers.determined
    return BatchSolution(
        answers.qdd,
        answers.rank.astype(np.intp),
        answers.status.astype(np.int8),
        answers.ideal_force,
        answers.multipliers,
        None if determined is None else determined.astype(bool),
        answers.violation,
    )


def _answers(count: int, nv: int, rows: int, *, forces: bool) -> Answers:
    def array(*shape: int) -> Array:
        return np.zeros(shape)

    few = array(count, nv), array(count), array(count), array(count)
    if not forces:
        return Answers(*few)
    return Answers(
        *few, array(count, nv), array(count, rows), array(count, rows), array(count, rows)
    )


def _call(given: States, common: Common, answers: Answers, first: int, end: int) -> _Batch:
    """The structure for states first … end."""
    followed = common.followed
    many = len(given.t) > 1
    values: dict[str, float | int | None] = {
        "count": end - first,
        "t_stride": int(many),
        "stabilize": common.stabilize,
        "t": _address(given.t, first if many else 0),
        "active": _address(common.active),
    }
    for name in ("q", "v", "tau"):
        values[name] = _address(getattr(given, name), first)
    if followed is not None:
        several = len(followed) > 1
        values["followed_stride"] = followed.shape[1] * several
        values["followed"] = _address(followed, first if several else 0)
    for field in fields(answers):
        values[field.name] = _address(getattr(answers, field.name), first)
    return _Batch(**values)


def _trajectories(
    given: Plan, common: Common, first: int, end: int, outputs: dict[str, Array]
) -> Trajectories:
    """The structure for trajectories first … end."""
    states, steps, nv = given.tau.shape
    values: dict[str, float | int | None] = {
        "count": end - first,
        "steps": given.steps,
        "every": given.every,
        "tau_state": steps * nv if states > 1 else 0,
        "tau_step": nv if steps > 1 else 0,
        "euler": given.method == "semi_implicit_euler",
        "project": given.project,
        "t": given.t,
        "dt": given.dt,
        "stabilize": common.stabilize,
        "q": _address(given.q, first),
        "v": _address(given.v, first),
        "tau": _address(given.tau, first if states > 1 else 0),
        "active": _address(common.active),
        "followed": _address(common.followed),
    }
    for name, array in outputs.items():
        values[name] = _address(array, first)
    return Trajectories(**values)


def _address(array: NDArray[np.float64] | None, row: int = 0) -> int | None:
    """Where a row of an array stands in memory; None stays None."""
    return None if array is None else array.ctypes.data + row * array.strides[0]
