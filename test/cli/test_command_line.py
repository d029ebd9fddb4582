# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The command line as a whole: exit statuses, help, commands of other packages."""

import fcntl
import importlib.metadata
import os
import struct
import subprocess
import sys
import termios

import pytest
from support.repository import ROOT

from uk_dynamics.cli.commands import describe
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import SimulationError, UkDynamicsError

# the name is that of the function in its folder, too
command_line = sys.modules[main.__module__]


def fails_with(monkeypatch, error):
    """Let ``describe`` end with an error."""

    def run(arguments):
        raise error

    monkeypatch.setattr(describe, "run", run)


def entries(monkeypatch, **commands):
    """Let the entry-point group hold these commands."""
    found = [importlib.metadata.EntryPoint(n, v, command_line.GROUP) for n, v in commands.items()]
    monkeypatch.setattr(command_line, "entry_points", lambda group: found)


@pytest.mark.parametrize("error", [UkDynamicsError("two\nlines"), SimulationError("stuck", 1.0)])
def test_every_error_of_the_package_is_one_line_and_status_2(error, monkeypatch, capsys):
    fails_with(monkeypatch, error)
    assert main(["describe", "five_bar"]) == 2
    captured = capsys.readouterr()
    assert captured.err == f"uk_dynamics: error: {' '.join(str(error).split())}\n"
    assert captured.out == ""


def test_an_interrupt_ends_in_one_line_with_the_status_of_a_shell(monkeypatch, capsys):
    fails_with(monkeypatch, KeyboardInterrupt())
    assert main(["describe", "five_bar"]) == 130
    assert capsys.readouterr() == ("", "uk_dynamics: interrupted\n")


def test_a_bug_is_not_hidden(monkeypatch):
    fails_with(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        main(["describe", "five_bar"])


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error():
    read, write = os.pipe()
    os.close(read)
    try:
        command = [sys.executable, "-m", "uk_dynamics", "describe", "four_bar"]
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=60)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("given", "words"),
    [("descibe", 'did you mean "describe"?'), ("sim", "simulate"), ("zzz", "there are: init")],
)
def test_a_command_that_does_not_exist(given, words, monkeypatch, capsys):
    entries(monkeypatch)
    with pytest.raises(SystemExit):
        main([given])
    assert f'no command "{given}"; ' in (line := capsys.readouterr().err.splitlines()[-1])
    assert words in line


def test_a_full_disk_is_one_line():
    command = [sys.executable, "-m", "uk_dynamics", "describe", "four_bar"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 2
    assert done.stderr == (
        b"uk_dynamics: error: output cannot be written: No space left on device\n"
    )


@pytest.mark.slow
def test_a_terminal_that_knows_ascii_only(tmp_path):
    """The shipped URDF and this mechanism's errors hold other characters."""
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment = {**os.environ, **plain, "PYTHONIOENCODING": "ascii"}
    (tmp_path / "µ.yaml").write_text("constraints: {µ²: {type: weld}}\n", encoding="utf-8")
    statuses = []
    for name in ("four_bar", str(tmp_path / "µ.yaml")):
        command = [sys.executable, "-m", "uk_dynamics", "describe", name]
        done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
        assert b"Traceback" not in done.stderr
        statuses.append(done.returncode)
    assert statuses == [0, 2]


def test_a_recording_in_place_of_a_mechanism_says_where_it_belongs(capsys):
    assert main(["view", "run.mcap"]) == 2
    assert "uk_dynamics view MECHANISM --recording run.mcap" in capsys.readouterr().err


@pytest.mark.slow
def test_a_bar_on_a_terminal_and_none_in_a_pipe(capfd):
    words = ["simulate", "four_bar", "--duration", "0.5"]
    command = [sys.executable, "-m", "uk_dynamics", *words]
    ours, theirs = os.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.set_blocking(ours, False)
    on_terminal = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, timeout=60)
    shown = os.read(ours, 100_000)
    for end in (ours, theirs):
        os.close(end)
    assert on_terminal.returncode == 0
    assert b"of 0.5 s" in shown
    assert main(words) == 0
    in_pipe = capfd.readouterr()
    assert in_pipe.err == ""
    assert "\x1b" not in in_pipe.out  # no colours


