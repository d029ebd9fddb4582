# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Kinematics through loops: Jacobians, transmission, singularities, inverse and forward."""

from uk_dynamics.mechanism.kinematics.force_envelope import ForceEnvelope, StaticLoads
from uk_dynamics.mechanism.kinematics.independent_coordinates import IndependentCoordinates, choose
from uk_dynamics.mechanism.kinematics.jacobian import TWIST, FrameJacobian, Transmission, twist_map
from uk_dynamics.mechanism.kinematics.kinematic_mechanism import KinematicMechanism
from uk_dynamics.mechanism.kinematics.loop_motion import LoopMotion
from uk_dynamics.mechanism.kinematics.singularities import (
    KINDS,
    Dexterity,
    Kind,
    SingularConfiguration,
    SingularityMeasures,
)
