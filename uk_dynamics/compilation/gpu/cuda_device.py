# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A GPU of NVIDIA, through CuPy."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import Array

_THREADS = 128  # a block; each has hundreds of numbers, which few registers hold


class CudaDevice:
    """The GPU that CuPy has chosen; kernels are compiled by NVRTC and kept in CuPy's cache."""

    def __init__(self) -> None:
        """Find the device.

        Raises:
            InputError: CuPy is not installed, or has no device.
        """
        try:
            self._cupy: Any = importlib.import_module("cupy")
            found = self._cupy.cuda.runtime.getDeviceProperties(self._cupy.cuda.Device().id)
        except (ImportError, OSError, RuntimeError) as error:
            raise InputError(
                'backend "gpu" needs a GPU of NVIDIA and pip install "uk_dynamics[gpu]":'
                f" {str(error).splitlines()[0] if str(error) else type(error).__name__}",
                place="backend",
            ) from None
        #: Its name.
        self.name: str = found["name"].decode()

    def compile(self, source: str, options: Sequence[str]) -> Any:
        """A program from its source."""
        return self._cupy.RawModule(code=source, options=tuple(options), backend="nvrtc")

    def put(self, array: Any) -> Any:
        """A copy of an array on the device."""
        return self._cupy.asarray(array, dtype=float, order="C")

    def empty(self, shape: tuple[int, ...]) -> Any:
        """An array on the device, of any numbers."""
        return self._cupy.empty(shape)

    def get(self, array: Any) -> Array:
        """A copy of an array of the device."""
        found: Array = self._cupy.asnumpy(array)
        return found

    def address(self, array: Any) -> int:
        """Where an array stands in the memory of the device."""
        return int(array.data.ptr)

    def launch(self, program: Any, kernel: str, call: ctypes.Structure, states: int) -> None:
        """Run a kernel with a thread for each state."""
        given = self._cupy.asarray(np.frombuffer(bytes(call), dtype=np.uint8))
        blocks = -(-states // _THREADS)
        program.get_function(kernel)((blocks,), (_THREADS,), (given,))
