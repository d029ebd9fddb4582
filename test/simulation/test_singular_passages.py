# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Singular configurations that a motion passes are named, with when; others are not."""

from __future__ import annotations

import numpy as np
import pytest
from support.recorded import PARALLELOGRAM

from uk_dynamics import Mechanism, ServoController, State, Tasks, simulate
from uk_dynamics.cli.main import main
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.simulation.singular_passages import Passage, SingularPassages

MECHANISM = Mechanism.from_file("five_bar")  # its parallelograms are flat at crank = 0


def passages(angles: np.ndarray, step: float) -> list[Passage]:
    watch, dynamics = SingularPassages(MECHANISM), InterpretedDynamics(MECHANISM)
    found = []
    for k, angle in enumerate(angles.tolist()):
        q = angle * PARALLELOGRAM
        solution = dynamics.evaluate(State(k * step, q, 0.0 * q))
        found += watch.add(k * step, q, solution.rank, solution.condition)
    return found


@pytest.mark.parametrize("rate", [2.0, 0.1, 0.01])
@pytest.mark.parametrize("off", [0.0, 1e-6, 0.37])
def test_a_flat_parallelogram_is_named_whatever_the_rate(rate: float, off: float) -> None:
    step = 1e-3
    count = max(15, int(3e-4 / (rate * step)))  # at 0.01 rad/s 20 samples count as singular
    angles = rate * step * (np.arange(-count, count + 1) + off)  # at a sample, near it, between
    (passage,) = passages(angles, step)
    assert passage.t == pytest.approx((count - off) * step, abs=step)
    assert "middle_pin" in passage.text
    assert "crank =" in passage.text
    assert "branch is doubtful" in passage.text


def test_one_that_is_only_approached_is_not_named() -> None:
    turning = 0.01 + 0.002 * np.arange(-15, 16) ** 2 / 225.0
    assert not passages(turning, 1e-3)
    assert not passages(np.linspace(0.5, 1.2, 30), 1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["DOP853", "gauss"])
def test_a_simulation_warns_of_it_once(method: str) -> None:
    start = State(0.0, 0.4 * PARALLELOGRAM, -2.0 * PARALLELOGRAM)
    run = simulate(MECHANISM, start, 0.8, method=method, sample_period=1e-3)
    (warning,) = [text for text in run.warnings if "singular configuration" in text]
    crank = run.position("crank")
    when = np.interp(0.0, -crank, run.t)  # it falls: flat, where it is zero first
    assert float(warning.partition("t = ")[2].partition(" s")[0]) == pytest.approx(when, abs=2e-3)
    assert "branch is doubtful" in warning
    away = State(0.0, 1.2 * PARALLELOGRAM, 0.0 * PARALLELOGRAM)
    assert not simulate(MECHANISM, away, 0.2).warnings


@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
@pytest.mark.parametrize("rate", [2.0, 0.1, 0.01])
@pytest.mark.parametrize("off", [0.0, 0.37, 0.5])  # 0: flat at an instant of control
def test_sampled_control_leads_through_it(rate: float, off: float, backend: str) -> None:
    period = 1e-3
    count = max(20, int(4e-4 / (rate * period)))
    begin = rate * period * (count + off)
    reference = {"type": "polynomial", "coefficients": [begin, -rate]}
    turn = {"type": "joint", "joint": "crank", "reference": reference}
    tasks = Tasks.from_data({"schema": 1, "tasks": {"turn": turn}}, MECHANISM)
    law = ServoController(MECHANISM, tasks, control_period=period, backend=backend)
    start = State(0.0, begin * PARALLELOGRAM, -rate * PARALLELOGRAM)
    options = {"control_period": period, "sample_period": period, "backend": backend}
    run = simulate(MECHANISM, start, 2 * count * period, controller=law, **options)
    # rad: of the integration's tolerance; the other branch departs by the angle itself
    np.testing.assert_allclose(run.q, run.q[:, :1] * PARALLELOGRAM, rtol=0.0, atol=1e-9)
    assert run.q[-1, 0] == pytest.approx(begin - 2 * count * period * rate, abs=1e-6)
    ratios = run.efforts[1:-1, 0] / run.efforts[:-2, 0]
    assert 1.0 / 1.02 < ratios.min() < ratios.max() < 1.02
    assert sum("singular configuration" in text for text in run.warnings) == 1


def test_a_command_shows_the_warning(capsys) -> None:
    main(
        ["simulate", "five_bar", "--set", "crank=0.4", "--duration", "1", "--sample-period", "1e-3"]
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "a singular configuration was passed near crank" in shown


def test_check_says_when_references_lead_through_it(tmp_path, capsys) -> None:
    tasks = tmp_path / "tasks.yaml"
    for end, code in (("-0.4", True), ("0.9", False)):
        tasks.write_text(
            "schema: 1\ntasks:\n  turn:\n    type: joint\n    joint: crank\n"
            f"    reference: {{type: spline, times: [0, 2], values: [0.4, {end}]}}\n"
        )
        main(["check", "five_bar", "--tasks", str(tasks)])
        shown = " ".join(capsys.readouterr().out.split())
        assert ("a singular configuration was passed near crank" in shown) == code
    # the spline is in the middle of its way at t = 1 s, where the parallelograms are flat
