# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the texts of commands declare is what they take."""

from __future__ import annotations

import argparse

import pytest
from support.command_line import option

from uk_dynamics.cli.options import add_command
from uk_dynamics.viewing.server import PORT

TEXT = """\
turn a crank

Turn a crank {slowly}.

examples:
  turn crank

arguments:
joint JOINT  which one
others OTHER*  more of them
--set JOINT=VALUE...  where it is
--rate HZ=5  how often,
    100 % of the time
--point X Y Z:finite  where
--quiet  say nothing
--view [PORT=80]  look

at most one of:
--left N  turns
--right N  turns

output:
--out! DIR  folder
--as text|json=text  form
"""


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    commands = argparse.ArgumentParser().add_subparsers()
    return add_command(commands, "turn", TEXT, lambda arguments: 0)


def test_what_is_left_out_is_what_the_text_says(parser):
    given = vars(parser.parse_args(["crank", "--out", "here"]))
    assert {name: given[name] for name in given if name not in ("run", "parser", "out")} == {
        "joint": "crank",
        "others": [],
        "set": [],
        "rate": 5.0,
        "point": None,
        "quiet": False,
        "view": None,
        "left": None,
        "right": None,
        "as": "text",
    }
    assert given["out"].name == "here"


def test_values_are_read_as_the_text_calls_them(parser):
    words = "crank a b --set q=1 --set p=-2 --point 1 2 3 --view --left 2 --out x --as json"
    given = parser.parse_args(words.split())
    assert given.set == [("q", 1.0), ("p", -2.0)]
    assert (given.others, given.point, given.view, given.left) == (["a", "b"], [1, 2, 3], 80, 2)
    assert getattr(given, "as") == "json"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("crank", "required: --out"),
        ("crank --out x --rate 0", "argument --rate: 0 is not above 0"),
        ("crank --out x --left 1 --right 1", "not allowed with argument --left"),
        ("crank --out x --as yaml", "argument --as: invalid choice"),
    ],
)
def test_what_the_text_does_not_allow_is_refused(parser, words, problem, capsys):
    with pytest.raises(SystemExit):
        parser.parse_args(words.split())
    assert problem in capsys.readouterr().err


def test_the_help_is_the_text(parser, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    said = parser.format_help()
    assert "Turn a crank {slowly}." in said
    assert "how often, 100 % of the time (default: 5)" in said
    assert "output:\n  --out DIR " in said


def test_commands_serve_where_the_view_does():
    assert option("view", "--port").default == PORT
