# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Devices of tests: a GPU where there is one, and kernels as C++ that the processor runs."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark.structures import ParameterSet

from uk_dynamics.compilation.gpu import CudaDevice
from uk_dynamics.exceptions import InputError

# What CUDA has and C++ has not; a thread after the other.
THREADS = """
#include <math.h>
#include <stddef.h>
#include <string.h>
#define __global__
struct uk_index { unsigned x; };
static uk_index blockIdx, blockDim = {1}, threadIdx;
"""
CALLS = """
extern "C" void threads_of(const void *c, long long count, void (*kernel)(const void *)) {
  for (long long k = 0; k < count; ++k) blockIdx.x = (unsigned)k, kernel(c);
}
"""


class OnProcessor:
    """A device that is the processor: the same source and structures, one thread at a time."""

    name = "processor"

    def __init__(self) -> None:
        self.launched: list[str] = []

    def compile(self, source, options):
        """A library of the source."""
        options = ["-std=c++17", "-O1", "-w", "-shared", "-fPIC"]
        with tempfile.TemporaryDirectory() as folder:
            text, made = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
            text.write_text(THREADS + source + CALLS)
            subprocess.run(["g++", *options, str(text), "-o", str(made)], check=True)
            return ctypes.CDLL(str(made))

    def put(self, array):
        return np.array(array, dtype=float, order="C")

    def empty(self, shape):
        return np.full(shape, 1e300)

    def get(self, array):
        return array.copy()

    def address(self, array):
        return array.ctypes.data

    def launch(self, program, kernel, call, states):
        self.launched.append(kernel)
        # more threads than states, as the last block has
        program.threads_of(ctypes.byref(call), ctypes.c_longlong(states + 3), program[kernel])


class OnGpu(CudaDevice):
    """The GPU; it remembers what was launched."""

    def __init__(self) -> None:
        super().__init__()
        self.launched: list[str] = []

    def launch(self, program, kernel, call, states):
        self.launched.append(kernel)
        super().launch(program, kernel, call, states)


@cache
def has_gpu() -> bool:
    """Whether there is a GPU, and what runs kernels there."""
    try:
        CudaDevice()
    except InputError:
        return False
    return True


def devices() -> list[ParameterSet]:
    """Both, as parameters of a fixture: each where there is one."""
    no_compiler, no_gpu = shutil.which("g++") is None, not has_gpu()
    processor = pytest.mark.skipif(no_compiler, reason="there is no C++ compiler")
    gpu = pytest.mark.skipif(no_gpu, reason="needs a GPU of NVIDIA")
    return [
        pytest.param(OnProcessor, marks=processor, id="processor"),
        pytest.param(OnGpu, marks=gpu, id="gpu"),
    ]


def some_device() -> OnGpu | OnProcessor:
    """The GPU, or the processor in its place."""
    return OnGpu() if has_gpu() else OnProcessor()
