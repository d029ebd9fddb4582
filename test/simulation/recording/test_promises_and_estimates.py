# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What laws promise and estimate, in recordings and plots."""

from pathlib import Path

import numpy as np
import pytest

from uk_dynamics import Mechanism, ServoController, Tasks, Trajectory, simulate, simulate_many
from uk_dynamics.simulation.plots.plot_contents import contents

PERIOD, DELAY = 0.001, 0.001
MASS, FRICTION = "links.coupler_link.mass", "joints.crank.friction"
TASKS = {
    "robust": {"parameters": {MASS: [1.0, 3.0], FRICTION: [0.0, 1.0]}, "delay": DELAY},
    "adaptive": [MASS, FRICTION],
    "tasks": {
        "sweep": {
            "type": "joint",
            "joint": "crank",
            "reference": {
                "type": "sinusoid",
                "offset": 0.9,
                "amplitude": 0.3,
                "frequency": 0.5,
                "phase": -np.pi / 2,
            },
        }
    },
}


@pytest.fixture(scope="module")
def five_bar() -> Mechanism:
    return Mechanism.from_file("five_bar")


@pytest.fixture(scope="module")
def tasks(five_bar: Mechanism) -> Tasks:
    return Tasks.from_data(TASKS, five_bar)


def moved(
    machine: Mechanism, tasks: Tasks, duration: float, backend: str = "compiled"
) -> tuple[ServoController, Trajectory]:
    real = machine.with_parameters({MASS: 2.8, FRICTION: 0.4})
    law = ServoController(machine, tasks, control_period=PERIOD, backend=backend)
    run = simulate(
        *(real, machine.start(tasks=tasks), duration),
        controller=law,
        backend=backend,
        control_period=PERIOD,
        sample_period=0.01,
        delay=DELAY,
    )
    return law, run


@pytest.fixture(scope="module")
def motion(five_bar: Mechanism, tasks: Tasks) -> tuple[ServoController, Trajectory]:
    return moved(five_bar, tasks, 2.0)


@pytest.mark.slow
def test_a_motion_has_its_bounds_and_estimates(
    motion: tuple[ServoController, Trajectory],
) -> None:
    law, run = motion
    assert run.names.estimated == (MASS, FRICTION)
    assert law.promise is not None
    np.testing.assert_array_equal(run.bounds, np.tile(law.promise.adapting, (len(run.t), 1)))
    # the model to begin with, its interval as the deviation
    np.testing.assert_array_equal(run.estimates[0], [2.0, 0.0])
    np.testing.assert_array_equal(run.deviations[0], [1.0, 1.0])
    last = law.estimates
    # the last sample is before the law's last period
    np.testing.assert_allclose(run.estimates[-1], [x.value for x in last], rtol=0, atol=1e-3)
    assert abs(run.estimates[-1, 0] - 2.8) < 0.1
    assert (run.deviations[-1] < [0.1, 1.0]).all()  # 2 s tell little of friction
    assert (np.abs(run.tracking_error) < run.bounds).all()


@pytest.mark.slow
def test_steps_in_python_record_the_same(five_bar: Mechanism, tasks: Tasks) -> None:
    c, python = (
        moved(five_bar, tasks, 0.25, backend)[1] for backend in ("compiled", "interpreted")
    )
    assert abs(c.estimates[-1, 0] - 2.0) > 1e-3
    # what 250 periods make of rounding
    np.testing.assert_allclose(python.estimates, c.estimates, rtol=0, atol=1e-6)
    np.testing.assert_allclose(python.deviations, c.deviations, rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".npz", ".csv", ".mcap"])
def test_files_have_them(
    suffix: str, motion: tuple[ServoController, Trajectory], tmp_path: Path
) -> None:
    run, file = motion[1], tmp_path / f"motion{suffix}"
    run.save(file)
    found = Trajectory.load(file)
    assert found.names == run.names
    for name in ("bounds", "estimates", "deviations", "tracking_error"):
        np.testing.assert_array_equal(getattr(found, name), getattr(run, name))
    if suffix != ".csv":  # which has no units
        assert found.machine.parameters == {MASS: "kg", FRICTION: "N m"}


@pytest.mark.slow
def test_plots_show_bands(motion: tuple[ServoController, Trajectory]) -> None:
    run = motion[1]
    panels = {panel.title: panel for panel in contents(run).panels}
    (error,) = panels["error and\nits bound"].curves
    assert error.band is not None
    np.testing.assert_array_equal(error.band[1], run.bounds[:, 0])
    units = [panel.unit for panel in contents(run).panels if panel.title == "estimates"]
    assert units == ["kg", "N m"]


@pytest.mark.slow
def test_batches_have_bounds_and_the_last_estimates(five_bar: Mechanism, tasks: Tasks) -> None:
    laws = [
        ServoController(five_bar, tasks, control_period=PERIOD, backend="compiled")
        for _ in range(9)  # more than a vector has lanes
    ]
    start = five_bar.start(tasks=tasks)
    runs = simulate_many(
        *([five_bar] * 9, [start] * 9, 0.02),
        controllers=laws,
        control_period=PERIOD,
        backend="compiled",
    )
    assert laws[0].promise is not None
    assert (runs[1].bounds == laws[0].promise.adapting).all()
    assert np.isnan(runs[1].estimates[:-1]).all()
    assert np.isfinite(runs[1].estimates[-1]).all()


def test_other_laws_promise_nothing(five_bar: Mechanism) -> None:
    tasks = Tasks.from_data({"tasks": TASKS["tasks"]}, five_bar)
    run = moved(five_bar, tasks, 0.02)[1]
    assert np.isnan(run.bounds).all()
    assert run.estimates.shape == (len(run.t), 0)
    assert not any("bound" in panel.title for panel in contents(run).panels)
