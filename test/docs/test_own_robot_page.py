# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The page about a robot of one's own: its commands run one after the other, as typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.repository import ROOT

from uk_dynamics.checks import checklist
from uk_dynamics.cli.main import build_parser, main
from uk_dynamics.conversion.loop_closures_file import read_gepetto

PAGE = (ROOT / "docs" / "own_robot.md").read_text(encoding="utf-8")
SCRATCH = "## From scratch: an ankle"
PATH = PAGE.split(SCRATCH)[0]
ANKLE = PAGE.split(SCRATCH)[1].split("## What `init` guesses")[0]
NOT_RUN = "not run"


def blocks(text):
    """What stands before each fenced block of commands, and its lines."""
    found = re.findall(r"(?:<!-- ([^>]*) -->\n)?```bash\n(.*?)```", text, re.DOTALL)
    return [(words, block.splitlines()) for words, block in found]


def commands(text, *, run=True):
    lines = [
        line for words, block in blocks(text) for line in block if words.startswith(NOT_RUN) != run
    ]
    return [shlex.split(line)[1:] for line in lines]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A directory with the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_from_a_urdf_to_servo_control_in_ten_commands(here, capsys):
    pytest.importorskip("matplotlib", reason="the commands draw pictures")
    assert len(commands(PATH)) + len(commands(PATH, run=False)) <= 10
    for arguments in commands(PATH):
        assert main(arguments) == 0, arguments
    text = capsys.readouterr().out
    assert text.count("gripper.yaml: no findings") == 2
    assert (here / "grip.png").stat().st_size > 10_000
    # the last one is servo control: the fingers follow, within what 5 ms of holding efforts cost
    (error,) = re.findall(r"largest tracking error +(\S+) m", text)
    assert float(error) < 1e-5


@pytest.mark.slow
def test_an_ankle_from_scratch_in_eight_commands(here, capsys):
    assert len(commands(ANKLE)) + len(commands(ANKLE, run=False)) <= 8
    for arguments in commands(ANKLE):
        assert main(arguments) == 0, arguments
    captured = capsys.readouterr()
    assert captured.err == ""  # nothing is left to be explained
    assert "2, fully actuated" in captured.out
    assert "ankle.yaml: no findings" in captured.out
    # 2 ms of holding efforts; the page says 1e-6 rad
    (error,) = re.findall(r"largest tracking error +(\S+) m", captured.out)
    assert float(error) < 1e-6


def test_the_other_commands_exist():
    for arguments in commands(PAGE, run=False):
        if arguments[0] != "demo":  # one of those that need ROS
            build_parser(arguments).parse_args(arguments)


def test_every_finding_is_explained():
    text = "".join(
        path.read_text(encoding="utf-8") for path in Path(checklist.__file__).parent.glob("*.py")
    )
    names = set(re.findall(r'Finding[,(]\s*"(\w+)"', text))
    assert len(names) > 10
    assert names == set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))


def test_the_formats_of_the_page_are_read():
    for word in ("closed_loop", "3d", "6d"):
        assert word in PAGE
        assert word in (read_gepetto.__globals__["__doc__"] or "")
