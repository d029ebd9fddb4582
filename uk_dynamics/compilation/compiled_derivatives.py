# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives in C: of the motion, of the projection, and of the efforts of a servo law."""

import ctypes
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.compilation.build.library import Library, Subject, library_of
from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import DerivativeLayout, EffortLayout
from uk_dynamics.compilation.runtime.compiled_batch import in_parts
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import DerivativeStatus, EquationDerivatives
from uk_dynamics.mechanism.resolution import Array, Flags, Indices, ResolvedMechanism, State

#: Status of states of a batch that C has no solution for.
LEFT_TO_PYTHON = -1
_WORTH_A_THREAD, _WORTH_A_THREAD_IN_LANES = 64, 128  # states


_S, _LEFT = DerivativeStatus, LEFT_TO_PYTHON
# functions of C, the structures that they take, and statuses by what they say; singular masses and
# states that need pivoting are left to Python
_FUNCTIONS = {
    Library.DERIVATIVE_BATCH: (
        "uk_differentiate_batch",
        "uk_derivative_batch",
        np.array([_S.EXIST, _S.RANK_CHANGES, _LEFT]),
    ),
    Library.PROJECTION: (
        "uk_projection_batch",
        "uk_projected_states",
        np.array([_S.EXIST, _LEFT, _S.NOT_FINITE, _S.OPEN, _S.RANK_CHANGES]),
    ),
    Library.EFFORTS: (
        "uk_effort_derivatives_batch",
        "uk_effort_batch",
        np.array(
            [_S.EXIST, _LEFT, _LEFT, _LEFT, _S.RANK_CHANGES, _S.TASKS_MISSED, _S.LIMITS_CHANGE]
        ),
    ),
}


class States(NamedTuple):
    """States of a batch, contiguous; times and references may be common to all."""

    t: Array  # (1,) or (K,)
    q: Array  # (K, nq)
    v: Array  # (K, nv)
    tau: Array | None = None  # (K, nv); None for what needs no forces
    # references of the rows: values, rates, accelerations, (1 or K, 3 m), or None
    followed: Array | None = None
    task_followed: Array | None = None  # those of task rows, (1 or K, 3 mt), or None


class CompiledDerivatives(threading.local):
    """Differentiates the motion at one state; each thread has a memory of its own."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Load the library; compile it when it is not in the cache."""
        #: The library.
        self.path = library_of(mechanism, Library.DERIVATIVES)
        library = ctypes.CDLL(str(self.path))
        self._layout = layout = DerivativeLayout(mechanism)
        self._nv, self._rows = mechanism.model.nv, layout.rows
        self._memory = layout.memory()
        if len(layout.parameters):
            self._tell = library.uk_exist
            self._tell.restype = None
        #: Which parameters had derivatives at the last state of :meth:`differentiate`, (P,).
        self.exist = np.zeros(len(layout.parameters))
        self._address, self._told = _address(self._memory), _address(self.exist)
        self._differentiate, self._equations = (
            library.uk_differentiate,
            library.uk_equation_derivatives,
        )
        self._forces = library.uk_force_derivatives
        self._equations.restype = self._forces.restype = None
        self._fields = layout.views(self._memory)
        by_qdd = self._fields["qdd_derivatives"].reshape(self._nv, layout.row_length)
        others = [np.zeros((k, layout.row_length)) for k in (self._rows, self._nv)]
        self._of_forces = tuple(map(_address, others))
        end, begin = layout.directions, layout.stride
        self._whole = [(x[:, :end], x[:, begin:]) for x in (by_qdd, *others)]

    def at(
        self,
        state: State,
        qdd: Array,
        multipliers: Array,
        reference: ReferenceSample | None,
        *,
        stabilize: bool,
    ) -> EquationDerivatives:
        """Differentiate both equations of motion with acceleration and multipliers held."""
        fields = self._set(state, reference, stabilize)
        fields["qdd"][:] = qdd
        fields["multipliers"][: self._rows] = multipliers
        self._equations(self._address)
        stride, directions = self._layout.stride, self._layout.directions
        return EquationDerivatives(
            *(
                fields[name][: rows * stride].reshape(rows, -1)[:, :directions].copy()
                for name, rows in (
                    ("motion_derivatives", self._nv),
                    ("row_derivatives", self._rows),
                    ("rate_derivatives", self._rows),
                )
            )
        )

    def call(self) -> int:
        """Call the function of C alone, at the state in the memory."""
        failed: int = self._differentiate(self._address)
        return failed

    @property
    def rank(self) -> int:
        """Rank of the rows at the last state of :meth:`differentiate`."""
        return int(self._fields["rank"][0])

    @property
    def qdd(self) -> Array:
        """Acceleration at the last state of :meth:`differentiate`, (nv,); a view of the memory."""
        return self._fields["qdd"]

    def differentiate(
        self,
        state: State,
        tau: Array | None,
        reference: ReferenceSample | None,
        active: Flags | None,
        *,
        stabilize: bool,
        forces: bool,
    ) -> tuple[Array, ...] | None:
        """Differentiate the acceleration, and with forces the multipliers and Aᵀλ, (k, n) each.

        None where the mass matrix is singular or the state gives no finite numbers.
        """
        fields = self._set(state, reference, stabilize)
        fields["tau"][:] = 0.0 if tau is None else tau
        if active is not None:
            fields["active"][:] = active
        failed = self._differentiate(self._address)
        if not failed:
            if forces:
                self._forces(self._address, *self._of_forces)
            if len(self.exist):
                self._tell(self._address, self._told)
        if active is not None:
            fields["active"][:] = 1.0
        if failed:
            return None
        return tuple(np.concatenate(x, axis=1) for x in self._whole[: 3 if forces else 1])

    def _set(
        self, state: State, reference: ReferenceSample | None, stabilize: bool
    ) -> dict[str, Array]:
        """Set a state, and return all fields: attributes of a thread's own take time to find."""
        fields, memory = self._fields, self._memory
        memory[0], memory[1] = state.t, stabilize
        fields["q"][:] = state.q
        fields["v"][:] = state.v
        if reference is not None:
            fields["followed"][:] = np.concatenate(reference)
        return fields


