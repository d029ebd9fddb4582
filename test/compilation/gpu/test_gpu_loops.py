# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closed loops as a kernel: on a GPU where there is one, as C++ on the processor everywhere."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from support.mechanism_builder import shipped
from support.nvrtc import needs_nvrtc, ptx
from support.on_processor import OnProcessor, devices

from uk_dynamics.compilation.gpu import gpu_loops
from uk_dynamics.compilation.gpu.gpu_dynamics import OPTIONS
from uk_dynamics.compilation.gpu.gpu_loops import loop_kernel_source
from uk_dynamics.compilation.verification import WrongLibraryError
from uk_dynamics.control.hold_and_gravity_compensation import Hold
from uk_dynamics.control.servo import ServoController
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate, simulate_many

PERIOD = 1e-3  # s
DURATION = 0.02
# of q in rad and m, v, and efforts in parts of the largest: rounding times conditions of M and A
TOLERANCE = 1e-9
TASKS = {"five_bar": "five_bar_sweep", "stewart_platform": "stewart_platform_legs"}


@pytest.fixture(params=devices())
def device(request, monkeypatch):
    """What runs the kernels, in the place of the GPU that CuPy has chosen."""
    found = request.param()
    monkeypatch.setattr(gpu_loops, "CudaDevice", lambda: found)
    return found


def machines(name: str, count: int) -> list[Mechanism]:
    """The same with other masses."""
    base = shipped(name)
    rng = np.random.default_rng(3)
    masses = [parameter for parameter in base.parameters if parameter.endswith(".mass")][:2]
    values = {mass: base.parameters[mass].value for mass in masses}
    return [
        base.with_parameters({mass: x * rng.uniform(0.8, 1.2) for mass, x in values.items()})
        for _ in range(count)
    ]


def controller(machine: Mechanism, k: int, limit: float, backend: str) -> ServoController:
    """With settings of its own, which lead to limits or do not."""
    tasks = Tasks.from_file(TASKS[machine.name], machine)
    blend = 0.0 if k else 10 * PERIOD
    found = ServoController(
        machine, tasks, control_period=PERIOD, blend_time=blend, backend=backend
    )
    found.gains.stiffness = found.gains.stiffness * (1.0 + 0.3 * k)
    found.limits.effort = found.limits.effort * limit
    return found


@pytest.mark.parametrize(
    ("name", "limit", "delay"),
    [
        ("five_bar", 1.0, 0.0),
        ("five_bar", 0.04, 2.5 * PERIOD),
        pytest.param("stewart_platform", 1.0, 0.0, marks=pytest.mark.slow),
        pytest.param("stewart_platform", 0.1, 0.0, marks=pytest.mark.slow),
    ],
)
def test_loops_are_those_of_the_interpreted_law(name, limit, delay, device):
    each = machines(name, 3)
    laws = [controller(machine, k, limit, "compiled") for k, machine in enumerate(each)]
    starts = [machine.start() for machine in each]
    options = {"control_period": PERIOD, "delay": delay, "sample_period": 5 * PERIOD}
    together = simulate_many(each, starts, DURATION, controllers=laws, backend="gpu", **options)
    assert set(device.launched) == {"uk_loop_kernel"}
    for k, machine in enumerate(each):
        own, state = controller(machine, k, limit, "interpreted"), starts[k]
        options |= {"method": "rk4", "backend": "interpreted"}
        alone, found = simulate(machine, state, DURATION, controller=own, **options), together[k]
        assert np.array_equal(found.t, alone.t)
        for part in ("q", "v"):
            assert np.abs(getattr(found, part) - getattr(alone, part)).max() <= TOLERANCE
        largest = np.abs(alone.efforts).max()
        assert np.abs(found.efforts - alone.efforts).max() <= TOLERANCE * largest
        assert found.warnings == alone.warnings
        assert found.statistics.steps == alone.statistics.steps
        # what the law remembers came back: the next period goes on from there
        end = State(found.t[-1], found.q[-1], found.v[-1])
        told = [law.command(end).efforts for law in (laws[k], own)]
        assert np.abs(told[0] - told[1]).max() <= TOLERANCE * largest
        if limit < 1.0:  # the case is one of limits
            most = limit * machine.actuators.effort_limits
            assert (np.abs(alone.efforts) >= most * (1.0 - 1e-12)).any()
    assert np.abs(together[0].q[-1] - together[1].q[-1]).max() > 1e-9  # each its own motion


class Wrong(OnProcessor):
    """A device whose sine is off by a millionth."""

    name = "wrong"

    def compile(self, source, options):
        off = "static double uk_off(double x) { return 1.000001 * sin(x); }\n#define sin uk_off\n"
        return super().compile(off + source, options)


@pytest.mark.slow
def test_a_kernel_is_not_believed_before_it_is_tried(monkeypatch):
    monkeypatch.setattr(gpu_loops, "CudaDevice", Wrong)
    (machine,) = machines("five_bar", 1)
    law = controller(machine, 0, 1.0, "compiled")
    for _ in range(2):  # and not the second time either
        with pytest.raises(
            WrongLibraryError, match=r"of five_bar answers wrongly on wrong: .* off"
        ):
            simulate_many(
                machine,
                [machine.start()],
                DURATION,
                controllers=[law],
                control_period=PERIOD,
                backend="gpu",
            )


def test_what_a_gpu_does_not_move_is_refused(device):
    machine = shipped("five_bar")
    law = controller(machine, 0, 1.0, "compiled")
    options = {"control_period": PERIOD, "backend": "gpu"}

    def refused(why, law=law, **more):
        with pytest.raises(InputError, match=f"a GPU does not move these closed loops: {why}"):
            simulate_many(machine, [machine.start()], 0.01, controllers=[law], **options | more)

    refused("method DOP853", method="DOP853")
    refused("laws other than", law=Hold(machine, control_period=PERIOD, backend="compiled"))
    refused("a law is computed in Python", law=controller(machine, 0, 1.0, "interpreted"))
    assert not device.launched
    with pytest.raises(InputError, match="simulate_many"):
        controller(machine, 0, 1.0, "gpu")


def test_a_missing_gpu_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # as where it is not installed
    machine = shipped("five_bar")
    law = controller(machine, 0, 1.0, "compiled")
    with pytest.raises(InputError, match="needs a GPU of NVIDIA"):
        simulate_many(
            machine,
            [machine.start()],
            0.01,
            controllers=[law],
            control_period=PERIOD,
            backend="gpu",
        )


@needs_nvrtc
@pytest.mark.parametrize(
    "name", ["five_bar", pytest.param("stewart_platform", marks=pytest.mark.slow)]
)
def test_nvrtc_compiles_the_law(name):
    machine = shipped(name).as_filed()
    text = ptx(loop_kernel_source(Tasks.from_file(TASKS[name], machine)), OPTIONS)
    assert re.findall(r"\.visible \.entry (\w+)", text) == ["uk_loop_kernel"]
    # a call by a pointer, whose stack the assembler could not know
    assert ".callprototype" not in text
