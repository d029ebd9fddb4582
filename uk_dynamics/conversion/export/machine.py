# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as all writers need it: what its two files say, put together."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.constraints.kinds import Kind
from uk_dynamics.constraints.kinds.pairs import Universal
from uk_dynamics.conversion.robot.imported_robot import Remark, Remarks, named
from uk_dynamics.exceptions import InputError, SimulationError
from uk_dynamics.mechanism.files import FrameSpec, JointSpec
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism


@dataclass(frozen=True)
class Motor:
    """A motor, with the factor of its effort on each joint, and its limit, perhaps infinite."""

    name: str
    joints: tuple[tuple[str, float], ...]
    effort_limit: float

    @property
    def only_joint(self) -> str:
        """The one joint that it drives; empty where it drives several."""
        return self.joints[0][0] if len(self.joints) == 1 else ""

    @property
    def gear(self) -> float:
        """Factor of its effort on its one joint."""
        return self.joints[0][1]


@dataclass(frozen=True)
class Closure:
    """What closes a loop: a kind that the format has, between two frames."""

    name: str  # of the constraint
    kind: Kind  # its kind, with the keys of that kind
    parent: tuple[str, urdf.Pose]  # link and pose in it, to which axes refer
    child: tuple[str, urdf.Pose]  # link and pose in it
    active: bool = True  # whether it holds at the start
    switchable: bool = False  # whether it can be switched on and off

    def exchanged(self) -> "Closure":
        """The closure with parent and child exchanged."""
        kind = self.kind
        if isinstance(kind, Universal):
            kind = Universal(kind.child_axis, kind.parent_axis)
        return replace(self, kind=kind, parent=self.child, child=self.parent)


@dataclass(frozen=True)
class Coupling:
    """A weighted sum of joint positions that is held."""

    name: str
    joints: tuple[tuple[str, float], ...]
    offset: float = 0.0  # in rad or m
    active: bool = True
    mimic: bool = False  # whether the URDF says so itself


