# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

from uk_dynamics.control.command import Command, MotorCommand
from uk_dynamics.control.delay_compensation import DelayPrediction
from uk_dynamics.control.encoder_feedback import EncoderFeedback
from uk_dynamics.control.internal_efforts import checked_internal_efforts
from uk_dynamics.control.inverse_dynamics import InverseDynamics
from uk_dynamics.control.limits.motor_limits import reachable_acceleration