@pytest.mark.parametrize(
    "arguments",
    [
        ["descibe", "five_bar"],
        ["describe"],
        ["describe", "five_bar", "--set", "crank"],
        ["describe", "five_bar", "--set", "crank=fast"],
        ["simulate", "five_bar", "--duration", "-1"],
        ["simulate", "five_bar", "--duration", "nan"],
        ["simulate", "five_bar", "--method", "euler"],
    ],
)
def test_wrong_usage_says_how_it_is_used(arguments, monkeypatch, capsys):
    entries(monkeypatch)
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("uk_dynamics")
    assert "error: " in line
    assert line.endswith("--help")


@pytest.mark.parametrize("arguments", [["--help"], ["describe", "--help"], ["simulate", "--help"]])
def test_help_has_examples_that_the_command_line_accepts(arguments, monkeypatch, capsys, tmp_path):
    entries(monkeypatch)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    examples = [line.strip() for line in lines if line.startswith("  uk_dynamics ")]
    assert examples
    monkeypatch.setattr("uk_dynamics.cli.commands.describe.run", lambda arguments: 0)
    monkeypatch.setattr("uk_dynamics.cli.commands.simulate.run", lambda arguments: 0)
    for example in examples:
        command = example.split("|")[0].split("  ")[0]
        assert main(command.split()[1:]) == 0, example


def test_a_command_of_another_package_is_found_and_run(monkeypatch, capsys, tmp_path):
    (tmp_path / "greeting_commands.py").write_text(
        "def register(commands):\n"
        "    parser = commands.add_parser('greet', help='say hello')\n"
        "    parser.add_argument('name')\n"
        "    parser.set_defaults(run=lambda arguments: print('hello', arguments.name) or 7)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entries(monkeypatch, greet="greeting_commands:register")
    assert main(["greet", "crank"]) == 7
    assert capsys.readouterr().out == "hello crank\n"


def test_a_command_that_needs_ros_says_so_where_there_is_none(monkeypatch, capsys, tmp_path):
    (tmp_path / "node_commands.py").write_text("import rclpy_that_is_missing\n")
    (tmp_path / "ros_commands.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'rclpy'\", name='rclpy')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entries(monkeypatch, demo="ros_commands:register", other="node_commands:register")

    assert main(["demo", "five_bar", "--rate", "5"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("uk_dynamics: error: demo needs ROS 2: No module named 'rclpy';")
    assert "pip install" in captured.err
    assert captured.err.count("\n") == 1

    assert main(["other"]) == 2
    assert "cannot be loaded from node_commands:register" in capsys.readouterr().err

    with pytest.raises(SystemExit):
        main(["--help"])
    assert "needs ROS 2, which is not installed here" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["reproduce", "benchmark"])
def test_a_study_says_where_it_is_where_it_is_not_installed(command, monkeypatch, capsys):
    monkeypatch.setattr(command_line, "source_tree", lambda: None)
    for module in [name for name in sys.modules if name.startswith("uk_dynamics_studies.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "uk_dynamics_studies", None)
    assert main([command, "--quick"]) == 2
    captured = capsys.readouterr()
    assert 'pip install ".[studies]"' in captured.err
    assert captured.err.count("\n") == 1


def test_a_study_runs_in_a_clone_without_being_installed(tmp_path):
    code = "import sys; from uk_dynamics.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "reproduce", "--list"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "servo" in done.stdout


def test_built_in_commands_load_nothing_of_other_packages(monkeypatch):
    def refuse(group):
        raise AssertionError("asked for the commands of other packages")

    monkeypatch.setattr(command_line, "entry_points", refuse)
    monkeypatch.setattr("uk_dynamics.cli.commands.describe.run", lambda arguments: 0)
    assert main(["describe", "five_bar"]) == 0


def test_the_command_line_starts_without_heavy_or_ros_libraries():
    code = (
        "import sys; from uk_dynamics.cli.main import build_parser; build_parser();"
        " print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pinocchio", "rclpy", "matplotlib", "scipy"} & set(done.stdout.split())
