# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A relaxed task lets momentum carry the machine through a dead centre."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import yaml

from uk_dynamics import (
    Mechanism,
    ServoController,
    ServoDerivatives,
    Tasks,
    simulate,
    simulate_many,
)
from uk_dynamics.exceptions import InputError, MechanismFileError, UnknownNameError
from uk_dynamics.resources import shipped_files
from uk_dynamics.simulation import Trajectory

PERIOD = 1e-3
TASKS = "slider_crank_turn"  # its crank turns at 12 rad/s, through a dead centre every 0.26 s


@pytest.fixture(scope="module")
def machine() -> Mechanism:
    return Mechanism.from_file("slider_crank")


def data(**relaxed: float | str | None) -> dict:
    found = copy.deepcopy(yaml.safe_load(shipped_files("tasks")[TASKS].read_text()))
    piston = found["tasks"]["piston"]
    piston["relaxed"] = {**piston["relaxed"], **relaxed}
    return found


def turned(machine: Mechanism, tasks: Tasks, backend: str) -> Trajectory:
    start = machine.start({"crank": 0.6}, {"crank": 12.0})
    law = ServoController(machine, tasks, control_period=PERIOD, backend=backend)
    options = {"control_period": PERIOD, "sample_period": PERIOD, "backend": backend}
    return simulate(machine, start, 0.6, controller=law, **options)


@pytest.mark.parametrize(
    "backend", ["interpreted", pytest.param("compiled", marks=pytest.mark.slow)]
)
def test_momentum_carries_it_through(machine: Mechanism, backend: str) -> None:
    run = turned(machine, Tasks.from_file(TASKS, machine), backend)
    assert run.position("crank")[-1] == pytest.approx(0.6 + 12.0 * 0.6, abs=1e-3)
    assert np.abs(run.tracking_error).max() < 2e-4  # m
    assert np.abs(run.efforts).max() < 0.6  # N m, of 2.0
    assert not run.warnings
    # at the dead centres nothing is asked, and efforts come and go gradually
    phase = (run.position("crank")[:-1] + 0.5 * np.pi) % np.pi - 0.5 * np.pi
    assert np.abs(run.efforts[:-1][np.abs(phase) < 0.03]).max() < 1e-12
    # N m a period; the first one knows no acceleration yet
    assert np.abs(np.diff(run.efforts[1:-1, 0])).max() < 0.06
    pushed = data()
    del pushed["tasks"]["piston"]["relaxed"]
    limited = turned(machine, Tasks.from_data(pushed, machine), backend)
    assert np.abs(limited.efforts).max() == pytest.approx(2.0)  # its limit: 1/distance


@pytest.mark.slow
def test_evaluators_agree(machine: Mechanism) -> None:
    tasks = Tasks.from_file(TASKS, machine)
    one, other = (turned(machine, tasks, backend) for backend in ("interpreted", "compiled"))
    np.testing.assert_allclose(one.efforts, other.efforts, rtol=0.0, atol=1e-9)  # N m, rounding
    start = machine.start({"crank": 0.6}, {"crank": 12.0})
    laws = [ServoController(machine, tasks, control_period=PERIOD) for _ in range(8)]
    options = {"control_period": PERIOD, "sample_period": PERIOD, "method": "rk4"}
    many = simulate_many(machine, [start] * 8, 0.3, controllers=laws, **options)
    alone = simulate(machine, start, 0.3, controller=laws[0], **options)
    np.testing.assert_allclose(many[3].efforts, alone.efforts, rtol=0.0, atol=1e-9)


def test_what_tasks_ask_for_comes_back_over_the_blend(machine: Mechanism) -> None:
    tasks = Tasks.from_data(data(at=0.2, within=0.1, blend=0.2, every=2.0), machine)
    place = machine.model.position_index("crank")

    def share(angle: float) -> float:
        q = np.zeros(machine.model.nq)
        q[place] = angle
        found = tasks.share(q)
        assert found is not None
        return float(found[0])

    for turn in (0.0, -2.0, 6.0):
        assert share(turn + 0.2) == share(turn + 0.29) == 0.0
        assert share(turn + 0.4) == pytest.approx(0.5) == share(turn)
        assert share(turn + 0.51) == share(turn - 0.11) == pytest.approx(1.0)
    plain = data()
    del plain["tasks"]["piston"]["relaxed"]
    assert Tasks.from_data(plain, machine).share(np.zeros(machine.model.nq)) is None


def test_mistakes_are_told(machine: Mechanism) -> None:
    with pytest.raises(UnknownNameError, match=r"tasks\.piston\.relaxed\.joint.*krank"):
        Tasks.from_data(data(joint="krank"), machine)
    with pytest.raises(MechanismFileError, match=r"relaxed\.blend"):
        Tasks.from_data(data(blend=0.0), machine)
    with pytest.raises(InputError, match="no task that is relaxed"):
        ServoDerivatives(Tasks.from_file(TASKS, machine))
    spec = yaml.safe_load(shipped_files("mechanism")["slider_crank"].read_text())
    spec["constraints"]["piston_pin"]["relaxed"] = {"joint": "crank", "within": 0.1, "blend": 0.1}
    with pytest.raises(MechanismFileError, match="relaxed is for tasks"):
        Mechanism.from_data(spec)
