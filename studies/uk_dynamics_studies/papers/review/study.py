# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The review of the Udwadia–Kalaba equation: its examples."""

from __future__ import annotations

from uk_dynamics_studies.papers.output.study import Study, joined
from uk_dynamics_studies.papers.review import examples as review_examples
from uk_dynamics_studies.papers.review import flexible_arm as review_flexible_arm
from uk_dynamics_studies.papers.review import spiral as review_spiral
from uk_dynamics_studies.papers.review import swarm as review_swarm

TITLE = "Review of the Udwadia–Kalaba equation, Chinese Journal of Mechanical Engineering"


def study(*, quick: bool = False) -> Study:
    """Redo examples 2 to 4 and the examples of section 8; quick shortens their motions."""
    parts = (review_examples, review_spiral, review_swarm, review_flexible_arm)
    return joined("review", TITLE, (part.study(quick=quick) for part in parts))
