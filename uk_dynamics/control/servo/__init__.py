# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo controller."""

from uk_dynamics.control.servo.delay_margin import (
    ObserverMargin,
    largest_frequency,
    observer_margins,
)
from uk_dynamics.control.servo.robust_promise import Promise, known_of, promise
from uk_dynamics.control.servo.servo_controllability import servo_controllability
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.control.servo.servo_modes import (
    GRAVITY_COMPENSATION,
    HOLD,
    MODES,
    TASKS,
    ControlPeriods,
    ServoModes,
)
from uk_dynamics.control.servo.setpoint_generator import Setpoint, SetpointGenerator
from uk_dynamics.control.servo.task_gains import Gains
