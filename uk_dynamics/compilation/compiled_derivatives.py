# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives in C: of the motion, of the projection, and of the efforts of a servo law."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.build.library import Library, library_of
from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import DerivativeLayout, EffortLayout
from uk_dynamics.compilation.runtime.compiled_batch import in_parts
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Derivatives, DerivativeStatus, EquationDerivatives
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State

#: Status of states of a batch that C has no solution for.
LEFT_TO_PYTHON = -1
_ALONE = 2  # UK_ALONE of derivatives_batch.h
_WORTH_A_THREAD, _WORTH_A_THREAD_IN_LANES = 64, 128  # states


_S, _LEFT = DerivativeStatus, LEFT_TO_PYTHON
# by what C returns; singular masses are left to Python
_OF_PROJECTION = np.array([_S.EXIST, _LEFT, _S.NOT_FINITE, _S.OPEN, _S.RANK_CHANGES])
_OF_EFFORTS = np.array(
    [_S.EXIST, _LEFT, _LEFT, _LEFT, _S.RANK_CHANGES, _S.TASKS_MISSED, _S.LIMITS_CHANGE]
)


class States(NamedTuple):
    """States of a batch, contiguous; times and references may be common to all.

    Attributes:
        t: (1,) or (K,).
        q: (K, nq).
        v: (K, nv).
        tau: (K, nv); None for what needs no forces.
        followed: References of the rows: values, rates, accelerations, (1 or K, 3 m), or None.
        task_followed: Those of task rows, (1 or K, 3 mt), or None.
    """

    t: Array
    q: Array
    v: Array
    tau: Array | None = None
    followed: Array | None = None
    task_followed: Array | None = None


