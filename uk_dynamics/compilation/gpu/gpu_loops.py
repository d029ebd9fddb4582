# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closed loops on a device: a motion a thread, with its whole servo law."""

from collections.abc import Callable, Iterable
from ctypes import c_double
from typing import Any

import numpy as np

from uk_dynamics.compilation.build.cache import key_of
from uk_dynamics.compilation.build.compilable import check, writing
from uk_dynamics.compilation.build.compiler import find_compiler, no_compiler
from uk_dynamics.compilation.build.library import Library, part_of
from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.closed_loop_source import closed_loop_kernel_source
from uk_dynamics.compilation.emit.layout import ServoLayout
from uk_dynamics.compilation.gpu.gpu_dynamics import OPTIONS, CudaDevice, kernels
from uk_dynamics.compilation.runtime import LoopCall, LoopMover, LoopWork
from uk_dynamics.compilation.verification import Comparison, WrongLibraryError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Law
from uk_dynamics.mechanism.resolution import Array

_Key = tuple[str, str]
_programs: dict[_Key, Any] = {}  # of this process, by what they are made from and the device
_problems: dict[_Key, str] = {}  # what their trials found; empty: nothing


def loop_kernel_source(tasks: Tasks) -> str:
    """C++ of ``uk_loop_kernel``: closed loops with the law of one state."""
    return kernels(closed_loop_kernel_source(tasks), stage="uk_loop_stage")


class GpuLoops(LoopMover):
    """Moves closed loops of some tasks on a device.

    What a law is set to and remembers is the memory of its controller: a block of numbers for each
    motion, which goes to the device and comes back.
    """

    complete = True

    def __init__(self, tasks: Tasks, device: CudaDevice | None = None) -> None:
        """Find the device, and compile the kernel when it is the first time in this process.

        Device None is the GPU of NVIDIA that CuPy has chosen; InputError: there is none.
        """
        mechanism = tasks.mechanism
        check(mechanism, straight=True)
        check(tasks)
        super().__init__(mechanism)
        self.device = device or CudaDevice()
        self._numbers = ServoLayout(tasks).size
        compiler = find_compiler()
        if compiler is None:
            raise no_compiler()
        made_from = key_of(mechanism, compiler, part_of(tasks, Library.CLOSED_LOOPS))
        self._key = made_from, self.device.name
        if self._key not in _programs:
            with writing():
                source = loop_kernel_source(Tasks(tasks.spec, mechanism.as_filed()))
            _programs[self._key] = self.device.compile(source, OPTIONS)

    def verify(self, name: str, comparisons: Callable[[], Iterable[Comparison]]) -> None:
        """Try the kernel on this device, once in a process; see :meth:`LoopMover.verify`."""
        if self._key not in _problems:
            found = (each.problem for each in comparisons() if each.problem)
            _problems[self._key] = next(found, "")
        if problem := _problems[self._key]:
            raise WrongLibraryError(
                f"what NVRTC made of {name} answers wrongly on {self.device.name}: {problem}"
            )

    def _run(self, work: LoopWork) -> None:
        """Launch the kernel."""
        values, common, each, laws, structures, _ = work
        on, count = self.device, len(laws)
        owned = [self._arrays_of(law) for law in laws]
        arrays = [*(array for three in owned for array in three), *structures]
        sizes = np.array([0 if array is None else len(array) for array in arrays])
        starts = np.cumsum(sizes) - sizes
        block = on.put(np.concatenate([array for array in arrays if array is not None]))
        # three for each controller, then those of structures; as numbers of the same bits
        pointers = on.put(np.where(sizes, on.address(block) + 8 * starts, 0).view(float))
        first = on.address(pointers)
        controllers = on.put((first + 24 * np.arange(count)).view(float))
        late = on.empty((count, int(values["places"]), 1 + self._motors))
        there = {name: on.put(array) for name, array in {**common, **each}.items()}
        call = LoopCall(
            **values,
            **{name: on.address(array) for name, array in there.items()},
            count=count,
            controllers=on.address(controllers),
            structures=first + 24 * count,
            late=on.address(late),
        )
        on.launch(_programs[self._key], "uk_loop_kernel", call, count)
        numbers = on.get(block)
        for (memory, *_), start in zip(owned, starts[: 3 * count : 3], strict=True):
            memory[:] = numbers[start : start + len(memory)]
        for name, array in each.items():
            array[...] = on.get(there[name])
        each["q"][each["stopped"] != 0.0] = np.nan

    def _arrays_of(self, law: Law) -> tuple[Array, Array | None, Array | None]:
        """Memory of a controller, and what its tasks and its structure follow."""
        controller = structure("uk_controller").from_address(law.controller)
        memory = _numbers_at(controller.memory, self._numbers)
        return memory, _table_at(controller.tasks), _table_at(controller.structure)


def _numbers_at(address: int, count: int) -> Array:
    """Numbers in the memory of this process, not a copy."""
    return np.ctypeslib.as_array((c_double * count).from_address(address))


def _table_at(address: int | None) -> Array | None:
    """A table of references, see references.c."""
    if address is None:
        return None
    size = 1
    for _ in range(int(_numbers_at(address, 1)[0])):
        size += int(_numbers_at(address, size + 4)[-1])
    return _numbers_at(address, size)
