"""The page about motors and tasks: its program runs and prints what the page shows."""

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "servo.md").read_text(encoding="utf-8")


def block(language):
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    return text


def test_the_program_prints_what_the_page_shows(capsys):
    exec(compile(block("python"), "docs/servo.md", "exec"), {})
    assert capsys.readouterr().out == block("text")


def test_the_pages_it_speaks_of_exist():
    for target in re.findall(r"\]\((\S+?)\)", PAGE):
        assert (Path(__file__).resolve().parent.parent / "docs" / target).is_file()
