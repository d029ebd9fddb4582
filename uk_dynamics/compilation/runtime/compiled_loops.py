# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches of closed loops, side by side in the lanes of vectors, in C."""

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.build.library import Library, Subject, library_of
from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.runtime.compiled_batch import in_parts
from uk_dynamics.compilation.runtime.reference_table import structural_table
from uk_dynamics.compilation.verification import Comparison, Trial, compare, rolled, trials, verify
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Instants, InterpretedDynamics, Law
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism


@dataclass(frozen=True)
class LoopBatch:
    """What became of K motions."""

    q: Array  # at the last instant, (K, nq)
    v: Array  # (K, nv)
    efforts: Array  # of the motors, (K, motors), in N or N·m
    sampled_q: Array  # (K, samples, nq)
    sampled_v: Array  # (K, samples, nv)
    sampled_efforts: Array  # (K, samples, motors)
    # when motors were first at their effort limit and flags of the law first up, (K, n), in s;
    # infinite: never
    seen: Array
    stopped: Array  # where a motion has to be done by itself, (K,)
    steps: int  # integration steps of all
    alone: int  # control periods that the law of a single motion decided, of all


class LoopWork(NamedTuple):
    """What moves K motions in C."""

    values: Mapping[str, float]  # numbers of the structure
    common: Mapping[str, Array]  # arrays that all motions have in common
    each: Mapping[str, Array]  # arrays of numbers with a row for each; C writes results there
    laws: Sequence[Law]
    structures: Sequence[Array | None]  # as of :meth:`LoopMover.move`
    threads: int | None


#: The structure that C gets.
LoopCall = structure("uk_loop_batch")


class LoopMover(ABC):
    """What moves closed loops of some tasks, or of a mechanism, side by side."""

    width = 1  # motions per vector
    # whether the law of one motion is there for whatever lanes do not decide, so that a motion that
    # stops is one that is wrong
    complete = False

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self._rows = max(1, len(mechanism.constraints))
        self._motors = len(mechanism.actuators)

    def move(
        self,
        laws: Sequence[Law],  # of one kind, loaded, (K,); where the law is in lanes, of these tasks
        q: Array,  # starts, on the constraints, (K, nq)
        v: Array,  # (K, nv)
        instants: Instants,  # common to all
        *,
        tau: Array,  # forces besides those of motors, (K, nv), in N or N·m
        parameters: Array | None,  # of the mechanisms, (K, parameters); None: there are none
        active: Array,  # 1 for constraint rows that act, (m,)
        # tables of what structural rows follow, (K,); None: nothing
        structures: Sequence[Array | None],
        step: float,  # longest step, in s
        euler: bool,  # semi-implicit Euler instead of the classical Runge-Kutta method
        delay: float = 0.0,  # from a state until the efforts act that its law gives, in s
        same: float = 0.0,  # instants that are nearer to one another are one, in s
        threads: int | None = None,  # at most so many; None: one for each processor
    ) -> LoopBatch:
        """Move all of them from the first instant to the last."""
        samples = int(np.count_nonzero(instants.sample))
        count, flags = len(laws), len(laws[0].flags)
        found = {
            "q": np.array(q),
            "v": np.array(v),
            "efforts": np.zeros((count, self._motors)),
            "q_out": np.empty((count, samples, q.shape[1])),
            "v_out": np.empty((count, samples, v.shape[1])),
            "efforts_out": np.empty((count, samples, self._motors)),
            "seen": np.full((count, self._motors + flags), np.inf),
            **{name: np.zeros(count) for name in ("stopped", "steps", "alone")},
        }
        rows = np.ones(self._rows)
        rows[: len(active)] = active
        acting = instants.when[instants.control != 0.0]
        # efforts that wait when the next ones come
        late = np.arange(len(acting)) - np.searchsorted(acting, acting - delay - same)
        values = {
            "stops": len(instants.when),
            "samples": samples,
            "euler": euler,
            "p_stride": 0 if parameters is None else parameters.shape[1],
            "step": step,
            "flags": flags,
            "places": 2 + int(late.max(initial=0)) if delay else 1,
            "delay": delay,
            "same": same,
        }
        common = {"active": rows} | instants._asdict()
        del common["breaks"]  # steps are fixed
        each = found | {"tau": tau}
        if parameters is not None:
            each["p"] = np.ascontiguousarray(parameters)
        self._run(LoopWork(values, common, each, laws, structures, threads))
        return LoopBatch(
            found["q"],
            found["v"],
            found["efforts"],
            found["q_out"],
            found["v_out"],
            found["efforts_out"],
            found["seen"],
            found["stopped"] != 0.0,
            int(found["steps"].sum()),
            int(found["alone"].sum()),
        )

    @abstractmethod
    def verify(self, name: str, comparisons: Callable[[], Iterable[Comparison]]) -> None:
        """Try it before it is used; WrongLibraryError if one of the comparisons differs."""

    @abstractmethod
    def _run(self, work: LoopWork) -> None:
        """Call C."""


