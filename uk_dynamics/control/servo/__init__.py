"""The servo controller."""

from uk_dynamics.control.servo.servo_controllability import servo_controllability
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.control.servo.servo_modes import GRAVITY_COMPENSATION, MODES, TASKS, ServoModes
from uk_dynamics.control.servo.setpoint_generator import Setpoint, SetpointGenerator
from uk_dynamics.control.servo.task_gains import Gains

__all__ = [
    "GRAVITY_COMPENSATION",
    "MODES",
    "TASKS",
    "Gains",
    "ServoController",
    "ServoModes",
    "Setpoint",
    "SetpointGenerator",
    "servo_controllability",
]
