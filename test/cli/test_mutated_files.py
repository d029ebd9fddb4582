# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Files with mistakes that nobody thought of: one line or a result, no traceback.

The same hundred in every run; what was found with thousands has tests of its own.
"""

from __future__ import annotations

import logging
import random

import pytest
import xacro
from support.foreign_formats import mjcf, sdf
from support.mechanism_builder import shipped
from support.mutations import mutated

from uk_dynamics.cli.main import main
from uk_dynamics.resources import share_directory, shipped_files

NAMES = ("four_bar", "five_bar", "slider_crank", "differential_drive", "rrr3")
SHORT = ("--duration", "0.02", "--backend", "interpreted")


def original(kind: str, name: str) -> tuple[str, str]:
    """Name of the file, and its text."""
    if kind == "mechanism":
        return "own.yaml", shipped_files("mechanism")[name].read_text()
    if kind == "tasks":
        tasks = shipped_files("tasks")
        return "tasks.yaml", next(tasks[n] for n in sorted(tasks) if n.startswith(name)).read_text()
    if kind == "urdf":
        document = xacro.process_file(str(share_directory() / "urdf" / f"{name}.urdf.xacro"))
        return "own.urdf", document.toprettyxml(indent=" ")
    machine = shipped("four_bar")
    if kind == "sdf":
        return "own.sdf", sdf(machine, machine.assemble())
    return "own.xml", mjcf(machine)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mechanism", "tasks", "urdf", "sdf", "mjcf"])
def test_no_file_ends_in_a_traceback(kind, tmp_path, capsys, monkeypatch):
    if kind == "mjcf":
        pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(logging.root.manager, "disable", logging.WARNING)
    ends = set()
    for seed in range(20):
        chance = random.Random(f"{kind} {seed}")
        name = chance.choice(NAMES)
        file, text = original(kind, name)
        (tmp_path / file).write_bytes(mutated(text, chance).encode("utf-8", "surrogatepass"))
        command = {
            "mechanism": ["simulate", file, *SHORT],
            "tasks": ["simulate", name, "--tasks", file, *SHORT, "--control-period", "0.01"],
            "urdf": ["init", file, "--out", "drafted.yaml", "--force"],
        }.get(kind, ["import", file, "--out", "imported", "--force"])
        status = main(command)
        complaint = capsys.readouterr().err
        assert status in (0, 2), (seed, complaint)
        if status == 2:
            assert complaint.count("\n") == 1, (seed, complaint)
        ends.add(status)
    assert ends == {0, 2}  # some mistakes matter, some do not
