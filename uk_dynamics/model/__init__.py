# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The only door to Pinocchio and URDF: masses, forces, frames, joints and limits by name."""

from uk_dynamics.model.coincident_frames import (
    NEAR,
    Coincidence,
    coincidence,
    coincident_frames,
    loop_directions,
    machine_size,
    marker_links,
)
from uk_dynamics.model.coordinates import Coordinates, LimitViolation, named_numbers
from uk_dynamics.model.floating_bases import (
    UNIT_TOLERANCE,
    FloatingBase,
    described_bases,
    in_link_axes,
)
from uk_dynamics.model.inertial_regressor import (
    PARAMETERS_OF_A_LINK,
    InertialRegressor,
    body_of_parameters,
    parameters_of,
    parameters_of_body,
    pseudo_inertia,
)
from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.model.urdf.description import AttachedFrame, Mimic
