# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The surface a newcomer meets: ten lines that do it all, the names, the lazy import."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.repository import ROOT

import uk_dynamics as ukd

TEN_LINES = """
import uk_dynamics as ukd

mechanism = ukd.Mechanism.from_file("config/five_bar.yaml")
q = mechanism.assemble(crank=0.6)
state = mechanism.state(q)
solution = ukd.forward_dynamics(mechanism, state, tau={"crank": 1.0})
tasks = ukd.Tasks.from_file("config/tasks/five_bar_sweep.yaml", mechanism)
controller = ukd.ServoController(mechanism, tasks)
efforts = controller.compute(state)
trajectory = ukd.simulate(
    mechanism, state, duration=5.0, controller=controller, control_period=0.002
)
trajectory.plot()
"""
SHORTER = TEN_LINES.replace("5.0", "0.5")  # the same lines, in a tenth of the time

# What the ten lines promise, said by what they leave behind.
PROMISES = """
assert solution.status is ukd.Status.OK
assert abs(solution.qdd[0] - (1.0 - 9.81 * 3.5 * 0.8253356149096783) / 3.05) < 1e-9
assert set(efforts) == {"crank_motor"}
assert abs(trajectory.t[-1] - 0.5) < 1e-12
assert abs(trajectory.tracking_error).max() < 1e-4
assert abs(trajectory.residual).max() < 1e-12
print("kept")
"""


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "MPLBACKEND": "agg", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_ten_lines_are_enough():
    pytest.importorskip("matplotlib")
    done = python(SHORTER + PROMISES)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "kept\n"
    assert "name a file" in done.stderr  # there is no screen; it says so instead of showing nothing


def test_every_name_is_there():
    for name in ukd.__all__:
        assert getattr(ukd, name) is not None
    assert set(dir(ukd)) == set(ukd.__all__)
    assert ukd.Mechanism.__name__ == "Mechanism"
    with pytest.raises(AttributeError, match="has no attribute 'Mechanics'"):
        _ = ukd.Mechanics


def test_errors_have_one_root():
    from uk_dynamics import exceptions

    errors = [
        value
        for value in vars(exceptions).values()
        if isinstance(value, type) and issubclass(value, Exception)
    ]
    assert len(errors) > 5
    assert all(issubclass(error, ukd.UkDynamicsError) for error in errors)


def test_importing_costs_nothing():
    """No robotics library, no arrays, no ROS before something is used."""
    done = python(
        "import sys, uk_dynamics;"
        "print([m for m in ('pinocchio', 'numpy', 'scipy', 'rclpy', 'matplotlib') "
        "if m in sys.modules])"
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.slow
def test_the_library_needs_no_plots_and_no_ros():
    done = python(
        "import sys, uk_dynamics as ukd\n"
        "for name in ukd.__all__: getattr(ukd, name)\n"
        "print([m for m in ('rclpy', 'matplotlib') if m in sys.modules])"
    )
    assert done.stdout == "[]\n", done.stderr
