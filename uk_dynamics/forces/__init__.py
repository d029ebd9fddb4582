# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Forces that a mechanism file declares: springs, dampers, constant efforts, joint friction."""

from uk_dynamics.forces.force_elements import (
    ConstantEffort,
    ConstantWrench,
    ExpressionEffort,
    ForceElement,
    ForceElements,
    JointSpring,
    LineSpring,
)
from uk_dynamics.forces.friction import (
    FrictionalJoint,
    FrictionLaw,
    JointFriction,
    SlidingFriction,
    SlidingPair,
)
