# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""CUDA source of a mechanism: what lanes of processors run, with a vector of one state."""

from __future__ import annotations

import re

from uk_dynamics.compilation.emit.c_text import assemble, part
from uk_dynamics.compilation.emit.generate import batch_source
from uk_dynamics.mechanism.resolution import ResolvedMechanism

#: Options of NVRTC: functions and tables without another word are the device's.
OPTIONS = ("--std=c++17", "--device-as-default-execution-space", "--disable-warnings")

_HEADERS = re.compile(r"^\s*#\s*include\s*<.*>\s*$", re.MULTILINE)


def kernel_source(mechanism: ResolvedMechanism, *, rollouts: bool) -> str:
    """C++ of the kernels of batches or of rollouts, which compile longer: a program each.

    NVRTC has mathematics and memory functions built in, and knows no headers.

    Args:
        mechanism: What moves; for rollouts one whose configurations are vectors.
        rollouts: ``uk_rollout_kernel`` instead of ``uk_regular_kernel`` and ``uk_evaluate_kernel``.
    """
    which = f"#define UK_ROLLOUTS {int(rollouts)}\n"
    parts = [which, part("gpu.h"), batch_source(mechanism), part("gpu.cu")]
    return _HEADERS.sub("", assemble("\n".join(parts)))
