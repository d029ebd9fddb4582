# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bags that an independent library wrote: SQLite with and without definitions, and directories."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import uk_dynamics as ukd
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError

pytest.importorskip("mcap_ros2", reason="recordings in MCAP are optional")
rosbags = pytest.importorskip("rosbags.rosbag2", reason="the independent writer")


@pytest.fixture(scope="module")
def trajectory() -> ukd.Trajectory:
    mechanism = ukd.Mechanism.from_file("five_bar")
    tasks = ukd.Tasks.from_file("five_bar_sweep", mechanism)
    controller = ukd.ServoController(mechanism, tasks, backend="interpreted")
    return ukd.simulate(
        *(mechanism, mechanism.start(), 0.4),
        controller=controller,
        control_period=0.01,
        backend="interpreted",
    )


@pytest.fixture(
    params=["sqlite3", pytest.param("sqlite3 with definitions", marks=pytest.mark.slow), "mcap"]
)
def bag(request, trajectory, tmp_path) -> Path:
    """A directory with the messages of a motion, and one of a type that nobody knows."""
    from rosbags.highlevel import AnyReader
    from rosbags.rosbag2 import StoragePlugin, Writer

    run = tmp_path / "run.mcap"
    trajectory.save(run)
    kind = StoragePlugin.MCAP if request.param == "mcap" else StoragePlugin.SQLITE3
    with AnyReader([run]) as reader, Writer(tmp_path / "bag", version=9, storage_plugin=kind) as to:
        written = {
            c.id: to.add_connection(c.topic, c.msgtype, typestore=reader.typestore)
            for c in reader.connections
        }
        for connection, time, raw in reader.messages():
            to.write(written[connection.id], time, raw)
    for file in (tmp_path / "bag").glob("*.db3"):
        with sqlite3.connect(file) as data:
            data.execute("INSERT INTO topics VALUES (99, '/own', 'my/msg/Own', 'cdr', '', '')")
            data.execute("INSERT INTO messages VALUES (NULL, 99, 5, x'00010000')")
            if request.param == "sqlite3":  # as systems before Iron have it
                data.execute("DROP TABLE message_definitions")
        data.close()
    return tmp_path / "bag"


def test_the_motion_comes_back(bag, trajectory):
    loaded = ukd.Trajectory.load(bag)
    np.testing.assert_allclose(loaded.t, trajectory.t, rtol=0, atol=1e-9)  # nanoseconds
    for name in ("q", "v", "qdd", "efforts", "residual", "multipliers", "tracking_error"):
        assert np.array_equal(getattr(loaded, name), getattr(trajectory, name)), name
    (file,) = [x for x in bag.iterdir() if x.suffix != ".yaml"]
    assert np.array_equal(ukd.Trajectory.load(file).q, trajectory.q)


@pytest.mark.slow
def test_commands_take_it(bag, tmp_path, capsys):
    """The geometry is exact, so that there is nothing to calibrate."""
    pytest.importorskip("matplotlib")
    assert main(["plot", str(bag), "--out", str(tmp_path / "page")]) == 0
    assert (tmp_path / "page.html").stat().st_size > 1000
    measured = ["--measured", "crank", "--measured", "right", "--estimate", "encoders.*"]
    assert main(["calibrate", "five_bar", str(bag), *measured]) in (0, 1)
    assert "misfit" in capsys.readouterr().out


def test_what_is_no_bag_is_refused_in_a_line(tmp_path):
    empty, other = tmp_path / "empty", tmp_path / "other.db3"
    empty.mkdir()
    with pytest.raises(InputError, match=r"is a directory without \.mcap and \.db3 files"):
        ukd.Trajectory.load(empty)
    other.write_bytes(b"SQLite format 3\0" + bytes(200))
    with pytest.raises(InputError, match="is no whole recording of ros2 bag"):
        ukd.Trajectory.load(other)
    (empty / "metadata.yaml").write_text("rosbag2_bagfile_information: 3")
    with pytest.raises(InputError, match="does not describe a bag"):
        ukd.Trajectory.load(empty)


def test_a_bag_that_is_cut_is_refused(trajectory, tmp_path):
    """Pages are missing at the end."""
    from rosbags.highlevel import AnyReader
    from rosbags.rosbag2 import Writer

    run = tmp_path / "run.mcap"
    trajectory.save(run)
    with AnyReader([run]) as reader, Writer(tmp_path / "bag", version=9) as to:
        connection = next(c for c in reader.connections if c.topic == "/joint_states")
        target = to.add_connection(connection.topic, connection.msgtype, typestore=reader.typestore)
        for _, time, raw in reader.messages([connection]):
            to.write(target, time, raw)
    (file,) = (tmp_path / "bag").glob("*.db3")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="malformed"):
        ukd.Trajectory.load(file)