class CompiledLoops(LoopMover):
    """The library for closed loops of some tasks, or of a mechanism, side by side."""

    def __init__(self, subject: Subject) -> None:
        """Load the library, of tasks with their law, or of a mechanism for laws of any kind.

        It is compiled when it is not in the cache; a mechanism's is tried before it is used.
        """
        #: The file, in the cache.
        self.path = library_of(subject, Library.CLOSED_LOOPS)
        self._library = ctypes.CDLL(str(self.path))
        super().__init__(subject.mechanism if isinstance(subject, Tasks) else subject)
        self._decide = None
        if isinstance(subject, Tasks):
            servo = ctypes.CDLL(str(library_of(subject)))
            self._decide = ctypes.cast(servo.uk_decide, ctypes.c_void_p).value
        self._move = self._library.uk_move_loops
        self._move.argtypes, self._move.restype = (ctypes.c_void_p,), ctypes.c_int
        self.width = self._library.uk_width()
        if not isinstance(subject, Tasks):
            self.verify(f"closed loops of {subject.name}", lambda: _answers(self, subject))

    def verify(self, name: str, comparisons: Callable[[], Iterable[Comparison]]) -> None:
        """Try the library on this processor; see :meth:`LoopMover.verify`."""
        verify(self.path, name, comparisons)

    def _run(self, work: LoopWork) -> None:
        """Call C, on all processors."""
        values, common, each, laws, structures, threads = work
        places = [0 if table is None else table.ctypes.data for table in structures]
        addresses = {"structures": places, "controllers": [law.controller for law in laws]}
        every: dict[str, NDArray[Any]] = dict(each)
        every |= {name: np.array(x, dtype=np.uintp) for name, x in addresses.items()}

        def run(first: int, end: int) -> None:
            call = LoopCall(**values, count=end - first, law=laws[0].function, decide=self._decide)
            for name, array in common.items():
                setattr(call, name, array.ctypes.data)
            for name, array in every.items():
                setattr(call, name, array.ctypes.data + first * array.strides[0])
            if self._move(ctypes.addressof(call)):
                raise MemoryError("not enough memory for motions")

        in_parts(run, len(laws), threads, self.width, self.width)


_STEP = 1e-3  # s
_NUMBERS = ctypes.POINTER(ctypes.c_double)
_LAW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double, *(_NUMBERS,) * 4)


def _answers(loops: CompiledLoops, mechanism: ResolvedMechanism) -> Iterator[Comparison]:
    """Compare a step under constant efforts in every lane with Python: laws are not in lanes."""
    reference, motors = InterpretedDynamics(mechanism), mechanism.actuators
    efforts = np.minimum(1.0, motors.effort_limits)  # N or N·m
    varied = mechanism.varied

    def constant(_: int, t: float, q: object, v: object, found: Any, flags: object) -> int:
        for j, effort in enumerate(efforts.tolist()):
            found[j] = effort
        return 0

    function = _LAW(constant)
    law = Law(ctypes.cast(function, ctypes.c_void_p).value or 0, 0, (), function)

    def expected(trial: Trial) -> dict[str, Array]:
        forces = trial.tau + motors.matrix @ efforts
        return {"closed loops": rolled(reference, Trial(trial.state, forces), "rk4", _STEP)}

    def compiled(given: Sequence[Trial]) -> list[dict[str, Array] | None]:
        count, start = len(given), reference.project(given[0].state)
        end = loops.move(
            [law] * count,
            np.tile(start.q, (count, 1)),
            np.tile(start.v, (count, 1)),
            Instants.alone((start.t, start.t + _STEP))._replace(control=np.array([1.0, 0.0])),
            tau=np.array([trial.tau for trial in given]),
            parameters=None if varied is None else np.tile(varied.values, (count, 1)),
            active=mechanism.hierarchy.acting().astype(float),
            structures=[structural_table(mechanism, {}, None)] * count,
            step=_STEP,
            euler=False,
            threads=1,
        )
        q, v, stopped = end.q, end.v, end.stopped
        return [
            None if stopped[k] else {"closed loops": np.hstack([q[k], v[k]])} for k in range(count)
        ]

    for trial in trials(mechanism, reference)[:2]:  # instants are common to all lanes
        yield from compare(mechanism, expected, compiled, [trial], loops.width)
