# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Notebooks: their code runs from top to bottom, and they are stored without outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.repository import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(pyplot, "show", lambda **_: None)  # no screen, as in a notebook
    names: dict[str, object] = {"__name__": path.stem}
    for cell in cells(path):
        if cell["cell_type"] == "code":
            place = f"{path.name}, {cell['id']}"
            exec(compile("".join(cell["source"]), place, "exec"), names)
    pyplot.close("all")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path):
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
