# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a robot description says about dynamics: links, joints and their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
JointType = Literal["revolute", "prismatic", "fixed", "floating", "planar"]

WORLD = "world"  # may be named as a link where the robot has none of that name: what never moves
FAR = 1e9  # a limit where a file needs one and there is none, in any unit

ONE_DOF: tuple[JointType, ...] = ("revolute", "prismatic")


def _zeros() -> Array:
    return np.zeros(3)


def _identity() -> Array:
    return np.eye(3)


@dataclass(frozen=True)
class Pose:
    """Placement of a frame in its parent frame.

    Attributes:
        translation: Origin in the parent frame, (3,), in m.
        rotation: Maps vectors of this frame to the parent frame, (3, 3).
    """

    translation: Array = field(default_factory=_zeros)
    rotation: Array = field(default_factory=_identity)


@dataclass(frozen=True)
class Link:
    """A rigid body.

    Attributes:
        name: Unique among the links.
        mass: In kg; zero for a link without ``<inertial>``.
        center_of_mass: In the link frame, (3,), in m.
        inertia: About the center of mass, in axes of the link frame, (3, 3), in kg m².
    """

    name: str
    mass: float = 0.0
    center_of_mass: Array = field(default_factory=_zeros)
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True)
class Joint:
    """A joint between two links; ``continuous`` has become ``revolute`` without limits.

    Attributes:
        name: Unique among the joints.
        type: Kind of motion.
        parent: Link that carries the joint.
        child: Link that the joint moves.
        pose: Joint frame in the parent link frame; the child link frame at zero position.
        axis: Unit vector in the joint frame, (3,): of rotation, of sliding, or normal of the plane.
        lower: Lower position limit in rad or m, ``-inf`` without limit.
        upper: Upper position limit in rad or m, ``inf`` without limit.
        effort_limit: In N m or N, ``inf`` where not declared.
        velocity_limit: In rad/s or m/s, ``inf`` where not declared.
        damping: Viscous friction in N m s/rad or N s/m.
        friction: Coulomb friction in N m or N.
    """

    name: str
    type: JointType
    parent: str
    child: str
    pose: Pose = field(default_factory=Pose)
    axis: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    lower: float = -np.inf
    upper: float = np.inf
    effort_limit: float = np.inf
    velocity_limit: float = np.inf
    damping: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: position = multiplier * source + offset.

    Attributes:
        joint: Name of the joint that follows.
        source: Name of the joint that leads.
        multiplier: Ratio of the two positions.
        offset: In rad or m.
    """

    joint: str
    source: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class LoopJoint:
    """A joint that closes a loop: two frames, and what stays free between them.

    Attributes:
        name: Name of the element.
        type: As the element has it: revolute, fixed, spherical …
        parent: Name of a link.
        parent_pose: Frame of the joint in it.
        child: Name of another link.
        child_pose: Frame of the joint in that; both frames coincide where the loop is closed,
            but for the motion of the joint.
        axes: Unit axes in the frame of the joint: the first fixed in the parent, a second one in
            the child.
        pitch: Of a screw, in m per turn, positive for a right-handed thread.
    """

    name: str
    type: str
    parent: str
    parent_pose: Pose
    child: str
    child_pose: Pose
    axes: tuple[Array, ...] = ()
    pitch: float = 0.0


@dataclass(frozen=True)
class Coupling:
    """Joints that move in a fixed ratio: the weighted sum of their positions is zero.

    Attributes:
        name: Name of the element.
        joints: Factor of each joint, by name.
    """

    name: str
    joints: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class ClosedLoops:
    """All that closes loops in a description.

    Attributes:
        joints: Joints of loops.
        couplings: Joints that move in a fixed ratio.
        warnings: What is not carried over, or stands there in another form.
    """

    joints: tuple[LoopJoint, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class RobotDescription:
    """A checked tree of links and joints.

    Attributes:
        name: Name of the robot.
        source: Where it came from, for messages.
        root: Name of the link without parent.
        links: In the order of the file.
        joints: Depth first from the root, siblings in the order of the file.
        mimics: The ``<mimic>`` records.
        loops: What closes loops between the links.
        warnings: What is legal but probably not meant.
        text: The URDF text as read, xacro expanded.
        without_effort: Joints whose effort limit is 0, which counts as not declared.
    """

    name: str
    source: str
    root: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    mimics: tuple[Mimic, ...] = ()
    loops: ClosedLoops = ClosedLoops()
    warnings: tuple[str, ...] = ()
    text: str = ""
    without_effort: tuple[str, ...] = ()


@dataclass(frozen=True)
class AttachedFrame:
    """A named frame fixed in a link.

    Attributes:
        name: Must differ from every link name.
        link: Link (or earlier attached frame) that carries it.
        xyz: Origin in the link frame, in m.
        quaternion: Orientation in the link frame, (x, y, z, w); normalised when used.
    """

    name: str
    link: str
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
