# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recordings that grow while a simulation runs: whatever ends it, they hold what was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from support.waiting import wait_until

import uk_dynamics as ukd
from uk_dynamics.exceptions import InputError, SimulationError

pytest.importorskip("mcap_ros2", reason="recordings in MCAP are optional")

INTERRUPTED = 130  # 128 + SIGINT


def end_long_run(directory: Path, with_signal: signal.Signals) -> tuple[Path, int, str]:
    """Start a simulation of hours, end it once much was recorded."""
    path = directory / "run.mcap"
    command = ["simulate", "five_bar", "--duration", "1e5", "--out", path.name]
    process = subprocess.Popen(
        [sys.executable, "-m", "uk_dynamics", *command],
        cwd=directory,
        env={**os.environ, "XDG_CACHE_HOME": str(directory / "cache")},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: path.exists() and path.stat().st_size > 40_000, "a long recording")
        process.send_signal(with_signal)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return path, process.returncode, err


def times_of_others(path: Path) -> list[float]:
    """Times of the joint states, by a reader that knows nothing of this package."""
    rosbags = pytest.importorskip("rosbags.highlevel", reason="the independent reader")
    with rosbags.AnyReader([path]) as reader:
        chosen = [c for c in reader.connections if c.topic == "/joint_states"]
        return [1e-9 * time for _, time, _ in reader.messages(connections=chosen)]


@pytest.mark.slow
def test_killed(tmp_path: Path) -> None:
    path, _, _ = end_long_run(tmp_path, signal.SIGKILL)
    loaded = ukd.Trajectory.load(path)
    assert len(loaded.t) > 20  # 40 kB
    assert "cut short" in loaded.warnings[-1]
    np.testing.assert_allclose(loaded.t, 0.01 * np.arange(len(loaded.t)), rtol=0.0, atol=1e-8)
    assert np.isfinite(loaded.residual).all()
    np.testing.assert_allclose(times_of_others(path), loaded.t, rtol=0.0, atol=1e-8)


@pytest.mark.slow
def test_interrupted(tmp_path: Path) -> None:
    path, status, err = end_long_run(tmp_path, signal.SIGINT)
    assert (status, err) == (
        INTERRUPTED,
        "uk_dynamics: interrupted; run.mcap contains the motion so far\n",
    )
    loaded = ukd.Trajectory.load(path)
    # Either it was ended, or a record was being written at that very moment.
    assert any(text in loaded.warnings[-1] for text in ("interrupted", "cut short"))
    np.testing.assert_allclose(times_of_others(path), loaded.t, rtol=0.0, atol=1e-8)
    assert {entry.name for entry in tmp_path.iterdir()} <= {"run.mcap", "cache"}


@dataclass(frozen=True)
class Choice:
    """Efforts, and nothing to complain of."""

    efforts: np.ndarray
    unreachable: tuple[str, ...] = ()
    limited_by: Mapping[str, str] = field(default_factory=dict)


class Bursting:
    """Motors that go mad at half a second."""

    row_names = ()

    def __init__(self, motors: int) -> None:
        self._motors = motors

    def command(self, state: ukd.State) -> Choice:
        return Choice(np.full(self._motors, 1e120 if state.t > 0.5 else 0.0))

    def tracking_error(self, state: ukd.State) -> np.ndarray:
        return np.zeros(0)


PENDULUM = """<robot name="pendulum"><link name="base"/><link name="rod"><inertial>
<origin xyz="0 0 -1"/><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="pivot" type="continuous"><parent link="base"/><child link="rod"/>
<axis xyz="0 1 0"/></joint></robot>"""
MOTOR = "schema: 1\nmodel: {urdf: pendulum.urdf}\nactuators: {motor: {joint: pivot}}\n"


@pytest.mark.parametrize("suffix", [".mcap", ".npz"])
def test_an_error_late_in_the_run(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    (tmp_path / "pendulum.urdf").write_text(PENDULUM)
    (tmp_path / "pendulum.yaml").write_text(MOTOR)
    mechanism = ukd.Mechanism.from_file(tmp_path / "pendulum.yaml")
    with pytest.raises(SimulationError):
        ukd.simulate(
            mechanism,
            mechanism.start(),
            2.0,
            controller=Bursting(len(mechanism.actuators.names)),
            control_period=0.01,
            recording=path,
        )
    loaded = ukd.Trajectory.load(path)
    assert 0.5 <= loaded.t[-1] <= 0.53
    assert "the simulation ended early" in loaded.warnings[-1]
    if suffix == ".mcap":
        np.testing.assert_allclose(times_of_others(path), loaded.t, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("suffix", [".mcap", ".npz"])
def test_a_run_that_ends_well_is_what_save_would_write(tmp_path: Path, suffix: str) -> None:
    mechanism = ukd.Mechanism.from_file("four_bar")
    live, saved = tmp_path / f"live{suffix}", tmp_path / f"saved{suffix}"
    trajectory = ukd.simulate(mechanism, mechanism.start(), 0.3, recording=live)
    trajectory.save(saved)
    one, two = ukd.Trajectory.load(live), ukd.Trajectory.load(saved)
    assert one.warnings == two.warnings == ()
    for name in ("t", "q", "v", "qdd", "residual", "multipliers", "kinetic"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def test_a_run_that_never_starts_leaves_an_older_file(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    path.write_bytes(b"yesterday's")
    mechanism = ukd.Mechanism.from_file("four_bar")
    with pytest.raises(InputError, match="positive"):
        ukd.simulate(mechanism, mechanism.start(), -1.0, recording=path)
    assert path.read_bytes() == b"yesterday's"
    with pytest.raises(InputError, match=r"use .npz, .mcap or .csv"):
        ukd.simulate(mechanism, mechanism.start(), 0.1, recording=tmp_path / "run.bag")