class CompiledStates:
    """Differentiates at many states, in vectors of the processor or one by one, and in threads."""

    def __init__(self, subject: Subject, kind: Library) -> None:
        """Load the library; compile it when it is not in the cache.

        It is of many states or of the projection of a mechanism, or of the efforts of tasks of one
        that varies no parameters. Many states need a compiler with vectors.
        """
        #: The library.
        self.path = library_of(subject, kind)
        library = ctypes.CDLL(str(self.path))
        function, structure, self._statuses = _FUNCTIONS[kind]
        self._call = _Call(getattr(library, function), structure)
        mechanism = subject.mechanism if isinstance(subject, Tasks) else subject
        self._layout: EffortLayout | DerivativeLayout = (
            EffortLayout(subject) if isinstance(subject, Tasks) else DerivativeLayout(subject)
        )
        self._begin: Array | None = None
        self._fixed: dict[str, float] = {}
        #: States per vector; 1 without.
        self.width, self._worth = 1, _WORTH_A_THREAD
        if kind is Library.DERIVATIVE_BATCH:
            self.width, self._worth = library.uk_width(), _WORTH_A_THREAD_IN_LANES
            self._fixed = {"stabilize": 1.0, "p": self._layout.parameters.ctypes.data}
        else:
            acting = mechanism.hierarchy.acting()
            self._begin = self._layout.memory()
            self._begin[self._layout["active"]][: len(acting)] = acting

    def differentiate(
        self,
        states: States,  # where to differentiate
        results: Mapping[str, Array],  # arrays by what the structure of the function calls them
        # what all states have in common, by the name of the field of the memory
        settings: Mapping[str, Array],
        threads: int | None,  # at most so many; None: as many as there are processors
    ) -> Indices:
        """Fill in results at all states; the status of each, (K,)."""
        status = np.empty(len(states.v))
        arrays = {**states._asdict(), **results, "status": status}
        begin = None if self._begin is None else self._begin.copy()
        if begin is not None:
            for name, value in settings.items():
                begin[self._layout[name]] = value

        def run(first: int, end: int) -> None:
            memory = None if begin is None else begin.copy()
            if self._call(first, end, arrays, self._fixed, memory):
                raise MemoryError("not enough memory for a batch")

        in_parts(run, len(status), threads, self.width, self._worth)
        found: Indices = self._statuses[status.astype(int)]
        return found

    def alone(
        self, states: States, results: Mapping[str, Array]
    ) -> tuple[Callable[[Mapping[str, Array]], int], Mapping[str, Array]]:
        """Prepare the same of one state, to be repeated with settings: it returns the status.

        Behind it are the fields of the memory that C works on.
        """
        assert self._begin is not None
        status, memory = np.empty(1), self._begin.copy()
        arrays = {**states._asdict(), **results, "status": status}
        run = self._call.prepared(0, 1, arrays, {}, memory)
        places = self._layout.views(memory)
        statuses = self._statuses.tolist()

        def differentiate(settings: Mapping[str, Array]) -> int:
            for name, value in settings.items():
                places[name][:] = value
            run()
            one: int = statuses[int(status[0])]
            return one

        return differentiate, places


class _Call:
    """A function of C on a structure of counts, strides, numbers and arrays."""

    def __init__(self, function: Any, name: str) -> None:
        self._function, self._structure = function, structure(name)
        self._fields = [
            (name, name.removesuffix("_stride"), name.endswith("_stride"))
            for name, *_ in self._structure._fields_
        ]
        function.restype = ctypes.c_int

    def prepared(
        self,
        first: int,
        end: int,
        arrays: Mapping[str, Array | None],
        fixed: Mapping[str, float],
        memory: Array | None = None,
    ) -> Callable[[], int]:
        """Prepare a call for some states, in arrays and memory that stay where they are.

        ``fixed`` are numbers and addresses that all states have in common.
        """
        given: dict[str, Any] = {"count": end - first, **fixed}
        for name, of, is_stride in self._fields:
            array = arrays.get(of)
            if is_stride:
                given[name] = _stride(array)
            elif array is not None:
                given[name] = array.ctypes.data + first * _stride(array) * array.itemsize
        call = ctypes.byref(self._structure(**given))
        before = () if memory is None else (_address(memory),)
        held: partial[int] = partial(self._function, *before, call)
        held.arrays = arrays, memory  # type: ignore[attr-defined]  # they live as long
        return held

    def __call__(self, *given: Any) -> int:
        """Prepare a call and make it."""
        return self.prepared(*given)()


def _address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _stride(array: Array | None) -> int:
    """Count numbers from one state to the next; 0 where all have the same."""
    return 0 if array is None or len(array) == 1 else array.strides[0] // array.itemsize
