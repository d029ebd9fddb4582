# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches and rollouts on a device with many threads, which run what lanes of processors do."""

import ctypes
import importlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from uk_dynamics.compilation.build.compilable import check, writing
from uk_dynamics.compilation.emit.c_text import assemble, part
from uk_dynamics.compilation.emit.generate import batch_source
from uk_dynamics.compilation.emit.layout import Layout, rolls
from uk_dynamics.compilation.runtime.batch_call import (
    Answers,
    CommonInputs,
    batch_call,
    beyond_compiled,
    trajectories_call,
)
from uk_dynamics.compilation.runtime.compiled_batch import to_rollout
from uk_dynamics.compilation.runtime.fallback import Fallback
from uk_dynamics.exceptions import InputError, StateError
from uk_dynamics.mechanism.dynamics import (
    Backend,
    InterpretedDynamics,
    StructuralRows,
    goes_over_contacts,
    put,
    without_forces,
)
from uk_dynamics.mechanism.resolution import (
    Array,
    BatchSolution,
    Inputs,
    Plan,
    ResolvedMechanism,
    Rollout,
    States,
)

_THREADS = 128  # a block; each has hundreds of numbers, which few registers hold


class CudaDevice:
    """The GPU of NVIDIA that CuPy has chosen; NVRTC compiles kernels, CuPy keeps them."""

    def __init__(self) -> None:
        """Find the device; InputError where CuPy is not installed, or has none."""
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


#: Options of NVRTC: functions and tables without another word are the device's.
OPTIONS = ("--std=c++17", "--device-as-default-execution-space", "--disable-warnings")

_HEADERS = re.compile(r"^\s*#\s*include\s*<.*>\s*$", re.MULTILINE)


def kernel_source(mechanism: ResolvedMechanism, *, rollouts: bool) -> str:
    """C++ of the kernels of batches or of rollouts, which compile longer: a program each.

    NVRTC has mathematics and memory functions built in, and knows no headers. Rollouts are of
    mechanisms whose configurations are vectors.
    """
    return kernels(batch_source(mechanism), stage="uk_rollout_stage" if rollouts else "")


def kernels(source: str, *, stage: str) -> str:
    """C++ of kernels of a source with lines of ``part`` and ``header``.

    ``stage`` is the function of its steps' stages; empty: nothing moves.
    """
    steps = f"#define UK_STAGE {stage}\n" if stage else ""
    return _HEADERS.sub("", assemble("\n".join([steps, part("gpu.h"), source, part("gpu.cu")])))


