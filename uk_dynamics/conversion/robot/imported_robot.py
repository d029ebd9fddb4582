# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A robot taken from another format, on its way to a URDF and a mechanism file."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from uk_dynamics.conversion.robot.yaml_layout import entry, flow, identifier, short_entry
from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.did_you_mean import some
from uk_dynamics.escaping import one_line
from uk_dynamics.model.urdf import WORLD, Array, Joint, JointType, Link, Pose, Shape, Visual

Data = dict[str, object]
_SHOWN = 4  # names in a remark of many
_WIDTH = 108  # of remarks
_IDENTITY = 1e-15  # of a rotation matrix: what is left of rounding


@dataclass(frozen=True)
class Remark:
    """Something that is not as it was."""

    subject: str  # name of the element, with its kind, such as ``joint screw``
    reason: str  # why it is left out, or what stands in its place
    lost: bool = True  # whether it is left out; otherwise it is there in another form
    # whether the machine itself is another one without it: rows or freedoms are missing
    structural: bool = False


def together(remarks: Sequence[Remark]) -> list[Remark]:
    """Remarks in which elements of a kind share one where their reason is the same."""
    alike: dict[tuple[str, str, bool, bool], list[str]] = {}
    for remark in remarks:
        kind, _, name = remark.subject.partition(" ")
        alike.setdefault((kind, remark.reason, remark.lost, remark.structural), []).append(name)
    return [
        Remark(named(kind, names, _SHOWN).strip(), reason, lost, structural)
        for (kind, reason, lost, structural), names in alike.items()
    ]


def remark_lines(title: str, remarks: Sequence[Remark]) -> Iterator[str]:
    """What was lost, and what is there in another form; long remarks are wrapped."""
    yield one_line(title)
    for lost, heading in ((True, "Not carried over:"), (False, "In another form:")):
        chosen = [remark for remark in remarks if remark.lost == lost]
        if chosen:
            yield heading
        for remark in chosen:
            said = one_line(f"- {remark.subject}: {remark.reason}")
            yield from textwrap.wrap(said, _WIDTH, subsequent_indent="  ", break_long_words=False)


def named(kind: str, names: Sequence[str], most: int = 1000) -> str:
    """One or several of a kind, as remarks name them."""
    ending = "es" if kind.endswith("sh") else "s"
    return f"{kind}{ending * (len(names) > 1)} {some(names, most)}"


class Remarks:
    """Notes what is not as it was."""

    remarks: list[Remark]

    def lost(self, subject: str, reason: str, *, structural: bool = False) -> None:
        """Note that something is left out."""
        self.remarks.append(Remark(subject, reason, structural=structural))

    def changed(self, subject: str, reason: str) -> None:
        """Note that something is there in another form."""
        self.remarks.append(Remark(subject, reason, lost=False))


