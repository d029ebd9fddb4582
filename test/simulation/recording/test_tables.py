# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recordings as tables with named columns: what any program can write."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import numpy as np
import pytest
from support.recorded import recording

from uk_dynamics import Mechanism, Trajectory
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError

MECHANISM = Mechanism.from_file("five_bar")
HEADER = "t, q.JOINT, v.JOINT, effort.MOTOR"


@pytest.fixture
def motion() -> Trajectory:
    rows = np.random.default_rng(1).standard_normal((7, 4))
    return recording(MECHANISM, np.arange(7) * 0.1, rows, 2 * rows, 3 * rows, rows[:, :1])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_columns_come_back(motion: Trajectory, tmp_path: Path, suffix: str) -> None:
    file, table = tmp_path / f"run{suffix}", motion.columns()
    if suffix == ".csv":
        motion.save(file)
    elif suffix == ".npz":
        np.savez(file, **{x: np.array(table[x]) for x in table if x != "status"})
    else:
        arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.table(table), file)
    back = Trajectory.load(file)
    assert back.names == motion.names
    for name in ("t", "q", "v", "qdd", "efforts", "rank"):
        np.testing.assert_array_equal(getattr(back, name), getattr(motion, name))
    assert main(["plot", str(file)]) == 0
    assert (tmp_path / "run.html").exists()


@pytest.mark.parametrize(
    "text",
    [
        "t,q.crank,effort.crank_motor\n0,0.5,1\n\n0.1,,2\n",
        "# t; q.crank; effort.crank_motor\n0;0.5;1\n0.1;;2\n",
        "\ufeff,t,effort.crank_motor,q.crank\n0,1.7e9,1,0.5\n1,1700000000.1,2,\n",
    ],
)
def test_what_others_write_is_read(tmp_path: Path, text: str) -> None:
    file = tmp_path / "run.csv"
    file.write_text(text, encoding="utf-8")
    run = Trajectory.load(file)
    np.testing.assert_allclose(run.t, [0.0, 0.1], atol=1e-6, rtol=0)  # float64 of 1.7e9 s
    np.testing.assert_array_equal(run.q, [[0.5], [np.nan]])
    np.testing.assert_array_equal(run.effort("crank_motor"), [1.0, 2.0])
    assert np.isnan(run.velocity("crank")).all()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("time,q.crank\n0,1\n1,2\n", f'the column "time" has no meaning; .*{HEADER}'),
        ("t,v.crank\n0,1\n1,2\n", f"found no column q.…; .*{HEADER}"),
        ("", f"found no column t; .*{HEADER}"),
        ("t,q.crank\n0,1\n1,x\n", 'line 3: q.crank: expected a number, found "x"'),
        ("t,q.crank\n0,1\n1\n", "line 3: found 1 values in 2 columns"),
        ("t,q.crank\n1,1\n0,2\n", "two times that increase"),
        ("t,q.crank\n1,1\n", "two times that increase"),
        ("t,q.crank,q.crank\n0,1,1\n1,1,2\n", '"q.crank" twice'),
        ("\xff\x00", "UTF-8|no column t|NUL|meaning"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_place(
    tmp_path: Path, text: str, problem: str
) -> None:
    file = tmp_path / "run.csv"
    file.write_text(text, encoding="latin-1" if "\xff" in text else "utf-8")
    with pytest.raises(InputError, match=problem):
        Trajectory.load(file)


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet", ".mcap"])
def test_damaged_tables_are_read_or_refused(
    motion: Trajectory, tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"run{suffix}"
    if suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.table(motion.columns()), file)
    else:
        motion.save(file)
    whole, draw = file.read_bytes(), random.Random()
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            at = draw.randrange(len(data))
            data[at : at + draw.randint(0, 3)] = draw.randbytes(draw.randint(0, 3))
        file.write_bytes(data)
        with contextlib.suppress(InputError):  # whose text is one line
            Trajectory.load(file)


def test_names_of_parquet_that_are_no_text_are_refused(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet")
    file = tmp_path / "run.parquet"
    table = arrow.table({"t": [0.0, 0.1], "q.crank": [0.5, 0.6]})
    write = pytest.importorskip("pyarrow.parquet").write_table
    write(table.replace_schema_metadata({}), file, store_schema=False, compression="none")
    file.write_bytes(file.read_bytes().replace(b"q.crank", b"q.\xa2rank"))
    with pytest.raises(InputError, match="Parquet"):
        Trajectory.load(file)


def test_the_template_is_a_recording(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    assert main(["identify", "five_bar", "--template", str(file)]) == 0
    run = Trajectory.load(file)
    assert run.names.motors == MECHANISM.actuators.names
    assert run.names.positions == MECHANISM.measured.names
    assert main(["identify", "five_bar", "--template", str(file)]) == 2  # exists


def test_states_without_velocities_are_read_from_mcap(tmp_path: Path) -> None:
    pytest.importorskip("mcap_ros2", reason="mcap-ros2-support writes MCAP")
    (tmp_path / "run.csv").write_text("t,q.crank\n0,1\n1,2\n", encoding="utf-8")
    Trajectory.load(tmp_path / "run.csv").save(tmp_path / "run.mcap")
    back = Trajectory.load(tmp_path / "run.mcap")
    np.testing.assert_array_equal(back.q, [[1.0], [2.0]])
    assert np.isnan(back.v).all()
    assert main(["plot", str(tmp_path / "run.mcap")]) == 0


def test_a_damaged_type_is_named(tmp_path: Path) -> None:
    file = tmp_path / "run.mcap"
    with file.open("wb") as stream:
        writer = pytest.importorskip("mcap.writer").Writer(stream)
        writer.start("ros2")
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", b"float64\x04 x")
        channel = writer.register_channel("/joint_states", "cdr", schema)
        writer.add_message(channel, 0, b"\0" * 16, 0)
        writer.finish()
    with pytest.raises(InputError, match=r"is damaged: .*JointState' is no type") as caught:
        Trajectory.load(file)
    assert "\x04" not in str(caught.value)