class CompiledDerivatives(threading.local):
    """Differentiates the motion at one state; each thread has a memory of its own."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Load the library; compile it when it is not in the cache.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
        """
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
        self._fields = {name: self._memory[layout[name]] for name in layout.fields}
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
        self._set(state, reference, stabilize)
        self._fields["qdd"][:] = qdd
        self._fields["multipliers"][: self._rows] = multipliers
        self._equations(self._address)
        stride, directions = self._layout.stride, self._layout.directions
        return EquationDerivatives(
            *(
                self._fields[name][: rows * stride].reshape(rows, -1)[:, :directions].copy()
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
        active: NDArray[np.bool_] | None,
        *,
        stabilize: bool,
        forces: bool,
    ) -> tuple[Array, ...] | None:
        """Differentiate the acceleration, and with forces the multipliers and Aᵀλ, (k, n) each.

        None where the mass matrix is singular or the state gives no finite numbers.
        """
        self._set(state, reference, stabilize)
        self._fields["tau"][:] = 0.0 if tau is None else tau
        if active is not None:
            self._fields["active"][:] = active
        failed = self.call()
        if not failed:
            if forces:
                self._forces(self._address, *self._of_forces)
            if len(self.exist):
                self._tell(self._address, self._told)
        if active is not None:
            self._fields["active"][:] = 1.0
        if failed:
            return None
        return tuple(np.concatenate(x, axis=1) for x in self._whole[: 3 if forces else 1])

    def _set(self, state: State, reference: ReferenceSample | None, stabilize: bool) -> None:
        fields = self._fields
        self._memory[0], self._memory[1] = state.t, stabilize
        fields["q"][:] = state.q
        fields["v"][:] = state.v
        if reference is not None:
            fields["followed"][:] = np.concatenate(reference)


class CompiledDerivativeBatch:
    """Differentiates the motion at many states: in vectors of the processor, and in threads."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Load the library; compile it when it is not in the cache.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler with vectors.
        """
        #: The library.
        self.path = library_of(mechanism, Library.DERIVATIVE_BATCH)
        library = ctypes.CDLL(str(self.path))
        self._parameters = DerivativeLayout(mechanism).parameters
        self._call = _Call(library.uk_differentiate_batch, "uk_derivative_batch")
        #: States per vector.
        self.width: int = library.uk_width()

    def differentiate(self, states: States, found: Derivatives, threads: int | None) -> None:
        """Fill in derivatives at all states, of the multipliers and forces that are asked for."""
        status, exist = np.empty(len(states.v)), np.ones(np.shape(found.exist))
        whole = {name: x.whole for name, x in found.quantities.items()}
        arrays = {"qdd": found.acceleration.value, **whole}
        arrays |= states._asdict() | {"status": status, "exist": exist}
        fixed = {"stabilize": 1.0, "p": self._parameters.ctypes.data}

        def run(first: int, end: int) -> None:
            if self._call(first, end, arrays, fixed):
                raise MemoryError("not enough memory for a batch")

        in_parts(run, len(status), threads, self.width, _WORTH_A_THREAD_IN_LANES)
        found.status[:] = np.where(status == _ALONE, LEFT_TO_PYTHON, status)
        found.exist[:] = exist


class CompiledProjection:
    """Differentiates the projection at many states, one after the other, and in threads."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Load the library; compile it when it is not in the cache.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
        """
        #: The library.
        self.path = library_of(mechanism, Library.PROJECTION)
        library = ctypes.CDLL(str(self.path))
        self._call = _Call(library.uk_projection_batch, "uk_projected_states")
        self._layout = DerivativeLayout(mechanism)
        self._acting = mechanism.hierarchy.acting()

    def differentiate(self, states: States, found: Derivatives, threads: int | None) -> None:
        """Fill in the projected states and their derivatives, views of one array."""
        status, arrays = self._arrays(states, found)

        def run(first: int, end: int) -> None:
            self._call(first, end, arrays, {}, self._begin())

        in_parts(run, len(status), threads, 1, _WORTH_A_THREAD)
        found.status[:] = _OF_PROJECTION[status.astype(int)]

    def alone(self, states: States, found: Derivatives) -> Callable[[], int]:
        """Prepare the same of one state, to be repeated; it returns the status."""
        status, arrays = self._arrays(states, found)
        run = self._call.prepared(0, 1, arrays, {}, self._begin())
        statuses = _OF_PROJECTION.tolist()

        def differentiate() -> int:
            run()
            one: int = statuses[int(status[0])]
            return one

        return differentiate

    def _begin(self) -> Array:
        memory = self._layout.memory()
        memory[self._layout["active"]][: len(self._acting)] = self._acting
        return memory

    @staticmethod
    def _arrays(states: States, found: Derivatives) -> tuple[Array, dict[str, Array | None]]:
        status = np.empty(len(states.v))
        values = {"q_out": found.position.value, "v_out": found.velocity.value}
        whole = found.position.whole.base
        return status, states._asdict() | values | {"status": status, "derivatives": whole}


class EffortSettings(NamedTuple):
    """Settings of a servo law that all states of a batch have in common.

    Attributes:
        weights: Diagonal of W, (motors,).
        preload: Efforts to come close to, (motors,).
        lower: Smallest efforts, (motors,).
        upper: Largest efforts, (motors,).
        task_damping: 2ζω of the task rows, (mt,).
        task_stiffness: ω² of the task rows, (mt,).
    """

    weights: Array
    preload: Array
    lower: Array
    upper: Array
    task_damping: Array
    task_stiffness: Array


class CompiledEfforts:
    """Differentiates the efforts of a servo law, one state after the other, and in threads."""

    def __init__(self, tasks: Tasks) -> None:
        """Load the library; compile it when it is not in the cache.

        Args:
            tasks: Of a mechanism that varies no parameters.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
        """
        #: The library.
        self.path = library_of(tasks, Library.EFFORTS)
        library = ctypes.CDLL(str(self.path))
        self._call = _Call(library.uk_effort_derivatives_batch, "uk_effort_batch")
        self._layout, self._nv = EffortLayout(tasks), tasks.mechanism.model.nv
        self._acting = tasks.mechanism.hierarchy.acting()

    def differentiate(
        self, states: States, settings: EffortSettings, found: Derivatives, threads: int | None
    ) -> None:
        """Fill in efforts and derivatives."""
        status, held, arrays = self._arrays(states, found)
        begin = self._begin()
        for name, value in settings._asdict().items():
            begin[self._layout[name]] = value

        def run(first: int, end: int) -> None:
            self._call(first, end, arrays, {}, begin.copy())

        in_parts(run, len(status), threads, 1, _WORTH_A_THREAD)
        found.status[:] = _OF_EFFORTS[status.astype(int)]
        found.limited[:] = held > 0.0

    def alone(
        self, states: States, found: Derivatives
    ) -> Callable[[EffortSettings], tuple[int, Array]]:
        """Prepare the same of one state, to be repeated; status and motions that are possible."""
        status, held, arrays = self._arrays(states, found)
        begin = self._begin()
        memory, limited = begin.copy(), found.limited
        run, statuses = self._call.prepared(0, 1, arrays, {}, memory), _OF_EFFORTS.tolist()
        motions = memory[self._layout["motions"]].reshape(-1, 2 * self._nv)
        places = [begin[self._layout[name]] for name in EffortSettings._fields]

        def differentiate(settings: EffortSettings) -> tuple[int, Array]:
            for place, value in zip(places, settings, strict=True):
                place[:] = value
            memory[:] = begin
            run()
            np.greater(held, 0.0, out=limited)
            free = int(memory[self._layout["allowed"]][0])
            return statuses[int(status[0])], motions[:free].T.copy()

        return differentiate

    def _begin(self) -> Array:
        memory = self._layout.memory()
        memory[self._layout["active"]][: len(self._acting)] = self._acting
        return memory

    @staticmethod
    def _arrays(states: States, found: Derivatives) -> tuple[Array, Array, dict[str, Array | None]]:
        status, held = np.empty(len(states.v)), np.empty(found.limited.shape)
        arrays = states._asdict() | {"held": held, "status": status}
        arrays |= {"efforts": found.efforts.value, "derivatives": found.efforts.whole}
        return status, held, arrays


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
