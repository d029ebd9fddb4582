# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recordings in MCAP: read back, read by others, and readable up to where they were cut."""

from __future__ import annotations

from contextlib import closing
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import uk_dynamics as ukd
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.recording.mcap_contents import schemas
from uk_dynamics.simulation.recording.mcap_writer import McapWriter

pytest.importorskip("mcap_ros2", reason="recordings in MCAP are optional")

TOPICS = {
    "/joint_states": "sensor_msgs/msg/JointState",
    "/effort_controller/commands": "std_msgs/msg/Float64MultiArray",
    "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    "/forward_dynamics/dynamics": "trajectory_msgs/msg/JointTrajectory",
    "/forward_dynamics/constraint_states": "sensor_msgs/msg/JointState",
    "/servo_controller/task_states": "sensor_msgs/msg/JointState",
    "/servo_controller/task_references": "trajectory_msgs/msg/JointTrajectory",
}


@pytest.fixture(scope="module")
def trajectory() -> ukd.Trajectory:
    mechanism = ukd.Mechanism.from_file("five_bar")
    tasks = ukd.Tasks.from_file("five_bar_sweep", mechanism)
    controller = ukd.ServoController(mechanism, tasks)
    return ukd.simulate(
        mechanism, mechanism.start(), 0.6, controller=controller, control_period=0.01
    )


@pytest.fixture(scope="module")
def recording(trajectory, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "run.mcap"
    trajectory.save(path)
    return path


def test_everything_comes_back(trajectory, recording):
    loaded = ukd.Trajectory.load(recording)
    for field in fields(trajectory):
        saved, read = getattr(trajectory, field.name), getattr(loaded, field.name)
        if field.name == "t":
            assert abs(saved - read).max() < 1e-9  # stamps count nanoseconds
        elif isinstance(saved, np.ndarray):
            numbers = saved.dtype == float  # NaN: nothing is promised
            assert np.array_equal(saved, read, equal_nan=numbers), field.name
        else:
            assert saved == read, field.name


def test_an_independent_reader_finds_the_messages(trajectory, recording):
    rosbags = pytest.importorskip("rosbags.highlevel", reason="the independent reader")
    with rosbags.AnyReader([recording]) as reader:
        assert {c.topic: c.msgtype for c in reader.connections} == TOPICS
        states = [
            reader.deserialize(raw, connection.msgtype)
            for connection, _, raw in reader.messages()
            if connection.topic == "/joint_states"
        ]
    assert len(states) == len(trajectory.t)
    assert tuple(states[0].name) == trajectory.names.positions
    assert np.array_equal([state.position for state in states], trajectory.q)
    assert np.array_equal([state.velocity for state in states], trajectory.v)


def test_definitions_are_those_of_ros():
    stores = pytest.importorskip("rosbags.typesys", reason="knows the definitions of ROS")
    ros = stores.get_typestore(stores.Stores.ROS2_JAZZY)
    own = stores.get_typestore(stores.Stores.EMPTY)
    for name, text in schemas().items():
        own.register(stores.get_types_from_msg(text, name))
        assert own.hash_rihs01(name) == ros.hash_rihs01(name), name


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.floats(0.3, 0.99))
def test_a_recording_cut_short_is_read_up_to_the_cut(trajectory, recording, tmp_path, part):
    content = recording.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(content[: int(part * len(content))])
    loaded = ukd.Trajectory.load(cut)
    count = len(loaded.t)
    assert 0 < count <= len(trajectory.t)
    assert np.array_equal(loaded.q, trajectory.q[:count])
    if count < len(trajectory.t):
        assert "cut short" in loaded.warnings[-1]


def test_what_is_no_recording_is_refused(tmp_path):
    other = tmp_path / "other.mcap"
    other.write_bytes(b"this is a text and no recording at all")
    with pytest.raises(InputError, match=r"other.mcap: is not an MCAP"):
        ukd.Trajectory.load(other)
    with pytest.raises(InputError, match="no such file"):
        ukd.Trajectory.load(tmp_path / "missing.mcap")


def test_simulate_writes_it(tmp_path, capsys):
    path = tmp_path / "fall.mcap"
    assert main(["simulate", "four_bar", "--duration", "0.1", "--out", str(path)]) == 0
    loaded = ukd.Trajectory.load(path)
    assert loaded.name == "four_bar"
    assert len(loaded.t) == 11


def test_numbers_that_are_reported_late_count_from_the_start(tmp_path):
    path = tmp_path / "live.mcap"
    kind = "sensor_msgs/msg/JointState"
    values = {"rank": "3", "energy": "5.0", "kinetic_energy": "2.0", "condition": "4.0"}
    report = {
        "level": 0,
        "name": "forward_dynamics: dynamics",
        "message": "",
        "hardware_id": "",
        "values": [{"key": key, "value": value} for key, value in values.items()],
    }
    with closing(McapWriter(path)) as log:
        for k in range(4):
            header = {"stamp": {"sec": k, "nanosec": 0}, "frame_id": ""}
            if k == 2:
                content = {"header": header, "status": [report]}
                log.write("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", content, k)
            state = {"name": ["hinge"], "position": [0.1 * k], "velocity": [0.1], "effort": []}
            log.write("/joint_states", kind, {"header": header, **state}, k)
    loaded = ukd.Trajectory.load(path)
    assert loaded.rank.tolist() == [3] * 4
    assert loaded.potential.tolist() == [3.0] * 4
    assert loaded.energy.tolist() == [5.0] * 4
