"""The pages about inverse dynamics and limits: their programs run and print what they show."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = ("inverse_dynamics", "motor_limits")


def text(page):
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def block(page, language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_program_prints_what_the_page_shows(page, tmp_path, capsys):
    program = block(page, "python")
    if "TASKS" in program:
        file = tmp_path / "lift.yaml"
        file.write_text(block(page, "yaml"))
        program = program.replace("TASKS", str(file))
    exec(compile(program, f"docs/{page}.md", "exec"), {})
    assert capsys.readouterr().out == block(page, "text")


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_it_speaks_of_exist(page):
    for target in re.findall(r"\]\((?!https)(\S+?)\)", text(page)):
        assert (DOCS / target).is_file(), target
