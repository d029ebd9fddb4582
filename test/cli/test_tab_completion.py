# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tab in a real bash: commands, options, and the names that there are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from uk_dynamics.cli.main import main

pytest.importorskip("argcomplete")
BASH = shutil.which("bash") or pytest.skip("needs bash", allow_module_level=True)

# What bash does when Tab is pressed at the end of a line, without a terminal.
_PRESS = """
eval "$SCRIPT"
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9
read -ra COMP_WORDS <<<"$1"
[[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
function=$(complete -p uk_dynamics | sed 's/.*-F \\([^ ]*\\).*/\\1/')
"$function" uk_dynamics "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def press(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What bash offers at the end of a line."""
    program = tmp_path / "bin" / "uk_dynamics"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m uk_dynamics "$@"\n')
    program.chmod(0o755)
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    (tmp_path / "rocker.yaml").touch()
    (tmp_path / "rocker.urdf").touch()
    (tmp_path / "rocker.txt").touch()
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "SCRIPT": script}

    def offered(line: str) -> set[str]:
        command = [BASH, "--norc", "-c", _PRESS, "bash", line]
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return {word.strip() for word in done.stdout.split("\n")} - {""}

    return offered


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("uk_dynamics des", {"describe"}),
        ("uk_dynamics describe rock", {"rocker.yaml", "rocker.urdf"}),
        (
            "uk_dynamics init package://uk_dynamics/urdf/four_bar_gripper.urdf --at upper_w",
            {"upper_wrist="},
        ),
        ("uk_dynamics simulate four_bar --tasks four_bar_t", {"four_bar_turn"}),
        ("uk_dynamics simulate four_bar --set c", {"crank=", "coupler="}),
        *(
            pytest.param(*more, marks=pytest.mark.slow)
            for more in (
                ("uk_dynamics describe four_b", {"four_bar"}),
                ("uk_dynamics inverse-dynamics four_bar --preload ", {"crank_motor="}),
                ("uk_dynamics reproduce de", {"de_falco"}),
            )
        ),
    ],
)
def test_what_is_offered(press, line, expected):
    assert press(line) == expected


@pytest.mark.parametrize("line", ["uk_dynamics des", "uk_dynamics view five", "uk_dynamics init "])
def test_it_waits_for_no_library(line, tmp_path):
    """Numerical libraries take several times as long to load as all the rest of an answer."""
    answer = tmp_path / "answer"
    request = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    command = [sys.executable, "-X", "importtime", "-m", "uk_dynamics"]
    done = subprocess.run(command, env={**os.environ, **request}, capture_output=True, text=True)
    assert answer.read_text()
    imported = {entry.rpartition("|")[2].strip() for entry in done.stderr.splitlines()}
    assert "uk_dynamics.cli.main" in imported
    assert not imported & {"numpy", "scipy", "pinocchio", "yaml", "jsonschema", "rclpy"}


def test_every_shell_gets_a_script(capsys):
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert "uk_dynamics" in capsys.readouterr().out
