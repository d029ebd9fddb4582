# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the README shows is true: its code runs, its files are valid, its commands exist."""

from __future__ import annotations

import re

import pytest
from support import readme_parts
from support.repository import ROOT

from uk_dynamics.cli.main import build_parser
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism


def test_python_example_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="the example draws a picture")
    monkeypatch.chdir(tmp_path)
    (example,) = readme_parts.code_blocks("python")
    scope: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), scope)
    assert (tmp_path / "five_bar.png").stat().st_size > 10_000
    assert scope["solution"].rank == 3


def test_yaml_examples_are_the_shipped_machine():
    mechanism_text, tasks_text = readme_parts.code_blocks("yaml")
    mechanism = Mechanism.from_spec(MechanismSpec.from_text(mechanism_text))
    shipped = Mechanism.from_file("five_bar")
    assert mechanism.row_names == shipped.row_names
    assert mechanism.actuators.names == shipped.actuators.names
    assert abs(mechanism.assemble() - shipped.assemble()).max() < 1e-12
    tasks = Tasks(TasksSpec.from_text(tasks_text), mechanism)
    assert tasks.names == ("sweep",)


def test_commands_exist():
    lines = [line for block in readme_parts.code_blocks("sh") for line in block.splitlines()]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    made = [line.split()[1] for line in lines if line.startswith("make ")]
    assert made == ["demo", "test"]
    assert set(made) <= set(targets)
    for line in lines:
        if line.startswith("uk_dynamics ") and " demo " not in line:
            arguments = line.split("#")[0].split()[1:]
            build_parser(arguments).parse_args(arguments)


def test_it_is_short():
    assert len(readme_parts.TEXT.splitlines()) <= 130


def test_pictures_and_pages_exist():
    targets = re.findall(r"\]\(([^)#]+)\)", readme_parts.TEXT)
    local = [target for target in targets if "://" not in target]
    assert len(local) > 10
    assert [target for target in local if not (ROOT / target).is_file()] == []
