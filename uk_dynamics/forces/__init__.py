"""Forces that a mechanism file declares: springs, dampers, constant efforts, joint friction."""

from uk_dynamics.forces.constant_forces import ConstantEffort, ConstantWrench
from uk_dynamics.forces.expression_efforts import ExpressionEffort
from uk_dynamics.forces.force_elements import ForceElement, ForceElements
from uk_dynamics.forces.joint_friction import FrictionalJoint, FrictionLaw, JointFriction
from uk_dynamics.forces.joint_springs import JointSpring
from uk_dynamics.forces.line_springs import LineSpring

__all__ = [
    "ConstantEffort",
    "ConstantWrench",
    "ExpressionEffort",
    "ForceElement",
    "ForceElements",
    "FrictionLaw",
    "FrictionalJoint",
    "JointFriction",
    "JointSpring",
    "LineSpring",
]