class GpuDynamics(Fallback):
    """Evaluates batches and rollouts on a device; everything else is interpreted.

    States where the mass matrix is singular, and inputs with non-ideal forces, are left to the
    interpreted evaluator as well, and so are rollouts of configurations that are no vectors.
    """

    backend: Backend = "gpu"

    def __init__(self, mechanism: ResolvedMechanism, device: CudaDevice | None = None) -> None:
        """Find the device; kernels are compiled when the first batch comes, in seconds to minutes.

        Device None is the GPU of NVIDIA that CuPy has chosen; InputError: there is none.
        """
        check(mechanism, straight=True)
        super().__init__(InterpretedDynamics(mechanism))
        self.device = device or CudaDevice()
        self._mechanism = mechanism
        self._layout = Layout(mechanism)
        self._structure = StructuralRows(mechanism)

    @cached_property
    def _evaluation(self) -> Any:
        return self._program(rollouts=False)

    @cached_property
    def _rollouts(self) -> Any:
        return self._program(rollouts=True)

    def _program(self, *, rollouts: bool) -> Any:
        with writing():
            source = kernel_source(self._mechanism.as_filed(), rollouts=rollouts)
        return self.device.compile(source, OPTIONS)

    def evaluate_states(
        self, given: States, inputs: Inputs, *, forces: bool, threads: int | None
    ) -> BatchSolution:
        """Many states at once; see :meth:`Dynamics.evaluate_batch`."""
        if beyond_compiled(inputs, self._layout) or not len(given.q):
            return super().evaluate_states(given, inputs, forces=forces, threads=threads)
        common, on = self._common(given.t, inputs), self.device
        tau = None if given.tau is None else on.put(given.tau)
        there = States(on.put(given.t), on.put(given.q), on.put(given.v), tau)
        answers = self._launch(there, common, forces=forces)
        solution, failed = answers.solution(on.get(answers.block))
        for k in failed.nonzero()[0]:
            put(solution, int(k), self.fallback.evaluate(*given.at(int(k), inputs)))
        return solution

    def evaluate_on_device(
        self,
        q: Any,
        v: Any,
        tau: Any = None,
        *,
        t: float = 0.0,
        inputs: Inputs | None = None,
        forces: bool = True,
    ) -> tuple[BatchSolution, Any]:
        """As :meth:`evaluate_batch`, of arrays that stand on the device and stay there.

        Nothing is copied between processor and GPU but the call, and nothing waits for the GPU.

        Args:
            q: Configurations, (K, nq), of CuPy or what CuPy takes (``__cuda_array_interface__``);
                not checked for numbers that are not finite.
            v: Velocities, (K, nv).
            tau: Generalized forces, (K, nv); None is zero.
            t: Time of all, in s.
            inputs: Inputs common to all states, without forces: these are ``tau``.
            forces: Whether forces, multipliers and residuals are computed as well.

        Returns:
            The solution, of arrays of CuPy; and (K,) 0 where it holds, 1 where the mass matrix is
            singular and 2 where numbers are not finite: such states have no solution here.

        Raises:
            StateError: Wrong shapes.
            InputError: Inputs that kernels do not know: non-ideal forces, forces in ``inputs``.
        """
        given = without_forces(inputs)
        if beyond_compiled(given, self._layout):
            raise InputError(
                "the GPU knows neither non-ideal forces nor references of inputs", place="inputs"
            )
        on, model = self.device, self._mechanism.model
        there = States(on.put([t]), on.put(q), on.put(v), None if tau is None else on.put(tau))
        for name, array, size in (
            ("q", there.q, model.nq),
            ("v", there.v, model.nv),
            ("tau", there.v if there.tau is None else there.tau, model.nv),
        ):
            if array.shape != (len(there.q), size):
                expected = f"({len(there.q)}, {size})"
                raise StateError(f"expected shape {expected}, found {array.shape}", place=name)
        answers = self._launch(there, self._common(np.array([t]), given), forces=forces)
        return answers.solution(answers.block)

    def _launch(self, there: States, common: CommonInputs, *, forces: bool) -> Answers:
        """Start the evaluation of states on the device."""
        (count, nv), on = there.v.shape, self.device
        answers = Answers(count, nv, self.rows, forces=forces, empty=lambda size: on.empty((size,)))
        call = batch_call(there, common, answers, 0, count, on.address)
        for kernel in ("uk_regular_kernel", "uk_evaluate_kernel"):
            on.launch(self._evaluation, kernel, call, count)
        return answers

    def roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """Many trajectories at once; see :meth:`Dynamics.rollout`."""
        goes_over_contacts(self._mechanism, given)  # which it refuses
        if beyond_compiled(inputs, self._layout) or not rolls(self._mechanism) or not len(given.q):
            return super().roll(given, inputs, threads)
        common = CommonInputs.of_steps(self._structure, self._layout, given, inputs)
        common = self._there(common)
        count, on, instants = len(given.q), self.device, given.instants
        outputs = {
            name: on.put(np.full((count, len(instants), x.shape[1]), np.nan))
            for name, x in (("q_out", given.q), ("v_out", given.v))
        }
        outputs |= {name: on.empty((count,)) for name in ("stopped", "reason")}
        there = replace(given, q=on.put(given.q), v=on.put(given.v), tau=on.put(given.tau))
        call = trajectories_call(there, common, 0, count, outputs, on.address)
        on.launch(self._rollouts, "uk_rollout_kernel", call, count)
        return to_rollout(given, instants, *map(on.get, outputs.values()))

    def _common(self, times: Array, inputs: Inputs) -> CommonInputs:
        return self._there(CommonInputs.sample(self._structure, self._layout, times, inputs))

    def _there(self, common: CommonInputs) -> CommonInputs:
        """Inputs common to all states, on the device."""
        put = self.device.put
        followed = None if common.followed is None else put(common.followed)
        parameters = put(self._layout.parameters) if len(self._layout.parameters) else None
        return common._replace(active=put(common.active), followed=followed, parameters=parameters)
