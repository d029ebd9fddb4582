from uk_dynamics.control.command import Command, MotorCommand
from uk_dynamics.control.internal_efforts import checked_internal_efforts
from uk_dynamics.control.inverse_dynamics import InverseDynamics

__all__ = [
    "Command",
    "InverseDynamics",
    "MotorCommand",
    "checked_internal_efforts",
]
