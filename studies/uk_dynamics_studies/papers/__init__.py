# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The papers this package implements: the study of each, redone.

Every paper is a folder with ``study(*, quick=False) -> Study`` in ``study.py``, imported on
demand; ``quick`` shortens it to a few seconds, for tests.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from uk_dynamics.exceptions import UnknownNameError

if TYPE_CHECKING:
    from uk_dynamics_studies.papers.output.study import Study

#: What each paper is about, by its name here.
PAPERS = {
    "review": "the Udwadia-Kalaba equation: spiral, swarm, flexible joints",
    "de_falco": "five pseudoinverses on an over-constrained five-bar",
    "servo": "servo constraints: two masses and a spring, two robots with one load",
    "parallel": "a redundantly actuated parallel manipulator",
    "orsino": "recursive modelling in levels: the 3RRR manipulator",
    "iftomm": "the IFToMM benchmark problems with rigid bodies: pendulum to governor",
}


def reproduce(paper: str, *, quick: bool = False) -> Study:
    """Redo the study of a paper."""
    if paper not in PAPERS:
        raise UnknownNameError("paper", paper, PAPERS)
    module = importlib.import_module(f"{__name__}.{paper}.study")
    result: Study = module.study(quick=quick)
    return result
