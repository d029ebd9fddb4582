# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The documentation as a site: it is built without a warning, and says what the code says."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import setuptools
from support.repository import ROOT

import uk_dynamics
from docs import generate
from docs.generators import command_page

DOCS = ROOT / "docs"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs Sphinx, MyST and Furo")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    result = subprocess.run(
        [*command, str(DOCS), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    pages -= {Path("README.html")}  # is part of index.html
    listed = (generate.REFERENCE / "api.md").read_text(encoding="utf-8")
    for name in re.findall(r"^\| \**\[`(\w+)`\]", listed, re.MULTILINE):
        page = "errors" if name in vars(uk_dynamics.exceptions) else name
        path = tmp_path / "reference" / "api" / f"{page}.html"
        assert f'{name}">' in path.read_text(encoding="utf-8"), name  # the anchor of its signature
    assert [page for page in pages if not (tmp_path / page).is_file()] == []
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert [page for page in pages if page.parent == Path() and f'"{page}"' not in index] == []


@pytest.mark.parametrize("name", generate.PAGES)
def test_generated_pages_say_what_the_code_says(name: str) -> None:
    if name == "commands":
        pytest.importorskip("rclpy", reason="some commands need ROS")
    page = (generate.REFERENCE / f"{name}.md").read_text(encoding="utf-8")
    assert page == generate.text(name), "run: python -m docs.generate"


@pytest.mark.parametrize("name", generate.BLOCKS)
def test_generated_parts_of_pages_say_what_the_code_says(name: str) -> None:
    path, page = generate.with_block(name)
    assert path.read_text(encoding="utf-8") == page, "run: python -m docs.generate"


def test_the_page_of_commands_has_those_that_need_ros(monkeypatch: pytest.MonkeyPatch) -> None:
    build: dict[str, dict[str, list[str]]] = {}
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(setuptools, "setup", lambda **given: build.update(given))
    runpy.run_path("setup.py")
    declared = build["entry_points"]["uk_dynamics.commands"]
    registered = {entry.split(" = ")[1] for entry in declared}
    assert registered == {name for name in command_page.ADDED if name.startswith("uk_dynamics.")}


def test_the_page_about_python_has_every_public_name() -> None:
    page = (generate.REFERENCE / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (\**)\[`(\w+)`\]", page, re.MULTILINE)
    assert {name for bold, name in listed if bold} == set(uk_dynamics.__all__) - {"__version__"}
