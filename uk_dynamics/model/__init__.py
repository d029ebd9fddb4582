"""The only door to Pinocchio and URDF: masses, forces, frames, joints and limits by name."""

from uk_dynamics.model.kinematics.workspace import Workspace
from uk_dynamics.model.passive import JointForces, PassiveForces
from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.model.urdf.description import AttachedFrame, Mimic

__all__ = [
    "AttachedFrame",
    "JointForces",
    "Mimic",
    "PassiveForces",
    "RobotModel",
    "Workspace",
]