@dataclass
class ImportedRobot(Remarks):
    """A tree of links, what closes its loops, and what could not be carried over."""

    name: str
    links: list[Link] = field(default_factory=list)  # the root first
    joints: list[Joint] = field(default_factory=list)
    visuals: list[Visual] = field(default_factory=list)  # shapes of the links
    collisions: list[Visual] = field(default_factory=list)  # those that contacts refer to
    # section ``joints`` of the mechanism file
    joint_data: dict[str, Data] = field(default_factory=dict)
    actuators: dict[str, Data] = field(default_factory=dict)  # section ``actuators``
    constraints: dict[str, Data] = field(default_factory=dict)  # section ``constraints``
    contacts: dict[str, Data] = field(default_factory=dict)  # section ``contacts``
    forces: dict[str, Data] = field(default_factory=dict)  # section ``forces``
    initial_guess: dict[str, float] = field(default_factory=dict)  # positions by name, in rad or m
    solver: dict[str, float] = field(default_factory=dict)  # section ``solver``
    gravity: Sequence[float] = (0.0, 0.0, -9.81)  # m/s², (3,)
    root: str = "fixed"  # how the first link stands in the world
    remarks: list[Remark] = field(default_factory=list)
    # actuators that are a guess, with the reason
    guesses: dict[str, str] = field(default_factory=dict)

    def add(self, kind: Literal["constraint", "contact", "force"], name: str, data: Data) -> None:
        """Add one of a kind under a name like the given one."""
        section: dict[str, Data] = getattr(self, f"{kind}s")
        section[self._named(name, section, kind)] = data
        surface = data.get("surface")
        if isinstance(surface, dict) and surface.get("type") == "height_field":
            reason = "a smooth surface, which goes on straight beyond its border"
            self.changed(f"heights of {name}", reason)

    def add_actuator(self, name: str, data: Data, guess: str = "") -> None:
        """Add a motor under a name like the given one."""
        chosen = self._named(name, self.actuators, "actuator")
        self.actuators[chosen] = data
        if guess:
            self.guesses[chosen] = guess

    def add_shape_link(self, name: str, link: str, pose: Pose, shape: Shape) -> str:
        """Add a link without mass, fixed on another one, for a shape that contacts refer to."""
        if link == WORLD and WORLD not in [one.name for one in self.links]:
            kind: JointType = "floating" if self.root == "floating" else "fixed"
            self.joints.insert(0, Joint("root", kind, WORLD, self.links[0].name))
            self.links.insert(0, Link(WORLD))
            self.root = "fixed"
        chosen = identifier(f"{name}_shape", [one.name for one in self.links])
        mount = identifier(f"{chosen}_mount", [one.name for one in self.joints])
        self.links.append(Link(chosen))
        self.joints.append(Joint(mount, "fixed", link, chosen, pose))
        self.collisions.append(Visual(chosen, Pose(), shape, None))
        return chosen

    def add_chain(self, joint: Joint, steps: Sequence[Joint], reason: str = "") -> None:
        """Add a joint of several freedoms as single ones in series, with massless links between."""
        parent, pose = joint.parent, joint.pose
        for number, step in enumerate(steps, start=1):
            last = number == len(steps)
            child = joint.child if last else f"{joint.name}_part_{number}"
            if not last:
                self.links.append(Link(child))
            self.joints.append(replace(step, parent=parent, child=child, pose=pose))
            parent, pose = child, Pose()
        names = ", ".join(step.name for step in steps)
        self.changed(f"joint {joint.name}", reason or f"{len(steps)} joints in series: {names}")

    def add_ball(self, joint: Joint) -> None:
        """Add a ball joint of the tree as three turns about x, y and z."""
        steps = [turn(f"{joint.name}_{name}", np.eye(3)[i]) for i, name in enumerate("xyz")]
        names = ", ".join(step.name for step in steps)
        lock = f"they lock where {steps[1].name} is at ±90°"
        self.add_chain(joint, steps, f"a ball joint, now three in series ({names}); {lock}")

    def place_root(self, name: str, pose: Pose, quaternion: Array) -> None:
        """Let a floating joint, or the floating root, begin at a pose."""
        values = dict(zip(("x", "y", "z"), pose.translation.tolist(), strict=True))
        values = {part: value for part, value in values.items() if value}
        if quaternion[:3].any():
            values |= dict(zip(("qx", "qy", "qz", "qw"), quaternion.tolist(), strict=True))
        for part, value in values.items():
            self.initial_guess[f"{name}.{part}"] = float(value)

    def _named(self, name: str, taken: dict[str, Data], kind: str) -> str:
        chosen = identifier(name, taken)
        if chosen != name and re.search(r"\S", name):
            self.changed(f"{kind} {name}", f"is called {chosen}: names become topics")
        return chosen


def turn(name: str, axis: Array, kind: JointType = "revolute") -> Joint:
    """A joint without limits, to be put into a chain."""
    return Joint(name, kind, "", "", axis=axis)


def moved_link(link: Link, pose: Pose) -> Link:
    """A body seen from another frame, in which its own frame has a pose."""
    turned = pose.rotation @ link.inertia @ pose.rotation.T
    return replace(
        link,
        center_of_mass=pose.translation + pose.rotation @ link.center_of_mass,
        inertia=0.5 * (turned + turned.T),
    )


def frame_data(link: str, pose: Pose) -> Data:
    """A frame as a mechanism file declares it."""
    data: Data = {"link": link}
    if np.any(pose.translation):
        data["xyz"] = [float(value) for value in pose.translation]
    if float(np.abs(pose.rotation - np.eye(3)).max()) > _IDENTITY:
        data["quaternion"] = [float(value) for value in to_quaternion(pose.rotation)]
    return data


def mechanism_text(robot: ImportedRobot, source: str, urdf: str) -> str:
    """The mechanism file."""
    return "\n".join(_lines(robot, source, urdf)) + "\n"


def _lines(robot: ImportedRobot, source: str, urdf: str) -> Iterator[str]:
    yield from (f"# {line}" for line in remark_lines(f"Imported from {source}.", robot.remarks))
    yield "schema: 1"
    yield "model:"
    yield f"  urdf: {flow(urdf)}"
    yield f"  gravity: {flow([float(value) for value in robot.gravity])}"
    if robot.root != "fixed":
        yield f"  root: {robot.root}"
    if robot.joint_data:
        yield "joints:"
        yield from (short_entry(name, data) for name, data in robot.joint_data.items())
    if robot.actuators:
        yield "actuators:"
        for name, data in robot.actuators.items():
            yield short_entry(name, data, remark=robot.guesses.get(name, ""))
    if robot.forces:
        yield "forces:"
        for name, data in robot.forces.items():
            yield from entry(name, data)
    if robot.initial_guess:
        yield "initial_guess:"
        yield from (short_entry(name, value) for name, value in robot.initial_guess.items())
    if robot.solver:
        yield f"solver: {flow(robot.solver)}"
    for section in ("constraints", "contacts"):
        if data_of := getattr(robot, section):
            yield f"{section}:"
            for name, data in data_of.items():
                yield from entry(name, data)
