# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The study of every paper, shortened: what must hold does, figures have units, pages exist."""

from __future__ import annotations

import inspect
import pkgutil
import re
from functools import cache

import pytest
from support.repository import DOCS

from uk_dynamics_studies import papers
from uk_dynamics_studies.papers import PAPERS, reproduce

PAGES = DOCS / "papers"
quick_study = cache(lambda paper: reproduce(paper, quick=True))
LONG = ("de_falco", "servo")  # the others in every run
of_every_paper = pytest.mark.parametrize(
    "paper",
    [
        pytest.param(
            paper, marks=[pytest.mark.together(paper)] + [pytest.mark.slow] * (paper in LONG)
        )
        for paper in PAPERS
    ],
)


@pytest.mark.slow
@of_every_paper
def test_what_must_hold_does(paper):
    result = quick_study(paper)
    assert result.paper == paper
    assert result.tables
    assert result.findings
    assert result.bounds
    assert [bound for bound in result.bounds if not bound.holds] == []


@pytest.mark.slow
@of_every_paper
def test_every_axis_has_its_unit(paper):
    figures = pytest.importorskip("matplotlib.figure")
    for figure in quick_study(paper).figures:
        canvas = figures.Figure()
        figure.draw(canvas)
        assert canvas.axes
        for axes in canvas.axes:
            labels = [axes.get_ylabel()] + [
                axes.get_xlabel()
            ] * axes.get_subplotspec().is_last_row()
            for label in labels:
                assert re.search(r"\[.+\]", label), f"{figure.name}: no unit in {label!r}"


@pytest.mark.slow
@of_every_paper
def test_its_page_shows_what_the_study_shows(paper):
    page = (PAGES / f"{paper}.md").read_text()
    for title in [table.title for table in quick_study(paper).all_tables]:
        assert f"### {title}\n" in page, (
            f"run: uk_dynamics reproduce {paper} --markdown --out {PAGES}"
        )
    for figure in quick_study(paper).figures:
        assert f"({paper}/{figure.name}.png)" in page
    for picture in re.findall(r"\((\w+/\w+\.png)\)", page):
        assert (PAGES / picture).is_file()


def test_the_index_lists_every_page():
    index = (PAGES / "README.md").read_text()
    listed = set(re.findall(r"\((\w+)\.md\)", index))
    assert listed == set(PAPERS)
    assert listed | {"README"} == {page.stem for page in PAGES.glob("*.md")}


def test_no_module_takes_the_place_of_a_function():
    """Importing a module puts its name into the package, over whatever was there."""
    offered = {name for name, value in vars(papers).items() if inspect.isfunction(value)}
    assert "reproduce" in offered
    assert offered & {module.name for module in pkgutil.iter_modules(papers.__path__)} == set()
