# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Probable motors, inferred from a robot description."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from uk_dynamics.conversion.robot.yaml_layout import comment, identifier, short_entry
from uk_dynamics.model.urdf import ONE_DOF, ActuationTag, Joint, RobotDescription, actuation_tags


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
