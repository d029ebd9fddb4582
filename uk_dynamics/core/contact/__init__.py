# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One-sided constraints: contacts with dry friction, stops, ropes."""

from uk_dynamics.core.contact import alternating_directions, cone_problem
from uk_dynamics.core.contact.cone_problem import (
    ConeProblem,
    ConeSolution,
    Mode,
    solve_cone_problem,
)
from uk_dynamics.core.contact.friction_cone import conditions, project_on_cones, steps
