"""Liu et al., constraint-following servo control: both of its examples."""

from __future__ import annotations

from uk_dynamics.papers import servo_coordinated, servo_two_mass
from uk_dynamics.papers.study import Study, joined

TITLE = (
    "Liu, Zhen, Huang, Zhao, Chen, Shao: A systematic approach for designing analytical dynamics"
    " and servo control of constrained mechanical systems (2015)"
)


def study(*, quick: bool = False) -> Study:
    """Redo the examples of sections IV to VI; quick shortens their motions."""
    parts = (servo_two_mass.study(quick=quick), servo_coordinated.study(quick=quick))
    return joined("servo", TITLE, parts)
