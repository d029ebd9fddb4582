# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches and rollouts on a GPU: the lanes' source, a state a thread."""

from uk_dynamics.compilation.gpu.gpu_dynamics import OPTIONS, CudaDevice, GpuDynamics, kernel_source

__all__ = ["OPTIONS", "CudaDevice", "GpuDynamics", "kernel_source"]
