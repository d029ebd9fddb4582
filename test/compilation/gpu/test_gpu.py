# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Kernels: on a GPU where there is one, as C++ thread by thread on the processor everywhere."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.mechanism_builder import closed_states, mechanism, pinned_arm, shipped
from support.nvrtc import needs_nvrtc, ptx
from support.on_processor import devices, has_gpu

import uk_dynamics as ukd
from uk_dynamics import Mechanism
from uk_dynamics.compilation.gpu.gpu_dynamics import OPTIONS, GpuDynamics, kernel_source
from uk_dynamics.exceptions import InputError, StateError

RELATIVE = 1e-10  # rounding times conditions of M and A of up to 1e4


@pytest.fixture(params=devices())
def device(request):
    """What runs the kernels."""
    return request.param()


def states(machine: Mechanism, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States on the constraints and a little off."""
    rng = np.random.default_rng(5)
    found = list(closed_states(machine, rng, count, backend="interpreted"))
    q, v = np.array([s.q for s in found]), np.array([s.v for s in found])
    off = np.array([machine.model.integrate(x, 1e-3 * rng.standard_normal(v.shape[1])) for x in q])
    return np.vstack([q, off]), np.vstack([v, v]), rng.standard_normal((2 * count, v.shape[1]))


def same(found: np.ndarray, expected: np.ndarray, relative: float = RELATIVE) -> None:
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    assert np.abs(found - expected).max(initial=0.0) <= relative * size


# redundant rows; rotations, references; floating, rolling; switched rows
@pytest.mark.parametrize(
    "name",
    [
        "landing_leg",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("five_bar", "coordinated_robots", "rolling_disc")
        ),
    ],
)
def test_batches_are_those_of_the_interpreted_evaluator(name, device):
    machine = shipped(name)
    q, v, tau = states(machine, 4)
    times = np.linspace(0.0, 0.7, len(q))
    for t in (0.3, times):
        expected = machine.dynamics("interpreted").evaluate_batch(q, v, tau, t=t)
        found = GpuDynamics(machine, device).evaluate_batch(q, v, tau, t=t)
        assert found.rank.tolist() == expected.rank.tolist()
        assert found.status.tolist() == expected.status.tolist()
        assert np.array_equal(found.determined, expected.determined)
        for part in ("qdd", "constraint_force", "multipliers", "residual"):
            same(getattr(found, part), getattr(expected, part))
    alone = GpuDynamics(machine, device).evaluate_batch(q, v, None, forces=False)
    assert alone.multipliers is None
    same(alone.qdd, machine.dynamics("interpreted").evaluate_batch(q, v, forces=False).qdd)
    assert set(device.launched) == {"uk_regular_kernel", "uk_evaluate_kernel"}


def test_states_that_stand_on_the_device_stay_there(device):
    machine = shipped("five_bar")
    q, v, tau = states(machine, 4)
    dynamics = GpuDynamics(machine, device)
    on_device = dynamics.device.put
    found, failed = dynamics.evaluate_on_device(*map(on_device, (q, v, tau)), t=0.2)
    expected = machine.dynamics("interpreted").evaluate_batch(q, v, tau, t=0.2)
    assert not failed.any()
    for part in ("qdd", "constraint_force", "multipliers", "residual", "determined", "rank"):
        array = getattr(found, part)
        assert type(array) is type(on_device(q)), part
        same(dynamics.device.get(array).astype(float), getattr(expected, part))
    with pytest.raises(StateError, match=r"v: expected shape \(8, 4\), found \(7, 4\)"):
        dynamics.evaluate_on_device(on_device(q), on_device(v[:7]))
    with pytest.raises(InputError, match="non-ideal"):
        dynamics.evaluate_on_device(q, v, inputs=ukd.Inputs(nonideal=np.ones(4)))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_rollouts_are_those_of_the_interpreted_evaluator(method, device):
    machine = shipped("five_bar")
    q, v, _ = states(machine, 2)
    tau = np.random.default_rng(2).standard_normal((len(q), 8, 4))
    given = {"steps": 8, "dt": 1e-3, "every": 4, "method": method}
    found = GpuDynamics(machine, device).rollout(q, v, tau, **given)
    expected = machine.dynamics("interpreted").rollout(q, v, tau, **given)
    assert device.launched == ["uk_rollout_kernel"]
    assert found.stopped == expected.stopped == {}
    same(found.q, expected.q)
    same(found.v, expected.v, 1e-9)
    # loops that are far open cannot be closed: that trajectory stops, the others go on
    q[1] += [1.0, -2.0, 0.5, 2.0]
    found = GpuDynamics(machine, device).rollout(q, v, tau, **given)
    others = machine.dynamics("interpreted").rollout(q, v, tau, **given)
    assert list(found.stopped) == list(others.stopped)
    same(found.q[[0, 2, 3]], expected.q[[0, 2, 3]])


def test_parameters_are_inputs_of_one_program(device):
    base = shipped("five_bar")
    heavy = base.with_parameters({"links.left_leg.mass": 3.0})
    q, v, tau = states(base, 2)
    found = GpuDynamics(heavy, device).evaluate_batch(q, v, tau).qdd
    same(found, heavy.dynamics("interpreted").evaluate_batch(q, v, tau).qdd)
    assert np.abs(found - base.dynamics("interpreted").evaluate_batch(q, v, tau).qdd).max() > 0.1


def test_what_the_kernel_does_not_answer_is_interpreted(device):
    machine = mechanism(
        '<link name="base"/><link name="l1"/>'
        '<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/></joint>',
        "constraints:\n  hold: {type: joint, joint: j1}\n",
    )
    found = GpuDynamics(machine, device).evaluate_batch([[0.0]], [[1.0]])
    expected = machine.dynamics("interpreted").evaluate_batch([[0.0]], [[1.0]])
    same(found.qdd, expected.qdd)
    assert found.rank.tolist() == [1]
    bar = shipped("five_bar")
    device.launched.clear()
    q, v, tau = states(bar, 1)
    inputs = ukd.Inputs(nonideal=np.ones(4))
    pushed = GpuDynamics(bar, device).evaluate_batch(q, v, tau, inputs=inputs)
    assert not device.launched
    same(pushed.qdd, bar.dynamics("interpreted").evaluate_batch(q, v, tau, inputs=inputs).qdd)


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize("name", ["landing_leg", pytest.param("five_bar", marks=pytest.mark.slow)])
def test_nvrtc_compiles_the_kernels(name):
    machine = shipped(name).as_filed()
    for rollouts, kernels in enumerate((("uk_regular", "uk_evaluate"), ("uk_rollout",))):
        text = ptx(kernel_source(machine, rollouts=bool(rollouts)), OPTIONS)
        assert re.findall(r"\.visible \.entry (\w+)_kernel", text) == list(kernels)


def test_what_cannot_be_compiled_and_a_missing_device_are_told():
    machine = pinned_arm("  hold: {type: joint, joint: j1, compliance: 1.0e-3}\n")
    with pytest.raises(InputError, match="compliance"):
        machine.dynamics("gpu")
    if not has_gpu():
        with pytest.raises(
            InputError, match=r"GPU of NVIDIA and pip install \"uk_dynamics\[gpu\]\""
        ):
            shipped("five_bar").dynamics("gpu")
