# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the rows of a constraint follow over time."""

from uk_dynamics.constraints.references.references import (
    Constant,
    ExpressionReference,
    Followed,
    Live,
    Reference,
    References,
    ReferenceSample,
    ReferenceSet,
    Sinusoid,
)
from uk_dynamics.constraints.references.spline_reference import Spline
from uk_dynamics.constraints.references.trajectory_reference import (
    Pace,
    Polynomial,
    Trajectory,
    Waypoints,
    approach,
)
