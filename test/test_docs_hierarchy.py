"""The page on levels, compliance and switching does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from uk_dynamics.mechanism.specification import MechanismSpec

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "hierarchy.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("program", blocks("python"))
def test_programs_run(program, capsys):
    exec(compile(program, "docs/hierarchy.md", "exec"), {})
    assert capsys.readouterr().out


@pytest.mark.parametrize("text", blocks("yaml"))
def test_files_are_valid(text):
    assert MechanismSpec.from_text("schema: 1\n" + text).constraints
