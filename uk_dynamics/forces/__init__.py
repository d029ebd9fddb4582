# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Forces that act by themselves: springs, dampers, constant efforts, friction, soft stops."""

from uk_dynamics.forces.force_elements import (
    ConstantEffort,
    ConstantWrench,
    ExpressionEffort,
    ForceElement,
    ForceElements,
    JointSpring,
    LineSpring,
)
from uk_dynamics.forces.joint_friction_and_springs import JointForces, PassiveForces
from uk_dynamics.forces.loop_and_contact_friction import (
    FrictionalJoint,
    FrictionLaw,
    JointFriction,
    SlidingFriction,
    SlidingPair,
)
