# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a draft guesses of a tree: probable cuts, as constraints, and probable motors."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from uk_dynamics.constraints.kinds import registry
from uk_dynamics.conversion.robot.yaml_layout import comment, identifier, short_entry
from uk_dynamics.mechanism.analysis import MechanismReport
from uk_dynamics.model import (
    NEAR,
    Coincidence,
    RobotModel,
    coincidence,
    coincident_frames,
    loop_directions,
    machine_size,
    marker_links,
)
from uk_dynamics.model.urdf import (
    ONE_DOF,
    ActuationTag,
    Array,
    Joint,
    RobotDescription,
    actuation_tags,
)

_PARALLEL = 1e-6  # rad
_ALIGNED = 1e-9  # of a unit vector: its other components
# as people mark them, and as onshape-to-robot and Placo's robots do (closing_pin_1, l1_cl1_2)
_LOOP = r"(?:cl|closing|closure|loop|ball|rotoid)[0-9]*"
_ENDING = re.compile(rf"(?:(.+[_\-.0-9])[ABab]|((?:.*[_\-.])?{_LOOP}[_\-.](?:.*[_\-.])?)[12])")
_SAME = 1e-3  # rad: frames that a hinge or weld may join as they stand


@dataclass(frozen=True)
class CandidateCut:
    """A constraint that may close a loop."""

    name: str  # for the mechanism file
    coincidence: Coincidence
    data: dict[str, object]  # entry of the mechanism file
    reasons: tuple[str, ...]  # why this is guessed, a sentence each
    closed: bool  # whether the frames coincide; otherwise they are near each other
    spatial: bool = False  # whether it may also be a hinge or weld of the frames as they stand
    named: bool = False  # whether the names of two markers say that they belong together

    @property
    def likely(self) -> bool:
        """Whether to close it until told otherwise: one frame is there for nothing else."""
        return self.named or (self.closed and self.coincidence.marked)


def candidate_cuts(model: RobotModel, q: Array) -> tuple[CandidateCut, ...]:
    """Guess the loops of a tree from frames that coincide at a configuration, or nearly so.

    A marker whose name says what it belongs to meets other frames by chance.
    """
    alike = list(_named_alike(model, q))
    partner = {a: b for pair in alike for a, b in _both_ways(pair)}

    def meant(pair: Coincidence) -> bool:
        return all(partner.get(a, b) == b for a, b in _both_ways(pair))

    closed = [pair for pair in coincident_frames(model, q) if meant(pair)]
    known = {ends for pair in closed for ends in _both_ways(pair)}
    near = [
        pair
        for pair in coincident_frames(model, q, within=NEAR)
        if pair.marked and meant(pair) and (pair.parent, pair.child) not in known
    ]
    known |= {ends for pair in near for ends in _both_ways(pair)}
    alike = [pair for pair in alike if (pair.parent, pair.child) not in known]
    cuts: list[CandidateCut] = []
    for pair in (*closed, *near, *alike):
        name = identifier(_name(model, pair), [cut.name for cut in cuts])
        named = pair in alike or _stem(pair.parent) == _stem(pair.child) != ""
        cuts.append(replace(_cut(model, q, name, pair, pair in closed), named=named))
    return tuple(cuts)


def _both_ways(pair: Coincidence) -> tuple[tuple[str, str], tuple[str, str]]:
    return (pair.parent, pair.child), (pair.child, pair.parent)


def _stem(marker: str) -> str:
    """What ``pin_A`` and ``pin_B`` have in common, or ``closing_pin_1`` and ``_2``; else empty."""
    ending = _ENDING.fullmatch(marker)
    return ending.group(1) or ending.group(2) if ending else ""


def _named_alike(model: RobotModel, q: Array) -> Iterator[Coincidence]:
    """Markers whose names differ in their last letter only, as in ``pin_A`` and ``pin_B``."""
    workspace = model.workspace()
    workspace.update_positions(q)
    first: dict[str, str] = {}
    for name in marker_links(model):
        other = first.setdefault(_stem(name), name)
        if other != name and _stem(name):
            frames = model.frame_index(other), model.frame_index(name)
            yield coincidence(model, workspace, *frames, marked=True)


def _name(model: RobotModel, pair: Coincidence) -> str:
    """The link that marks the place, the lightest one."""
    mass = {link.name: link.mass for link in model.description.links}
    return min((pair.child, pair.parent), key=lambda link: mass[link])


def _cut(model: RobotModel, q: Array, name: str, pair: Coincidence, closed: bool) -> CandidateCut:
    data: dict[str, object] = {"type": "point"}
    if closed:
        reasons = [f"guess: {pair.parent} and {pair.child} are at one place here."]
    else:
        near = f"within {100 * NEAR:g} % of the machine's size, and one only marks a place"
        apart = f"{1e3 * pair.distance:.3g} mm apart here"
        apart += f", {near}" if pair.distance <= NEAR * machine_size(model, q) else ""
        apart += "; if they belong together, take this in."
        reasons = [f"guess: {pair.parent} and {pair.child} are {apart}"]
    if _stem(pair.parent) == _stem(pair.child) != "":
        reasons = [f"guess: {pair.parent} and {pair.child} belong together by their names."]
    workspace = model.workspace()
    workspace.update_positions(q)
    frames = model.frame_index(pair.parent), model.frame_index(pair.child)
    spatial = False
    loop = loop_directions(model, workspace, *frames)
    if loop.normal is not None and loop.planar(_PARALLEL):
        axes = _plane(workspace.rotation[frames[0]].T @ loop.normal)
        suffice = "one of the three rows is redundant, which does no harm"
        if axes:
            data, suffice = {"type": "frame", "axes": axes}, "its two directions suffice"
        reasons.append(f"All joints of this loop move in one plane: {suffice}.")
    elif pair.turned < _SAME:
        spatial = True
        reasons.append(
            "The frames are not turned against each other, so point (a ball joint), hinge or weld"
            " may be meant; or a universal joint, whose two arms only you know."
        )
    else:
        reasons.append("A ball joint: the frames are turned against each other.")
    data |= {"parent": {"link": pair.parent}, "child": {"link": pair.child}}
    return CandidateCut(name, pair, data, tuple(reasons), closed, spatial)


