"""The review of the Udwadia–Kalaba equation: its examples."""

from __future__ import annotations

from uk_dynamics.papers import (
    review_examples,
    review_flexible_arm,
    review_spiral,
    review_swarm,
)
from uk_dynamics.papers.study import Study, joined

TITLE = "Review of the Udwadia–Kalaba equation, Chinese Journal of Mechanical Engineering"


def study(*, quick: bool = False) -> Study:
    """Redo examples 2 to 4 and the examples of section 8; quick shortens their motions."""
    parts = (review_examples, review_spiral, review_swarm, review_flexible_arm)
    return joined("review", TITLE, (part.study(quick=quick) for part in parts))
