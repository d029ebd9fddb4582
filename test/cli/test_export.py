# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics export``: files, reports and exit status."""

from __future__ import annotations

import json

import pytest
from support.command_line import choices
from support.exported import read_again

from uk_dynamics.cli.main import main
from uk_dynamics.conversion import FORMATS

FILES = {
    "sdf": ["slider_crank.sdf"],
    "mjcf": ["slider_crank.xml"],
    "urdf-constraint": ["slider_crank.urdf"],
    "urdf+": ["slider_crank.urdf"],
    "gepetto": ["slider_crank.yaml", "slider_crank.urdf"],
}


@pytest.mark.parametrize("to", FORMATS)
def test_files_are_written_and_losses_listed(to, tmp_path, capsys):
    command = ["export", "slider_crank", "--format", to, "--out", str(tmp_path / "new")]
    assert main(command) == 0
    said = capsys.readouterr().out
    paths = [tmp_path / "new" / name for name in FILES[to]]
    assert said.splitlines()[: len(paths)] == [str(path) for path in paths]
    listed = "joint crank: armature" in " ".join(said.split())
    assert listed is (to != "mjcf")
    if to != "mjcf":
        machine = read_again(paths[0])
        assert machine.joint_names == ("crank", "rod", "slider")
    assert main(command) == 2  # nothing is overwritten
    assert "--force" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0


def test_what_would_be_another_machine_is_not_written(tmp_path, capsys):
    command = ["export", "skate", "--format", "sdf", "--out", str(tmp_path / "new")]
    assert main(command) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "constraint blade: type no_slip has no counterpart" in said
    assert "not written without constraint blade" in said
    assert not (tmp_path / "new").exists()
    assert main([*command, "--partial", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["missing"] == ["constraint blade"]
    assert facts["files"] == [str(tmp_path / "new" / "skate.sdf")]
    assert "constraint blade" in (tmp_path / "new" / "skate.sdf").read_text()


def test_formats_are_those_of_the_library():
    assert tuple(choices("export", "--format")) == FORMATS


def test_a_format_that_is_none_is_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["export", "five_bar", "--format", "mjfc", "--out", str(tmp_path)])
    assert stopped.value.code == 2
    assert "mjcf" in capsys.readouterr().err
