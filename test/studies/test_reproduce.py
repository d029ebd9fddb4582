# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics reproduce``: numbers on the terminal, files that others can open."""

from __future__ import annotations

import csv
import json
import re

import pytest

from uk_dynamics.cli.main import main
from uk_dynamics_studies import papers
from uk_dynamics_studies.commands.reproduce import MISSED
from uk_dynamics_studies.papers.output.study import Bound, Figure, Study, Table

THIRD = 1.0 / 3.0


def draw(figure):
    axes = figure.subplots()
    axes.plot([0.0, 1.0], [0.0, 1.0])
    axes.set(xlabel="time [s]", ylabel="angle [rad]")


def pendulum(gap=1e-12):
    return Study(
        paper="pendulum",
        title="On pendulums (1673)",
        tables=(
            Table(
                "Periods",
                ("length [m]", "published [s]", "measured [s]"),
                [("short | light", None, THIRD), ("long", 2, -0.0)],
                note="Small swings.",
            ),
        ),
        figures=(Figure("swing", "The first swing", draw),),
        findings=("The published period is too long.",),
        bounds=(Bound("closed form [rad]", gap, 1e-9),),
    )


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    """Papers of our own; what is written goes to a fresh directory."""
    studies = {"pendulum": pendulum, "doubtful": lambda: pendulum(gap=float("nan"))}
    monkeypatch.setattr(papers, "PAPERS", {"pendulum": "one that swings", "doubtful": "another"})
    monkeypatch.setattr(papers, "reproduce", lambda paper, quick=False: studies[paper]())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_names_every_paper(shelf, capsys):
    assert main(["reproduce", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["pendulum", "doubtful"]


def test_published_numbers_are_printed_beside_measured_ones(shelf, capsys):
    assert main(["reproduce", "pendulum"]) == 0
    shown, progress = capsys.readouterr()
    assert re.search(r"short \| light +– +0\.3333\n", shown)
    assert re.search(r"long +2 +0\n", shown)
    assert "- The published period is too long." in shown
    assert re.search(r"closed form \[rad\] +1e-12 +1e-09 +yes", shown)
    assert progress == ""  # on a terminal only


def test_studies_as_json(shelf, capsys):
    pytest.importorskip("matplotlib")
    assert main(["reproduce", "--json"]) == MISSED
    out, err = capsys.readouterr()
    assert err == ""
    good, bad = json.loads(out, parse_constant=pytest.fail)
    assert good["tables"][0]["rows"] == [["short | light", None, THIRD], ["long", 2, 0.0]]
    assert [bound["holds"] for bound in (*good["bounds"], *bad["bounds"])] == [True, False]
    assert bad["bounds"][0]["measured"] is None  # NaN
    assert all((shelf / file).is_file() for file in good["files"])


def test_tables_are_files_in_full_precision(shelf, capsys):
    pytest.importorskip("matplotlib")
    assert main(["reproduce", "pendulum", "--out", "a/b"]) == 0
    home = shelf / "a" / "b" / "pendulum"
    with (home / "periods.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["length [m]", "published [s]", "measured [s]"]
    assert rows[1][:2] == ["short | light", ""]
    assert float(rows[1][2]) == THIRD
    assert (home / "swing.png").read_bytes().startswith(b"\x89PNG")
    assert (home / "what_must_hold.csv").is_file()
    written = re.findall(r"written: (.+)", capsys.readouterr().out)
    assert len(written) == 3
    assert all((shelf / path).is_file() for path in written)


def test_a_page_tells_how_it_was_made(shelf, capsys):
    pytest.importorskip("matplotlib")
    command = ["reproduce", "pendulum", "--markdown", "--out", "docs"]
    assert main(command) == 0
    page = (shelf / "docs" / "pendulum.md").read_text()
    assert f"`uk_dynamics {' '.join(command)}`" in page
    assert "| short \\| light | – | 0.3333 |" in page
    (picture,) = re.findall(r"!\[The first swing\]\((.+)\)", page)
    assert (shelf / "docs" / picture).is_file()


def test_what_does_not_hold_is_an_exit_status(shelf, capsys):
    pytest.importorskip("matplotlib")
    assert main(["reproduce"]) == 1
    assert re.search(r"closed form \[rad\] +nan +1e-09 +NO", capsys.readouterr().out)


def test_mistakes_are_said_in_one_line(shelf, capsys):
    assert main(["reproduce", "pendulm"]) == 2
    assert 'did you mean "pendulum"?' in capsys.readouterr().err
    (shelf / "taken").write_text("")
    assert main(["reproduce", "pendulum", "--out", "taken"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "taken" in error
    assert "cannot be made" in error


def test_a_study_is_checked_when_it_is_made():
    with pytest.raises(ValueError, match="2 columns"):
        Table("Periods", ("a", "b"), [(1,)])
    with pytest.raises(ValueError, match="no file name"):
        Figure("Swing 1", "", draw)
    with pytest.raises(ValueError, match="twice"):
        Study("pendulum", "", (), (Figure("swing", "", draw),) * 2, ())
    with pytest.raises(ValueError, match="twice"):
        Study("pendulum", "", (Table("Periods", (), []),) * 2, (), ())
