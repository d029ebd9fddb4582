"""What holds between the coordinates of joints."""

from uk_dynamics.constraints.kinds.joints.expression import Expression
from uk_dynamics.constraints.kinds.joints.joint_coupling import JointCoupling

__all__ = [
    "Expression",
    "JointCoupling",
]
