# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every command that prints a table prints the same facts as JSON, and nothing else beside it."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import pytest

from uk_dynamics.cli.main import build_parser, main
from uk_dynamics.cli.output.printing import json_text

# Commands whose output is no table: a page in the browser, files for other programs.
WITHOUT_A_TABLE = {"schema", "view", "ros2-control", "init", "import", "completion", "layouts"}


def facts(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out, parse_constant=pytest.fail)


def test_every_command_with_a_table_offers_json():
    actions = build_parser(["describe"])._actions
    (commands,) = (a.choices for a in actions if isinstance(a, argparse._SubParsersAction))
    without = {n for n, c in commands.items() if "--json" not in c._option_string_actions}
    assert without <= WITHOUT_A_TABLE


def test_the_list_of_papers(capsys):
    assert "servo" in facts(capsys, "reproduce", "--list")


@pytest.mark.slow
def test_benchmark(capsys):
    report = facts(capsys, "benchmark", "four_bar", "--parts", "single", "--quick")
    engines = {row["engine"]: row for row in report["single"]}
    assert engines["uk_dynamics compiled"]["seconds"] > 0.0
    assert engines["uk_dynamics compiled"]["error"] < 1e-12  # rounding


def test_compile(capsys, tmp_path):
    exported = facts(capsys, "compile", "four_bar", "--export-c", str(tmp_path))
    assert {Path(file).name for file in exported["files"]} >= {"four_bar.c", "four_bar.h"}


@pytest.mark.slow  # starting a worker
def test_sweep(capsys, tmp_path):
    pytest.importorskip("distributed")
    pytest.importorskip("pyarrow")
    file = tmp_path / "starts.yaml"
    file.write_text(
        "{schema: 1, mechanism: four_bar, simulation: {duration: 0.01}, "
        "vary: {positions.crank: [0.5, 1.0]}}"
    )
    outcome = facts(capsys, "sweep", str(file), "--out", str(tmp_path / "out"), "--workers", "1")
    assert (outcome["total"], outcome["ok"], outcome["failed"]) == (2, 2, {})
    assert Path(outcome["results"]).is_file()


def test_numbers_that_json_has_no_word_for_are_null():
    text = json_text({"limits": (1.0, math.inf), "gap": math.nan, "file": Path("a/b")})
    assert json.loads(text) == {"limits": [1.0, None], "gap": None, "file": "a/b"}
