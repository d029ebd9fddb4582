# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""From URDF text to a checked description of links and joints."""

from uk_dynamics.model.urdf.actuation_tags import ActuationTag, actuation_tags
from uk_dynamics.model.urdf.closed_loops import LOOP_TAGS, bushing_joint
from uk_dynamics.model.urdf.description import (
    FAR,
    ONE_DOF,
    WORLD,
    Array,
    AttachedFrame,
    ClosedLoops,
    Joint,
    JointType,
    Link,
    LoopJoint,
    Pose,
    RobotDescription,
    inertia_problem,
    moves_no_mass,
)
from uk_dynamics.model.urdf.reading import read_urdf, read_urdf_text
from uk_dynamics.model.urdf.rotation import (
    about_axis,
    compose,
    from_quaternion,
    from_rpy,
    inverse,
    relative,
    to_rpy,
    turning_to,
)
from uk_dynamics.model.urdf.schema import finite_numbers
from uk_dynamics.model.urdf.source import LARGEST_DESCRIPTION, read_source
from uk_dynamics.model.urdf.visuals import (
    GREY,
    Appearance,
    Box,
    Cylinder,
    MeshFile,
    Numbers,
    Shape,
    Sphere,
    Visual,
    appearance,
    collision_shapes,
)
from uk_dynamics.model.urdf.xml_text import parse_xml
