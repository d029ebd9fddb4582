# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Ctrl-C in commands that take long: a quiet end, no process and no half file left behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.waiting import wait_until

from uk_dynamics import Mechanism, Trajectory, simulate
from uk_dynamics.cli.main import main
from uk_dynamics.whole_file import whole_file

INTERRUPTED = 130  # 128 + SIGINT


class Command:
    """A running command with a home and a directory for temporary files of its own."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        self.directory = directory
        self._home, temporary = directory / "home", directory / "temporary"
        for place in (self._home, temporary):
            place.mkdir()
        own = {
            "PYTHONFAULTHANDLER": "1",
            "HOME": self._home,
            "XDG_CACHE_HOME": self._home,
            "TMPDIR": temporary,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "uk_dynamics", *arguments],
            cwd=directory,
            env={**os.environ, **{name: str(value) for name, value in own.items()}},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def interrupt(self, busy: Callable[[Command], object]) -> tuple[int, str, str]:
        """Send SIGINT to this process alone when it is busy; return status, output, complaints."""
        process = self._process
        try:
            wait_until(lambda: busy(self) or process.poll() is not None, "work")
            assert process.poll() is None, process.communicate()
            process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGABRT)  # where every thread is
                pytest.fail(f"{self.programs()} go on: {process.communicate()[1]}")
        finally:
            process.kill()
        wait_until(lambda: not self.programs(), "the end of all that it started")
        return process.returncode, out, err

    def programs(self) -> list[str]:
        """Names of the processes that have this home: the command's own, and what it started."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):  # it may end at any time
                environment = (entry / "environ").read_bytes().split(b"\0")
                if f"HOME={self._home}".encode() in environment:
                    found.append((entry / "comm").read_text().strip())
        return found

    @property
    def worked(self) -> float:
        """Processor time used, in s."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def files(self) -> set[str]:
        """All files, also hidden ones; those of Matplotlib's own cache and locks apart."""
        return {
            path.name
            for path in self.directory.rglob("*")
            if path.is_file() and "matplotlib" not in str(path) and path.suffix != ".lock"
        }


def at_work(command: Command) -> bool:
    """Long after everything has been imported and tried, which takes two and a half seconds."""
    return command.worked > 5.0


def writing(command: Command) -> bool:
    """A file is open that does not have its name yet."""
    return any(name.startswith(".") for name in command.files)