def _plane(normal: Array) -> Sequence[str]:
    """The two coordinate axes across a normal that is the third; empty where none is."""
    largest = int(np.argmax(np.abs(normal)))
    if np.delete(np.abs(normal), largest).max() > _ALIGNED:
        return ()
    return [axis for index, axis in enumerate("xyz") if index != largest]


_DEFAULT = "point"


def _types() -> dict[str, dict[str, object]]:
    """What to try, the loosest first: keys of a constraint by what the draft calls them."""
    kinds = [kind for kind in registry.kinds().values() if kind.cuts]
    kinds.sort(key=lambda kind: kind.removes if isinstance(kind.removes, int) else 0)
    return {name: {"type": kind.name, **keys} for kind in kinds for name, keys in kind.cuts.items()}


def choose_types(
    cuts: Sequence[CandidateCut],  # those to close; spatial ones as ball joints
    report: MechanismReport,
    motors: int,
    examine: Callable[[Sequence[CandidateCut]], MechanismReport | None],
) -> tuple[tuple[CandidateCut, ...], MechanismReport]:
    """Try all spatial cuts as each type; take the one that leaves as many freedoms as motors.

    They stay ball joints where no type does, or several do. What was found is said with each.
    """
    spatial = sum(cut.spatial for cut in cuts)
    if not spatial:
        return tuple(cuts), report
    found = {_DEFAULT: report}
    for name in _types():
        if name != _DEFAULT and (other := examine(_with(cuts, name))) is not None:
            found[name] = other
    matching = [name for name, facts in found.items() if motors and facts.mobility == motors]
    chosen = matching[0] if len(matching) == 1 else _DEFAULT
    reason = _reason({name: facts.mobility for name, facts in found.items()}, matching, motors)
    together = f" at all {spatial} cuts in space" if spatial > 1 else ""
    words = f"Mobility that is left here{together}: {reason}"
    result = (
        replace(cut, reasons=(*cut.reasons, words)) if cut.spatial else cut
        for cut in _with(cuts, chosen)
    )
    return tuple(result), found[chosen]


def _with(cuts: Sequence[CandidateCut], name: str) -> list[CandidateCut]:
    """The spatial ones as this type."""
    keys = _types()[name]
    return [replace(c, data=c.data | keys) if c.spatial else c for c in cuts]


def _reason(mobilities: dict[str, int], matching: Sequence[str], motors: int) -> str:
    left = ", ".join(
        f"{mobilities[name]} with {name}" if name in mobilities else f"{name} does not close"
        for name in _types()
    )
    if not motors:
        return f"{left}; no motors are known to compare it with."
    decided = f": {matching[0]} (guess)" if len(matching) == 1 else ", which does not decide"
    return f"{left}. There {'is 1 motor' if motors == 1 else f'are {motors} motors'}{decided}."


@dataclass(frozen=True)
class MotorGuess:
    """A joint that may have a motor."""

    joint: str
    effort_limit: float  # of its command where a tag declares one, in N m or N; else infinite
    why: str  # the evidence


def motor_guesses(description: RobotDescription) -> dict[str, MotorGuess]:
    """Guess the motors, by name: from tags, or else from limits that not all joints declare.

    URDF demands an effort limit of every joint with limits, so it says something only where other
    joints have none, or 0.
    """
    following = {mimic.joint for mimic in description.mimics}
    joints = {
        joint.name: joint
        for joint in description.joints
        if joint.type in ONE_DOF and joint.name not in following
    }
    found: dict[str, MotorGuess] = {}
    for tag in actuation_tags(description):
        if tag.joint in joints:
            name = identifier(tag.actuator or tag.joint, found)
            found[name] = MotorGuess(tag.joint, tag.effort_limit, _why(tag, joints[tag.joint]))
    strong = [joint for joint in joints.values() if math.isfinite(joint.effort_limit)]
    if not found and len(strong) < len(joints):
        for joint in strong:
            why = "guess: it has an effort limit, other joints have none"
            name = identifier(joint.name, found)
            found[name] = MotorGuess(joint.name, math.inf, why)
    return found


def motor_lines(motors: Mapping[str, MotorGuess], description: RobotDescription) -> Iterator[str]:
    """The actuators of a mechanism file; joints to choose from where none is guessed."""
    if motors:
        yield "actuators:"
        for name, motor in motors.items():
            data: dict[str, object] = {"joint": motor.joint}
            if math.isfinite(motor.effort_limit):
                data["effort_limit"] = motor.effort_limit
            yield short_entry(name, data, remark=motor.why)
        return
    yield from comment(
        "Neither <ros2_control> or <transmission> nor effort limits say which joints have motors."
        " Take in what is driven, and leave the others passive:"
    )
    yield "# actuators:"
    for joint in description.joints:
        if joint.type in ONE_DOF:
            yield short_entry(identifier(joint.name), {"joint": joint.name}, active=False)


def _why(tag: ActuationTag, joint: Joint) -> str:
    words = f"guess: <{tag.tag}> commands its {tag.command or 'joint'}"
    if tag.reduction != 1.0:
        words += f"; efforts are those at the joint, behind a reduction of {tag.reduction:g}"
    if not math.isfinite(min(joint.effort_limit, tag.effort_limit)):
        words += "; no effort limit is known"
    return words
