# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A robust gain that falls once estimates are known: ``least_bandwidth``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from uk_dynamics import Mechanism, ServoController, State, Tasks, simulate
from uk_dynamics.cli.main import main
from uk_dynamics.control import EncoderFeedback
from uk_dynamics.control.servo import promise
from uk_dynamics.core.servo import DEVIATIONS, OPEN, settled_gain
from uk_dynamics.mechanism import EncoderSpec

PERIOD, DELAY, STEP = 0.001, 0.001, 2.0 * math.pi / 2**17  # s, s, rad
MOST, LEAST = 60.0, 10.0  # Hz
MASS, FRICTION = "links.coupler_link.mass", "joints.crank.friction"
SWEEP = {"type": "sinusoid", "offset": 0.9, "amplitude": 0.3, "frequency": 0.5, "phase": -np.pi / 2}


@pytest.fixture(scope="module")
def five_bar() -> Mechanism:
    return Mechanism.from_file("five_bar")


def data_of(**more: Any) -> dict[str, Any]:
    robust = {
        "parameters": {MASS: [1.0, 3.0], FRICTION: [0.0, 1.0]},
        "delay": DELAY,
        "encoders": {"resolution": STEP},
        "bandwidth": MOST,
    }
    tasks = {"sweep": {"type": "joint", "joint": "crank", "reference": SWEEP}}
    whole = {"robust": robust | more, "adaptive": [MASS, FRICTION], "velocity_observer": 40.0}
    return whole | {"tasks": tasks, "schema": 1}


def gain_of(law: ServoController) -> float:
    """Of the robust term within its layer, in Hz."""
    return float(law.memory.fields["robust_gain"][0]) / math.tau


def test_a_gain_falls_as_far_as_all_is_known_together() -> None:
    """Two masses of which only the sum is known are not, whatever each one alone would be."""
    gains, on = (LEAST, MOST), np.ones(1)
    needed = (DEVIATIONS / OPEN) ** 2  # information with which 3 σ is OPEN

    def gain(information: np.ndarray, adapts: np.ndarray = on) -> float:
        return float(settled_gain((0, 1), gains, information, adapts)[0])

    assert gain(np.eye(2)) == MOST
    assert gain(needed * np.eye(2)) == pytest.approx(MOST)
    assert gain(4.0 * needed * np.eye(2)) == pytest.approx(LEAST)
    assert gain(100.0 * needed * np.eye(2)) == LEAST
    assert LEAST < gain(2.0 * needed * np.eye(2)) < MOST
    assert gain(np.diag([1.0, 100.0]) * needed) == pytest.approx(MOST)  # the least known decides
    assert gain(100.0 * needed * np.ones((2, 2)) + np.eye(2)) == MOST
    assert gain(100.0 * needed * np.eye(2), np.zeros(1)) == MOST  # estimates that are not used
    # what is not among the places, as friction, may be unknown
    assert settled_gain((0,), gains, np.diag([100.0 * needed, 1.0]), on)[0] == LEAST


@pytest.mark.slow
@pytest.mark.parametrize(("mass", "friction"), [(3.0, 1.0), (1.0, 1.0), (3.0, 0.0)])
def test_a_smaller_gain_feeds_less_rounding_back_within_the_bounds(
    mass: float, friction: float, five_bar: Mechanism
) -> None:
    """Where it is smaller, no mass is off by more than the promise takes it to be."""
    fast, gains = [], []
    for more in ({}, {"least_bandwidth": LEAST}):
        tasks = Tasks.from_data(data_of(**more), five_bar)
        law = ServoController(five_bar, tasks, control_period=PERIOD, backend="compiled")
        run = simulate(
            *(
                five_bar.with_parameters({MASS: mass, FRICTION: friction}),
                five_bar.start(tasks=tasks),
            ),
            4.0,
            controller=EncoderFeedback(law, EncoderSpec(STEP)),
            control_period=PERIOD,
            delay=DELAY,
            sample_period=PERIOD,
        )
        assert run.bounds is not None
        assert run.estimates is not None
        assert run.deviations is not None
        settled = run.t > 0.5  # the first errors have decayed
        assert (np.abs(run.tracking_error) <= run.bounds)[settled].all()
        known = DEVIATIONS * run.deviations[:, 0] <= OPEN  # kg; the interval is 2 kg ± 1 kg
        assert 0.02 < known.mean() < 0.98
        assert np.abs(run.estimates[known, 0] - mass).max() <= OPEN
        late = run.efforts[run.t > 3.0, 0]
        fast.append(np.diff(late).std())
        gains.append(gain_of(law))
    assert gains[0] == pytest.approx(MOST, rel=1e-12)
    assert gains[1] == pytest.approx(LEAST, rel=1e-12)
    assert fast[1] < 0.6 * fast[0]


@pytest.mark.slow
def test_the_promise_is_of_both_gains(
    five_bar: Mechanism, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Friction counts in full, so that a bound with a very small gain is wider."""
    rubs = {"parameters": {MASS: [1.0, 3.0], FRICTION: [0.0, 10.0]}}
    without, falls = (
        promise(Tasks.from_data(data_of(**rubs, **more), five_bar), PERIOD)
        for more in ({}, {"least_bandwidth": 2.0})
    )
    np.testing.assert_array_equal(falls.error, without.error)  # while estimates are not used
    # friction of 10 N m is all but a tenth of what is left, against which b + g is, b = 5 Hz
    assert falls.adapting[0] > 1.5 * without.adapting[0]
    path = tmp_path / "tasks.yaml"
    path.write_text(str(data_of(least_bandwidth=LEAST)).replace("'", '"'))
    assert main(["describe", "five_bar", "--tasks", str(path), "--control-period", "0.001"]) == 0
    assert "up to 60 Hz (10 Hz once estimates are known)" in capsys.readouterr().out


@pytest.mark.slow
def test_the_gain_in_c_is_that_in_python(five_bar: Mechanism) -> None:
    """While it falls, is forgotten, and estimates are switched off."""
    tasks = Tasks.from_data(data_of(least_bandwidth=LEAST), five_bar)
    python, c = (
        ServoController(five_bar, tasks, control_period=PERIOD, backend=backend)
        for backend in ("interpreted", "compiled")
    )
    start, rng, gains = five_bar.start(tasks=tasks), np.random.default_rng(4), []
    for k in range(10):
        v = start.v + 0.05 * rng.normal(size=five_bar.model.nv)
        state = five_bar.dynamics("interpreted").project(State(k * PERIOD, start.q, v))
        for law in (python, c):
            law.adaptive = k != 6
            if k == 3:  # as if 3 s had passed
                law.memory.fields["information"][:] = [2500.0, 40.0, 40.0, 3.0]
            if k == 8:
                assert law.corrections is not None
                law.corrections.forget()
        one, two = python.command(state), c.command(state)
        # efforts of 100 N m, to rounding
        np.testing.assert_allclose(two.efforts, one.efforts, rtol=0, atol=1e-8)
        assert gain_of(c) == pytest.approx(gain_of(python), rel=1e-10)
        gains.append(gain_of(c))
    assert gains[:3] == pytest.approx([MOST] * 3)
    assert all(LEAST < x < 0.9 * MOST for x in (*gains[3:6], gains[7]))
    assert gains[6] == gains[8] == gains[9] == pytest.approx(MOST)
