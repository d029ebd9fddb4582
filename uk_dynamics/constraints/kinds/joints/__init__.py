# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What holds between the coordinates of joints."""

from uk_dynamics.constraints.kinds.joints.expression import Expression
from uk_dynamics.constraints.kinds.joints.joint import Joint
from uk_dynamics.constraints.kinds.joints.joint_coupling import JointCoupling
from uk_dynamics.constraints.kinds.joints.rack_and_pinion import RackAndPinion
