# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""NVIDIA's compiler of kernels, which needs no GPU."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import pytest

needs_nvrtc = pytest.mark.skipif(
    importlib.util.find_spec("nvidia") is None
    or importlib.util.find_spec("nvidia.cuda_nvrtc") is None,
    reason="needs nvidia-cuda-nvrtc-cu12",
)
ARCHITECTURE = "--gpu-architecture=compute_80"


def ptx(source: str, options: Sequence[str]) -> str:
    """What a GPU gets of a source; an error has what the compiler says."""
    package = importlib.import_module("nvidia.cuda_nvrtc")
    (file,) = Path(next(iter(package.__path__)), "lib").glob("libnvrtc.so.*")
    nvrtc = ctypes.CDLL(str(file))
    program = ctypes.c_void_p()
    made = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None
    )
    assert made == 0, made
    words = [option.encode() for option in (ARCHITECTURE, *options)]
    status = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    assert status == 0, _text(nvrtc, program, "ProgramLog")
    return _text(nvrtc, program, "PTX")


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, text)
    return text.value.decode()
