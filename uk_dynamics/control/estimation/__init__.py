# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""States, independent joints and external forces from measurements, through the loops."""

from uk_dynamics.control.estimation.attitude_filter import AttitudeFilter
from uk_dynamics.control.estimation.corrections import Corrections, Estimate
from uk_dynamics.control.estimation.encoder_readings import EncoderReadings
from uk_dynamics.control.estimation.frozen_position import SLIDING, FrozenPositionWatch
from uk_dynamics.control.estimation.independent_joints import IndependentJoints, allowed_motions
from uk_dynamics.control.estimation.leg_odometry import LegOdometry
from uk_dynamics.control.estimation.state_completion import (
    JUMP,
    LARGEST_MISFIT,
    SINGULAR_TOLERANCE,
    EstimationStatus,
    JointStateEstimate,
    StateCompletion,
)
from uk_dynamics.control.estimation.wrench_observer import ExternalForces, WrenchObserver
