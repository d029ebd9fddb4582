# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""From names in a file to frames, joints and motors of the robot."""

from uk_dynamics.arrays import Array, Flags, Indices, Values
from uk_dynamics.mechanism.resolution.actuators import Actuators, Allocation, Weights
from uk_dynamics.mechanism.resolution.constraint_resolution import resolve_forces
from uk_dynamics.mechanism.resolution.contact_shapes import (
    MOST_CORNERS,
    hollow_part,
    sphere_spacing,
    touching_points,
)
from uk_dynamics.mechanism.resolution.named_values import Point, placed
from uk_dynamics.mechanism.resolution.natural_scale import (
    LEAST_INTERPRETED,
    LEAST_VELOCITIES,
    local_structure,
)
from uk_dynamics.mechanism.resolution.parameters import (
    Parameter,
    Source,
    Varied,
    frame_origins,
    with_values,
)
from uk_dynamics.mechanism.resolution.payload import link_values
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.robot_resolution import read_description
from uk_dynamics.mechanism.resolution.state import (
    ActiveConstraints,
    BatchSolution,
    DynamicsTerms,
    Energy,
    Inputs,
    NonidealFunction,
    Plan,
    Residual,
    Rollout,
    Samples,
    State,
    States,
    Stopped,
)
from uk_dynamics.mechanism.resolution.target_pose import reference_of_pose
