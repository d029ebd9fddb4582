# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A tree of links and joints as a robot description has it, and which inertias a body can have."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.did_you_mean import instead, some
from uk_dynamics.exceptions import CodedWarning, UrdfError

JointType = Literal["revolute", "prismatic", "fixed", "floating", "planar"]

WORLD = "world"  # may be named as a link where the robot has none of that name: what never moves
FAR = 1e9  # a limit where a file needs one and there is none, in any unit

ONE_DOF: tuple[JointType, ...] = ("revolute", "prismatic")


@dataclass(frozen=True)
class Pose:
    """Placement of a frame in its parent frame."""

    # origin in the parent frame, (3,), in m
    translation: Array = field(default_factory=lambda: np.zeros(3))
    # maps vectors of this frame to the parent frame, (3, 3)
    rotation: Array = field(default_factory=lambda: np.eye(3))


@dataclass(frozen=True)
class Link:
    """A rigid body."""

    name: str  # unique among the links
    mass: float = 0.0  # in kg; zero for a link without ``<inertial>``
    # in the link frame, (3,), in m
    center_of_mass: Array = field(default_factory=lambda: np.zeros(3))
    # about the center of mass, in axes of the link frame, (3, 3), in kg m²
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True)
class Joint:
    """A joint between two links; ``continuous`` has become ``revolute`` without limits."""

    name: str  # unique among the joints
    type: JointType  # kind of motion
    parent: str  # link that carries the joint
    child: str  # link that the joint moves
    # joint frame in the parent link frame; the child link frame at zero position
    pose: Pose = field(default_factory=Pose)
    # unit vector in the joint frame, (3,): of rotation, of sliding, or normal of the plane
    axis: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    lower: float = -np.inf  # lower position limit in rad or m, ``-inf`` without limit
    upper: float = np.inf  # upper position limit in rad or m, ``inf`` without limit
    effort_limit: float = np.inf  # in N m or N, ``inf`` where not declared
    velocity_limit: float = np.inf  # in rad/s or m/s, ``inf`` where not declared
    damping: float = 0.0  # viscous friction in N m s/rad or N s/m
    friction: float = 0.0  # Coulomb friction in N m or N


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: position = multiplier * source + offset."""

    joint: str  # name of the joint that follows
    source: str  # name of the joint that leads
    multiplier: float = 1.0  # ratio of the two positions
    offset: float = 0.0  # in rad or m


@dataclass(frozen=True)
class LoopJoint:
    """A joint that closes a loop: two frames, and what stays free between them."""

    name: str  # name of the element
    type: str  # as the element has it: revolute, fixed, spherical …
    parent: str  # name of a link
    parent_pose: Pose  # frame of the joint in it
    child: str  # name of another link
    # frame of the joint in that; both frames coincide where the loop is closed, but for the motion
    # of the joint
    child_pose: Pose
    # unit axes in the frame of the joint: the first fixed in the parent, a second one in the child
    axes: tuple[Array, ...] = ()
    pitch: float = 0.0  # of a screw, in m per turn, positive for a right-handed thread


@dataclass(frozen=True)
class Coupling:
    """Joints that move in a fixed ratio: the weighted sum of their positions is zero."""

    name: str  # name of the element
    joints: tuple[tuple[str, float], ...]  # factor of each joint, by name


@dataclass(frozen=True)
class ClosedLoops:
    """All that closes loops in a description."""

    joints: tuple[LoopJoint, ...] = ()  # joints of loops
    couplings: tuple[Coupling, ...] = ()  # joints that move in a fixed ratio
    warnings: tuple[str, ...] = ()  # what is not carried over, or stands there in another form


@dataclass(frozen=True)
class RobotDescription:
    """A checked tree of links and joints."""

    name: str  # name of the robot
    source: str  # where it came from, for messages
    root: str  # name of the link without parent
    links: tuple[Link, ...]  # in the order of the file
    joints: tuple[Joint, ...]  # depth first from the root, siblings in the order of the file
    mimics: tuple[Mimic, ...] = ()  # the ``<mimic>`` records
    loops: ClosedLoops = ClosedLoops()  # what closes loops between the links
    warnings: tuple[str, ...] = ()  # what is legal but probably not meant
    text: str = ""  # the URDF text as read, xacro expanded
    # joints whose effort limit is 0, which counts as not declared
    without_effort: tuple[str, ...] = ()


@dataclass(frozen=True)
class AttachedFrame:
    """A named frame fixed in a link."""

    name: str  # must differ from every link name
    link: str  # link (or earlier attached frame) that carries it
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)  # origin in the link frame, in m
    # orientation in the link frame, (x, y, z, w); normalised when used
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)


CLOSE_IN_MECHANISM = "keep one and close the loop under `constraints` of the mechanism file"


def order_joints(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[str, tuple[Joint, ...]]:
    """Find the root link and sort the joints depth first, siblings in the order of the file.

    Raises UrdfError: No link, unknown or repeated links, several roots, or a cycle.
    """
    if not links:
        raise UrdfError("there is no <link>; a robot has at least one")
    by_parent = _check_ends([link.name for link in links], joints)
    children = {joint.child for joint in joints}
    roots = [link.name for link in links if link.name not in children]
    if len(roots) > 1:
        problem = f"the links {some(roots, 6)} have no parent; connect them by joints to one root"
        raise UrdfError(problem)
    ordered: list[Joint] = []
    waiting = list(reversed(by_parent.get(roots[0], []))) if roots else []
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += reversed(by_parent.get(joint.child, []))
    if len(ordered) < len(joints):
        reached = {joint.name for joint in ordered}
        cycle = some((joint.name for joint in joints if joint.name not in reached), 6)
        raise UrdfError(f"the joints {cycle} form a cycle; {CLOSE_IN_MECHANISM}")
    return roots[0], tuple(ordered)


def _check_ends(links: Sequence[str], joints: Sequence[Joint]) -> dict[str, list[Joint]]:
    known = set(links)
    mover: dict[str, str] = {}
    by_parent: dict[str, list[Joint]] = {}
    for joint in joints:
        place = f"joint {joint.name}"
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in known:
                raise UrdfError(f'no {role} link "{link}"; {instead(link, links)}', place=place)
        if joint.parent == joint.child:
            raise UrdfError(f"parent and child are both {joint.parent}", place=place)
        if joint.child in mover:
            raise UrdfError(
                f"link {joint.child} already is the child of joint {mover[joint.child]};"
                f" {CLOSE_IN_MECHANISM}",
                place=place,
            )
        mover[joint.child] = joint.name
        by_parent.setdefault(joint.parent, []).append(joint)
    return by_parent


def check_mimics(mimics: Iterable[Mimic], joints: Sequence[Joint]) -> None:
    """Every mimic joint must lead to a free joint through one-dof joints. Raises UrdfError."""
    by_name = {joint.name: joint for joint in joints}
    source = {mimic.joint: mimic.source for mimic in mimics}
    for follower in source:
        place = f"joint {follower}"
        passed = [follower]
        while passed[-1] in source:
            leader = source[passed[-1]]
            if leader not in by_name:
                remedy = instead(leader, by_name)
                raise UrdfError(f'no joint "{leader}" to mimic; {remedy}', place=place)
            if leader in passed:
                raise UrdfError(f"mimics itself through {', '.join(passed)}", place=place)
            passed.append(leader)
        for name in passed:
            if by_name[name].type not in ONE_DOF:
                raise UrdfError(
                    f"{name} is {by_name[name].type} and cannot be mimicked", place=place
                )


def moves_no_mass(links: Iterable[Link], ordered: Sequence[Joint]) -> list[str]:
    """Names of the moving joints beyond which there is neither mass nor inertia."""
    heavy = {link.name for link in links if link.mass or link.inertia.any()}
    massless = []
    for joint in reversed(ordered):
        if joint.child in heavy:
            heavy.add(joint.parent)
        elif joint.type != "fixed":
            massless.append(joint.name)
    return massless[::-1]


RELATIVE_ROUNDING = 1e-6  # files carry six digits
_SMALL = 1e-12  # m², radius of gyration of 1 µm squared: CAD writes rounding where it means zero


def inertia_problem(mass: float, inertia: Array) -> tuple[str, bool]:
    """Look for what no distribution of mass has: a message, and whether dynamics are nonsense then.

    The inertia is about the center of mass, symmetric, (3, 3), in kg m². All is well: an empty one.
    """
    moments = np.linalg.eigvalsh(inertia)
    rounding = RELATIVE_ROUNDING * float(np.abs(moments).max()) + _SMALL * mass
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    if moments[0] < -rounding:
        return f"the inertia is not positive definite: principal moments {shown} kg m²", True
    if moments[2] > moments[0] + moments[1] + rounding:
        return (
            f"no body has principal moments {shown} kg m²: one exceeds the sum of the others",
            False,
        )
    if mass == 0.0 and moments[2] > 0.0:
        return "it has inertia but no mass", False
    return "", False


def outweighed(links: Iterable[Link], joints: Iterable[Joint], names: Iterable[str]) -> list[str]:
    """Warnings for links with impossible inertia that vanish in the body they are fixed to.

    Only whole rigid bodies, links joined by fixed joints, enter the mass matrix: it is positive
    semi-definite if the principal moments of each of them are not negative.

    names: Links whose dynamics alone would be nonsense. Raises UrdfError: The body as a whole is
    impossible too.
    """
    by_name = {link.name: link for link in links}
    fixed = [joint for joint in joints if joint.type == "fixed"]
    above = {joint.child: joint for joint in fixed}
    below: dict[str, list[Joint]] = {}
    for joint in fixed:
        below.setdefault(joint.parent, []).append(joint)
    warnings: list[str] = []
    for name in names:
        top = name
        while top in above:
            top = above[top].parent
        problem, _ = inertia_problem(by_name[name].mass, by_name[name].inertia)
        mass, inertia = _whole(list(_parts(top, Pose(), by_name, below)))
        if inertia_problem(mass, inertia)[1]:
            raise UrdfError(problem, place=f"link {name}")
        text = (
            f"link {name}: {problem}; used as it is, since the body it is fixed to ({top})"
            " outweighs it; export its inertia from CAD again, or leave its <inertial> out"
        )
        warnings.append(CodedWarning(text, "inertia"))
    return warnings


def _parts(
    name: str, pose: Pose, links: dict[str, Link], below: dict[str, list[Joint]]
) -> Iterator[tuple[float, Array, Array]]:
    """Mass, centre and inertia about it of each link of a body, in axes of its first link."""
    link, turn = links[name], pose.rotation
    yield link.mass, pose.translation + turn @ link.center_of_mass, turn @ link.inertia @ turn.T
    for joint in below.get(name, ()):
        place = pose.translation + turn @ joint.pose.translation
        yield from _parts(joint.child, Pose(place, turn @ joint.pose.rotation), links, below)


def _whole(parts: list[tuple[float, Array, Array]]) -> tuple[float, Array]:
    """Mass of a body, and its inertia about its centre of mass, (3, 3)."""
    mass = sum(part[0] for part in parts)
    inertia: Array = np.sum([part[2] for part in parts], axis=0)
    if mass:
        center = np.sum([m * c for m, c, _ in parts], axis=0) / mass
        for m, c, _ in parts:
            arm = c - center
            inertia = inertia + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, inertia
