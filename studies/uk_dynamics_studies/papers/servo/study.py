# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Liu et al., constraint-following servo control: both of its examples."""

from __future__ import annotations

from uk_dynamics_studies.papers.output.study import Study, joined
from uk_dynamics_studies.papers.servo import coordinated as servo_coordinated
from uk_dynamics_studies.papers.servo import two_mass as servo_two_mass

TITLE = (
    "Liu, Zhen, Huang, Zhao, Chen, Shao: A systematic approach for designing analytical dynamics"
    " and servo control of constrained mechanical systems (2015)"
)


def study(*, quick: bool = False) -> Study:
    """Redo the examples of sections IV to VI; quick shortens their motions."""
    parts = (servo_two_mass.study(quick=quick), servo_coordinated.study(quick=quick))
    return joined("servo", TITLE, parts)
