# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics import``: two files that load, and a list of what is not as it was."""

from __future__ import annotations

import json

import pytest
from support import foreign_formats
from support.mechanism_builder import shipped

from uk_dynamics.cli.main import main
from uk_dynamics.mechanism_class import Mechanism


@pytest.fixture
def source(tmp_path):
    machine = shipped("four_bar")
    path = tmp_path / "machine.sdf"
    text = foreign_formats.sdf(machine, machine.assemble())
    path.write_text(text.replace("</model>", '<plugin name="p" filename="drive"/></model>'))
    return path


def test_files_are_written_and_load(source, tmp_path, capsys):
    out = tmp_path / "new" / "place"
    assert main(["import", str(source), "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "not converted" in text
    assert "plugin drive" in text
    mechanism = Mechanism.from_file(out / "four_bar.yaml")
    assert mechanism.report().mobility == 1
    assert main(["describe", str(out / "four_bar.yaml")]) == 0
    assert main(["check", str(out / "four_bar.yaml")]) == 0


def test_contacts_are_told_with_their_points_counted(tmp_path, capsys):
    path = tmp_path / "crate.sdf"
    shape = "<collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>"
    path.write_text(
        f"<sdf version='1.9'><model name='m'><link name='l'>{shape}</link></model></sdf>"
    )
    assert main(["import", str(path), "--out", str(tmp_path), "--contacts"]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert ["constraints", "none"] in lines
    assert ["contacts", "ground_l_c (8 points)"] in lines


def test_existing_files_stay(source, tmp_path, capsys):
    (tmp_path / "four_bar.yaml").write_text("mine")
    assert main(["import", str(source), "--out", str(tmp_path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert (tmp_path / "four_bar.yaml").read_text() == "mine"
    assert not (tmp_path / "four_bar.urdf").exists()
    assert main(["import", str(source), "--out", str(tmp_path), "--force"]) == 0


def test_json_lists_what_is_lost(source, tmp_path, capsys):
    assert main(["import", str(source), "--out", str(tmp_path / "o"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [entry["subject"] for entry in facts["not_carried_over"]] == ["plugin drive"]
    assert len(facts["files"]) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<robot name='x'/>", "uk_dynamics init"),
        ("<gazebo/>", "root element is <gazebo>"),
        ("not xml", "not XML"),
        ("<sdf version='2.0'/>", "version"),
        ("<sdf version='1.9'/>", "no <model>"),
    ],
)
def test_other_files_are_refused_in_one_line(content, words, tmp_path, capsys):
    path = tmp_path / "machine.xml"
    path.write_text(content)
    assert main(["import", str(path), "--out", str(tmp_path / "o")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_a_missing_file_is_refused(tmp_path, capsys):
    for name in ("nothing.sdf", "nothing.yaml"):
        assert main(["import", str(tmp_path / name), "--out", str(tmp_path / "o")]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_broken_mjcf_says_what_mujoco_says(tmp_path, capsys):
    pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")
    path = tmp_path / "machine.xml"
    path.write_text("<mujoco><worldbody><bodyy/></worldbody></mujoco>")
    assert main(["import", str(path), "--out", str(tmp_path / "o")]) == 2
    assert "bodyy" in capsys.readouterr().err
