# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The page about solvers: its program runs, its file is valid, and nothing is left out."""

import re
from typing import get_args

from support.repository import DOCS

from uk_dynamics.core.equation.published.pseudoinverse import ALGORITHMS
from uk_dynamics.core.equation.solution import FOR_SINGULAR_MASS, Method, Status
from uk_dynamics.mechanism.files import MechanismSpec, SolverSpec

PAGE = (DOCS / "solver.md").read_text(encoding="utf-8")


def block(language):
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    return text


def rows():
    """What the first cells of tables name, with the last cells."""
    cells = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| `")]
    return {name: row[-1].strip() for row in cells for name in re.findall(r"`(\w+)`", row[0])}


def test_every_form_algorithm_and_status_is_explained():
    expected = {*get_args(Method), *ALGORITHMS, *(status.name for status in Status)}
    assert expected - set(rows()) == set()


def test_forms_for_singular_masses_are_those_of_the_page():
    singular = {name for name, mass in rows().items() if mass == "may be singular"}
    assert singular == set(FOR_SINGULAR_MASS)


def test_the_file_says_the_defaults():
    assert MechanismSpec.from_text(f"schema: 1\n{block('yaml')}").solver == SolverSpec()
