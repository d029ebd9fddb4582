# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches, rollouts and closed loops on a GPU: the lanes' source, a state a thread."""

from uk_dynamics.compilation.gpu.gpu_dynamics import CudaDevice, GpuDynamics
from uk_dynamics.compilation.gpu.gpu_loops import GpuLoops
