# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches and rollouts on a device with many threads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from uk_dynamics.compilation.build.compilable import check, writing
from uk_dynamics.compilation.emit.layout import Layout, rolls
from uk_dynamics.compilation.gpu.cuda_device import CudaDevice
from uk_dynamics.compilation.gpu.kernel_source import OPTIONS, kernel_source
from uk_dynamics.compilation.runtime.batch_call import (
    Answers,
    CommonInputs,
    batch_call,
    trajectories_call,
)
from uk_dynamics.compilation.runtime.compiled_batch import to_rollout
from uk_dynamics.compilation.runtime.fallback import Fallback
from uk_dynamics.mechanism.dynamics import InterpretedDynamics, StructuralRows, put
from uk_dynamics.mechanism.resolution import (
    Array,
    BatchSolution,
    Inputs,
    Plan,
    ResolvedMechanism,
    Rollout,
    States,
)


class Device(Protocol):
    """What runs kernels: memory of its own, and a thread for each state."""

    name: str

    def compile(self, source: str, options: Sequence[str]) -> Any:
        """A program from its source."""

    def put(self, array: Array) -> Any:
        """A copy of an array on the device."""

    def empty(self, shape: tuple[int, ...]) -> Any:
        """An array on the device, of any numbers."""

    def get(self, array: Any) -> Array:
        """A copy of an array of the device."""

    def address(self, array: Any) -> int:
        """Where an array stands in the memory of the device."""

    def launch(self, program: Any, kernel: str, call: ctypes.Structure, states: int) -> None:
        """Run a kernel with a thread for each state."""


class GpuDynamics(Fallback):
    """Evaluates batches and rollouts on a device; everything else is interpreted.

    States where the mass matrix is singular, and inputs with non-ideal forces, are left to the
    interpreted evaluator as well, and so are rollouts of configurations that are no vectors.
    """

    def __init__(self, mechanism: ResolvedMechanism, device: Device | None = None) -> None:
        """Find the device; kernels are compiled when the first batch comes, in seconds to minutes.

        Args:
            mechanism: What to evaluate.
            device: Where; None: the GPU of NVIDIA that CuPy has chosen.

        Raises:
            CompilationError: Some part cannot be compiled.
            InputError: There is no such device.
        """
        check(mechanism, straight=True)
        super().__init__(InterpretedDynamics(mechanism))
        self.device = device or CudaDevice()
        self._mechanism = mechanism
        self._layout = Layout(mechanism)
        self._structure = StructuralRows(mechanism)

    @cached_property
    def _program(self) -> Any:
        with writing():
            source = kernel_source(self._mechanism.as_filed())
        return self.device.compile(source, OPTIONS)

    def evaluate_states(
        self, given: States, inputs: Inputs, *, forces: bool, threads: int | None
    ) -> BatchSolution:
        """Many states at once; see :meth:`Dynamics.evaluate_batch`."""
        if self._needs_fallback(inputs) or not len(given.q):
            return super().evaluate_states(given, inputs, forces=forces, threads=threads)
        count, nv = given.v.shape
        common, on = self._common(given.t, inputs), self.device
        answers = Answers(count, nv, self.rows, forces=forces, empty=lambda size: on.empty((size,)))
        tau = None if given.tau is None else on.put(given.tau)
        there = States(on.put(given.t), on.put(given.q), on.put(given.v), tau)
        call = batch_call(there, common, answers, 0, count, on.address)
        on.launch(self._program, "uk_evaluate_kernel", call, count)
        solution, failed = answers.solution(on.get(answers.block))
        for k in failed:
            put(solution, int(k), self.fallback.evaluate(*given.at(int(k), inputs)))
        return solution

    def roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """Many trajectories at once; see :meth:`Dynamics.rollout`."""
        if self._needs_fallback(inputs) or not rolls(self._mechanism) or not len(given.q):
            return super().roll(given, inputs, threads)
        halves = given.t + 0.5 * given.dt * np.arange(2 * given.steps + 1, dtype=float)
        common = self._common(halves, inputs)._replace(stabilize=not given.project)
        count, on, instants = len(given.q), self.device, given.instants
        outputs = {
            name: on.put(np.full((count, len(instants), x.shape[1]), np.nan))
            for name, x in (("q_out", given.q), ("v_out", given.v))
        }
        outputs |= {name: on.empty((count,)) for name in ("stopped", "reason")}
        there = replace(given, q=on.put(given.q), v=on.put(given.v), tau=on.put(given.tau))
        call = trajectories_call(there, common, 0, count, outputs, on.address)
        on.launch(self._program, "uk_rollout_kernel", call, count)
        return to_rollout(given, instants, *map(on.get, outputs.values()))

    def _needs_fallback(self, inputs: Inputs) -> bool:
        return inputs.nonideal is not None or bool(inputs.references and not self._layout.followed)

    def _common(self, times: Array, inputs: Inputs) -> CommonInputs:
        """Inputs common to all states, on the device."""
        common = CommonInputs.sample(self._structure, times, inputs, follows=self._layout.followed)
        parameters = self._layout.parameters
        return CommonInputs(
            common.stabilize,
            self.device.put(common.active),
            None if common.followed is None else self.device.put(common.followed),
            self.device.put(parameters) if len(parameters) else None,
        )