@dataclass(frozen=True)
class Machine(Remarks):
    """A mechanism on its way to another format."""

    mechanism: Mechanism  # as it is resolved
    links: tuple[urdf.Link, ...]  # the root first
    joints: tuple[urdf.Joint, ...]  # parents first, with damping and friction of the mechanism file
    extras: Mapping[str, JointSpec]  # what else the mechanism file says of joints, by name
    motors: tuple[Motor, ...]  # in declared order
    visuals: tuple[urdf.Visual, ...]  # shapes of the links
    remarks: list[Remark] = field(default_factory=list)  # what is not as it was; writers add theirs
    # positions of joints that the format calls zero, in rad or m; none: the same
    zero: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, mechanism: Mechanism) -> "Machine":
        """Put the files of a mechanism together."""
        spec, description = mechanism.spec, mechanism.model.description
        given = dict(spec.joints)
        joints = []
        for joint in description.joints:
            data = given.get(joint.name, JointSpec())
            damping = joint.damping if data.damping is None else data.damping
            friction = joint.friction if data.friction is None else data.friction
            joints.append(replace(joint, damping=damping, friction=friction))
        limits = mechanism.actuators.effort_limits.tolist()
        motors = tuple(
            Motor(motor.name, motor.joints, limit)
            for motor, limit in zip(spec.actuators, limits, strict=True)
        )
        look = urdf.appearance(description, spec.urdf_path().parent if spec.model.urdf else None)
        root = [link for link in description.links if link.name == description.root]
        others = [link for link in description.links if link.name != description.root]
        machine = cls(mechanism, (*root, *others), tuple(joints), given, motors, look.visuals)
        for problem in look.problems:
            place, _, reason = problem.partition(": visual: ")
            machine.lost(place, f"a visual: {reason}")
        return machine

    @cached_property
    def drawn(self) -> Array:
        """Where loops close as well as rounding allows, (nq,); AssemblyError: they do not."""
        closed = State(0.0, self.mechanism.assemble(), np.zeros(self.mechanism.model.nv))
        try:
            return self.mechanism.dynamics("interpreted").project(closed).q
        except SimulationError:  # at a singular configuration: as the assembly has found it
            return closed.q

    @cached_property
    def at(self) -> dict[str, float]:
        """Positions by name where it is drawn, in rad or m; of the root, of parts of it."""
        return self.mechanism.model.positions_by_name(self.drawn)

    def coupling_lost(self, coupling: Coupling, reason: str) -> None:
        """Note that the format has no place for a coupling."""
        self.lost(f"constraint {coupling.name}", reason, structural=True)

    def off(self, constraint: str) -> None:
        """Note that a constraint is left out since it does not hold at the start."""
        self.lost(f"constraint {constraint}", "is off at the start: not written")

    def lost_of_joints(self, what: str, has: Callable[[JointSpec], float]) -> None:
        """Note what joints of one freedom do not keep."""
        names = [joint.name for joint in self.joints if has(self.joint_extras(joint.name))]
        if names:
            self.lost(named("joint", names), what)

    def require_single_joints(self, program: str) -> None:
        """Refuse a tree with joints of several freedoms, or a root that moves in a plane."""
        if self.mechanism.spec.model.root == "planar":
            problem = f"a planar root has no counterpart in {program}; write it as joints of the"
            raise InputError(f"{problem} URDF", file=self.mechanism.spec.file, place="model.root")
        for joint in self.joints:
            if joint.type not in (*urdf.ONE_DOF, "fixed"):
                problem = f"a {joint.type} joint of the tree has no counterpart in {program}"
                problem += "; write it as joints of one freedom"
                raise InputError(problem, place=f"joint {joint.name}")

    def mimics(
        self, coupling: Coupling, leaders: Mapping[str, str]
    ) -> tuple[tuple[str, float], tuple[str, float]] | None:
        """The joint of a coupling of two that is to follow, preferably no motor's, and its leader.

        Both have their factors; None where each follows another one already.
        """
        driven = {joint for motor in self.motors for joint, _ in motor.joints}
        pairs = [coupling.joints, coupling.joints[::-1]] if len(coupling.joints) == 2 else []
        for pair in sorted(pairs, key=lambda pair: pair[0][0] in driven):
            follower, last = pair[0][0], pair[1][0]
            while last in leaders and last != follower:
                last = leaders[last]
            if follower not in leaders and last != follower:
                self.changed(f"constraint {coupling.name}", f"joint {follower} mimics {pair[1][0]}")
                return pair[0], pair[1]
        return None

    def joint_extras(self, joint: str) -> JointSpec:
        """What the mechanism file says of a joint."""
        return self.extras.get(joint, JointSpec())

    def motor_joints(self, program: str) -> Iterator[tuple[Motor, str]]:
        """The motors that drive one joint, with it; remarks about all that change."""
        changed = []
        for motor in self.motors:
            joint = motor.only_joint
            if not joint:
                self.lost(f"actuator {motor.name}", f"drives several joints, {program} one each")
                continue
            if motor.gear != 1.0:
                reason = f"is the effort of joint {joint}, {motor.gear:g} times its own"
                self.changed(f"actuator {motor.name}", reason)
            else:
                changed.append(motor.name)
            yield motor, joint
        if changed:
            self.changed(named("actuator", changed), f"{program} the efforts of their joints")


def pose_of(frame: FrameSpec) -> urdf.Pose:
    """Where a frame is in its link."""
    return urdf.Pose(np.array(frame.xyz), urdf.from_quaternion(frame.quaternion))


def moved(joint: urdf.Joint, position: float) -> urdf.Pose:
    """Where the child's frame is in the parent's, the joint at a position in rad or m."""
    if joint.type not in urdf.ONE_DOF or position == 0.0:
        return joint.pose
    if joint.type == "prismatic":
        return urdf.compose(joint.pose, urdf.Pose(position * joint.axis))
    return urdf.compose(joint.pose, urdf.Pose(rotation=urdf.about_axis(joint.axis, position)))