@pytest.mark.slow
def test_simulate(tmp_path: Path) -> None:
    (tmp_path / "run.npz").write_text("yesterday's")
    command = Command(tmp_path, "simulate", "four_bar", "--duration", "1e5", "--out", "run.npz")
    told = "uk_dynamics: interrupted; run.npz contains the motion so far\n"
    assert command.interrupt(at_work) == (INTERRUPTED, "", told)
    assert command.files == {"run.npz"}
    motion = Trajectory.load(tmp_path / "run.npz")
    assert motion.warnings[-1] == "the simulation ended early: interrupted"
    np.testing.assert_allclose(motion.t, 0.01 * np.arange(len(motion.t)), rtol=0.0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_what_was_simulated_before_ctrl_c_is_kept(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    mechanism = Mechanism.from_file("four_bar")

    def interrupt(t: float) -> None:
        if t > 0.3:
            raise KeyboardInterrupt

    # C takes a thousand samples, here 10 s, between two looks at what goes on
    with pytest.raises(KeyboardInterrupt):
        simulate(mechanism, mechanism.start(), 30.0, progress=interrupt, recording=path)
    if suffix == ".npz":
        times, q = Trajectory.load(path).t, Trajectory.load(path).q
    else:
        columns = range(1 + mechanism.model.nq)
        table = np.loadtxt(path, delimiter=",", skiprows=1, usecols=columns)
        times, q = table[:, 0], table[:, 1 : 1 + mechanism.model.nq]
    assert 0.25 < times[-1] < 20.0
    whole = simulate(mechanism, mechanism.start(), 30.0)
    # the adaptive steps of both are the same up to there; .csv has fewer digits
    np.testing.assert_allclose(q, whole.q[: len(times)], rtol=0.0, atol=1e-6)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_simulate_that_has_not_begun_leaves_an_older_file(tmp_path: Path) -> None:
    (tmp_path / "run.npz").write_text("yesterday's")
    words = ["simulate", "four_bar", "--set", "nope=1", "--out", str(tmp_path / "run.npz")]
    assert main(words) == 2
    assert (tmp_path / "run.npz").read_text() == "yesterday's"


@pytest.mark.slow
def test_reproduce(tmp_path: Path) -> None:
    command = Command(tmp_path, "reproduce", "de_falco", "--out", "studies")
    status, out, err = command.interrupt(at_work)
    assert (status, out) == (INTERRUPTED, "")
    assert "Traceback" not in err
    assert command.files == set()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mechanism = Mechanism.from_file("four_bar")
    path = tmp_path_factory.mktemp("recording") / "run.npz"
    simulate(mechanism, mechanism.start(), 0.5, sample_period=1e-3).save(path)
    return path


@pytest.mark.slow
def test_plot(tmp_path: Path, recording: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "report.html").write_text("yesterday's")
    command = Command(tmp_path, "plot", str(recording), "--out", "report")
    assert command.interrupt(writing) == (INTERRUPTED, "", "uk_dynamics: interrupted\n")
    assert command.files == {"report.html"}
    assert (tmp_path / "report.html").read_text() == "yesterday's"


@pytest.mark.slow
def test_sweep(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    parquet = pytest.importorskip("pyarrow.parquet")
    declaration = (
        "schema: 1\nmechanism: five_bar\nsimulation: {duration: 0.2, method: rk4, step: 0.01}\n"
        "vary: {positions.crank: {from: 0.3, to: 0.9, count: 1000}}\n"
    )
    (tmp_path / "sweep.yaml").write_text(declaration)
    rows = tmp_path / "out" / "rows"
    command = Command(tmp_path, "sweep", "sweep.yaml", "--out", "out", "--workers", "1")
    status, _, err = command.interrupt(lambda _: list(rows.glob("*.parquet")))
    assert status == INTERRUPTED
    assert "Traceback" not in err
    kept = sum(parquet.read_table(part).num_rows for part in rows.iterdir())
    told = re.search(r"interrupted; out has (\d+) points", err)
    assert told, err
    assert int(told[1]) <= kept  # what a worker is at may still be written


@pytest.fixture
def compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Command], object]:
    """Whether the compiler works: one that makes its library, but takes its time to end."""
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\ncc "$@"\n[ "$1" = --version ] || sleep 1000\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    return lambda command: not {"cc1", "clang", "sleep"}.isdisjoint(command.programs())


@pytest.mark.parametrize(
    "command", [pytest.param("simulate --backend compiled", marks=pytest.mark.slow), "compile"]
)
def test_while_a_mechanism_is_compiled(
    command: str, tmp_path: Path, compiling: Callable[[Command], object]
) -> None:
    name, *options = command.split()
    running = Command(tmp_path, name, "four_bar", *options)
    code, out, error = running.interrupt(compiling)
    assert (code, out) == (INTERRUPTED, "")
    *before, last = error.splitlines()
    assert all(line.startswith("uk_dynamics: compiling four") for line in before)
    assert last == "uk_dynamics: interrupted"
    assert running.files == {"cc"}


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "numbers.csv"
    with whole_file(file) as temporary:
        temporary.write_text("1, 2")
        assert temporary.suffix == ".csv"
        assert not file.exists()
    file.chmod(0o640)

    def interrupted() -> None:
        with whole_file(file) as temporary:
            temporary.write_text("3, ")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert file.read_text() == "1, 2"
    with whole_file(file) as temporary:
        temporary.write_text("3, 4")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["3, 4"]
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_link_goes_on_pointing_and_a_device_is_written_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with whole_file(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    with whole_file("/dev/null") as temporary:
        assert temporary == Path("/dev/null")
    assert Path("/dev/null").is_char_device()
