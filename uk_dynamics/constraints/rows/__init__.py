# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The shared mathematics of constraint rows."""

from uk_dynamics.constraints.rows.constraint_set import ConstraintSet
from uk_dynamics.constraints.rows.convex_hulls import (
    HULL_CONSTANTS,
    POINTS,
    TOUCH,
    HeldFeatures,
    Hull,
    HullPair,
)
from uk_dynamics.constraints.rows.frame_rows import ContactRow
from uk_dynamics.constraints.rows.height_rows import HeightField, HeightRow, HeightRows
from uk_dynamics.constraints.rows.hull_rows import HullRow, HullRows
from uk_dynamics.constraints.rows.joint_rows import (
    JointRow,
    JointTerm,
    joint_terms,
    sums_of_joints,
    weighted_joints,
)
from uk_dynamics.constraints.rows.mass_points import MassPoints
from uk_dynamics.constraints.rows.relative_motion import (
    AncestorMask,
    FrameKinematics,
    FramePairs,
    RelativeTwist,
    relative_twist,
)
from uk_dynamics.constraints.rows.rope_rows import RopeRow
from uk_dynamics.constraints.rows.rotation_vector_rows import RotationVectorRows
from uk_dynamics.constraints.rows.round_rows import BoxRow, Round, RoundRow
from uk_dynamics.constraints.rows.row import (
    Constraint,
    ConstraintTerms,
    FrameRow,
    FrameRows,
    RowFrames,
)
from uk_dynamics.constraints.rows.sparse_constraint_set import SparseConstraintSet
from uk_dynamics.constraints.rows.vectors import apply, cross, dot
