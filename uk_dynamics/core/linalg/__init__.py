# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rank rule, row basis, mass factors, definite systems, rotations."""

from uk_dynamics.core.linalg import rank_rule
from uk_dynamics.core.linalg.definite_system import definite_solve, metric_square, mirrored
from uk_dynamics.core.linalg.mass_factor import (
    MASSLESS,
    NO_INERTIA,
    DenseMass,
    SingularMass,
    coordinate_scale,
    mass_factor,
)
from uk_dynamics.core.linalg.rank_rule import (
    BEYOND,
    DEFAULT_CONSISTENCY_TOLERANCE,
    DEFAULT_RANK_TOLERANCE,
    DEFAULT_TASK_RANK_TOLERANCE,
    EXACTLY_DEPENDENT,
    FARTHEST_BEYOND,
    KERNEL_ROUNDING,
    LEAST_PART,
    LEAST_RANGE_SPACE_TOLERANCE,
    LOOSEST,
    NEGLIGIBLE_ACCELERATION,
    SAFE_MARGIN,
    SAFE_ROUNDING,
    TINY,
    ZERO_ROW,
    tie_handicap,
)
from uk_dynamics.core.linalg.rotations import of_unit_quaternion, skew, to_quaternion
from uk_dynamics.core.linalg.row_basis import RowBasis, null_basis, spanning_rows
from uk_dynamics.core.linalg.symbolic_functions import (
    Table,
    above,
    at_least,
    below,
    choose,
    cosine,
    is_symbolic,
    looked_up,
    nearest_integer,
    polar_angle,
    sine,
    square_root,
    where,
)
