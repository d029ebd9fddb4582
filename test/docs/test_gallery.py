# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The gallery shows every mechanism that the package ships, with commands that can be typed."""

import re
import shlex

import pytest
from support.repository import DOCS

from uk_dynamics.cli.main import build_parser
from uk_dynamics.resources import shipped_files

PAGE = (DOCS / "mechanisms.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]


def test_every_mechanism_is_shown():
    assert {name for name in shipped_files("mechanism") if f"`{name}`" not in PAGE} == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_can_be_typed(command):
    program, *arguments = shlex.split(command)
    assert program == "uk_dynamics"
    given = build_parser(arguments).parse_args(arguments)
    assert given.file in shipped_files("mechanism")
    assert given.tasks is None or given.tasks in shipped_files("tasks")


def test_pictures_and_pages_exist():
    targets = re.findall(r"\]\((\S+?)\)", PAGE)
    assert [target for target in targets if not (DOCS / target.partition("#")[0]).is_file()] == []
